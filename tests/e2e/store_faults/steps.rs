//! The database is away when a step of a run ends: what has been called is recorded when it is back, and not called again.

use std::time::Duration;

use pleat_store::StoreConfig;
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::harness::{TestServer, database};

/// A writer gives up on a connection after ten seconds; this is for a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(90);

/// Lets nobody into the database, or everybody again.
async fn open(url: &str, open: bool) {
    let name = url.split('?').next().and_then(|path| path.rsplit('/').next()).unwrap();
    let mut connection = PgConnection::connect(&url.replace(&format!("/{name}?"), "/pleat?")).await.unwrap();
    let allow = format!("ALTER DATABASE {name} WITH ALLOW_CONNECTIONS {open}");
    sqlx::raw_sql(AssertSqlSafe(allow)).execute(&mut connection).await.unwrap();
    let end = format!("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{name}'");
    sqlx::raw_sql(AssertSqlSafe(end)).execute(&mut connection).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_step_that_ended_while_the_database_was_away_is_kept() {
    let url = database().await;
    let mut config = StoreConfig::new(url.as_str());
    // Longer than the database is away: the node stays in touch.
    config.lease = Duration::from_secs(120);
    let server = TestServer::start_on(config, |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let text = "name: two\nsteps: [{id: a, tool_name: probe, input_mapping: {do: 'literal:sleep', ms: 800}}, \
        {id: b, tool_name: probe, input_mapping: {do: 'literal:echo', value: 'literal:done'}}]";
    let (status, body) = define(&server, text).await;
    assert_eq!(status, 201, "{body:#}");
    let sent = json!({ "skill": "pipeline:two", "message": {} });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sent, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].as_str().unwrap().to_owned();
    let before = server.store.writer().commits();
    open(&url, false).await;
    // A record was refused and is tried again.
    let tried = async {
        while server.store.writer().commits() < before + 2 {
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    tokio::time::timeout(PATIENCE, tried).await.expect("the record is tried again");
    open(&url, true).await;
    let frames = tokio::time::timeout(PATIENCE, stream.all()).await.expect("the run ends");
    assert_eq!(frames.last().unwrap().data["result"]["status"]["state"], "completed", "{frames:#?}");
    let path = format!("/tenants/acme/tasks/{id}/trace");
    let (_, trace) = server.api(Method::GET, &path, &server.read, None).await;
    let steps: Vec<(&Value, &Value)> =
        trace["tasks"].as_array().unwrap().iter().skip(1).map(|task| (&task["step"], &task["state"])).collect();
    let completed = json!("completed");
    assert_eq!(steps, [(&json!("a#1"), &completed), (&json!("b#1"), &completed)], "{trace:#}");
    server.store.close().await;
}

async fn define(server: &TestServer, text: &str) -> (u16, Value) {
    let url = format!("{}/api/v1/tenants/acme/pipelines?activate=true", server.url);
    let request = server.client.post(url).bearer_auth(&server.deploy).header("content-type", "application/yaml");
    crate::harness::read(request.body(text.to_owned()).send().await.unwrap()).await
}

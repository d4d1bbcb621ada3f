//! A node that has another master key than its database does not start, and touches nothing.

use std::collections::BTreeMap;

use serde_json::json;
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::harness::TestServer;
use crate::harness::binary::{command, run};
use crate::harness::database;
use crate::harness::project::Project;
use pleat_engine::MasterKey;
use pleat_store::StoreConfig;

const WRONG: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Every row of every table, partitions, nodes and the history of the schema included.
async fn everything(url: &str) -> BTreeMap<String, Option<String>> {
    let mut outside = PgConnection::connect(url).await.unwrap();
    let tables: Vec<String> = sqlx::query_scalar("SELECT tablename::text FROM pg_tables WHERE schemaname = 'public'")
        .fetch_all(&mut outside)
        .await
        .unwrap();
    let mut all = BTreeMap::new();
    for table in tables {
        let query = format!("SELECT json_agg(t ORDER BY t::text)::text FROM \"{table}\" t");
        let rows = sqlx::query_scalar(AssertSqlSafe(query)).fetch_one(&mut outside).await.unwrap();
        all.insert(table, rows);
    }
    all
}

/// A database that no node uses, with a secret, a task of a node that is gone, and a migration that is still to come.
async fn left_behind(url: &str) {
    let server = TestServer::start_on(StoreConfig::new(url), |_| {}, |_| {}).await;
    server.engine.check_master_key().await.expect("the first start sets it");
    server.put("/secrets/API_KEY", "s3cret").await;
    // One that may not run again.
    server.deploy_probe().await;
    assert_eq!(server.http(&server.invoke, "probe", json!({ "do": "sleep", "ms": 1 })).await.0, 200);
    // The store alone: the sandbox is shared with other tests.
    server.store.close().await;
    let lost = "UPDATE tasks SET state = 1, lease_owner = '00000000-0000-0000-0000-000000000000';
                ALTER TABLE tasks DROP COLUMN guard;
                DELETE FROM _sqlx_migrations WHERE version = 37";
    sqlx::raw_sql(lost).execute(&mut PgConnection::connect(url).await.unwrap()).await.unwrap();
}

#[tokio::test]
async fn serve_with_another_master_key_refuses_to_start_and_touches_nothing() {
    let url = database().await;
    left_behind(&url).await;
    let before = everything(&url).await;
    let project = Project::new();
    let mut serve = command(&project.path, &["serve", "--listen", "127.0.0.1:0"]);
    let ran = run(serve.env("PLEAT_MASTER_KEY", WRONG).env("DATABASE_URL", &url)).await;
    let ran = ran.failed(2).says(&[
        "error: the master key is not the one that this database was set up with",
        "Nothing was changed",
        "hint: ",
        "PLEAT_MASTER_KEY",
    ]);
    assert!(!ran.stderr.contains(WRONG) && !ran.stderr.contains("panicked"), "{ran:?}");
    assert_eq!(everything(&url).await, before, "nothing was written");
    assert!(!project.data_dir().join("operator.key").exists());
    let _ = MasterKey::parse(WRONG).expect("it was a good key, only not this one's");

    // With the right one both are taken up: what was to come, and what was lost.
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.engine.check_master_key().await.expect("the right one still works");
    assert_eq!(server.task_in("failed").await["failure"]["reason"], "node_lost");
    assert!(everything(&url).await["_sqlx_migrations"].as_ref().unwrap().contains("\"version\":37,"));
}

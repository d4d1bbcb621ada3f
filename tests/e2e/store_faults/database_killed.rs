//! `kill -9` of Postgres under load.

use std::collections::BTreeMap;
use std::process::Command;
use std::sync::Arc;
use std::time::Duration;

use pleat_store::StoreConfig;
use pleat_store::embedded::{Database, EmbeddedConfig};
use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::harness::TestServer;

const CALLERS: usize = 12;
/// A database comes back within seconds; this is for a machine that is busy with other things.
const PATIENCE: Duration = Duration::from_secs(90);

/// What the callers have been told so far.
#[derive(Default, Clone)]
struct Told {
    /// Task ids with the value that was sent and answered.
    acknowledged: BTreeMap<String, u64>,
    /// Answers that were neither a result nor a request to come back.
    wrong: Vec<String>,
    turned_away: usize,
}

struct Load {
    told: watch::Receiver<Told>,
    stop: CancellationToken,
    callers: Vec<tokio::task::JoinHandle<()>>,
}

impl Load {
    fn start(server: &Arc<TestServer>) -> Self {
        let (sender, told) = watch::channel(Told::default());
        let (sender, stop) = (Arc::new(sender), CancellationToken::new());
        let callers = (0..CALLERS).map(|caller| {
            let (server, sender, stop) = (Arc::clone(server), Arc::clone(&sender), stop.clone());
            tokio::spawn(async move {
                for round in 0_u64.. {
                    if stop.is_cancelled() {
                        break;
                    }
                    call(&server, round * 100 + caller as u64, &sender).await;
                }
            })
        });
        Self { callers: callers.collect(), told, stop }
    }

    /// Until that many more calls have been acknowledged.
    async fn more(&mut self, count: usize) {
        let goal = self.told.borrow().acknowledged.len() + count;
        let reached = self.told.wait_for(|told| told.acknowledged.len() >= goal);
        tokio::time::timeout(PATIENCE, reached).await.expect("calls are served again").unwrap();
    }

    async fn end(self) -> Told {
        self.stop.cancel();
        for caller in self.callers {
            caller.await.unwrap();
        }
        self.told.borrow().clone()
    }
}

/// One call, blocking or streamed in turn, and what was said of it.
async fn call(server: &TestServer, value: u64, told: &watch::Sender<Told>) {
    let params = json!({ "skill": "probe", "message": { "do": "echo", "value": value } });
    let method = if value.is_multiple_of(2) { "tasks/send" } else { "tasks/sendSubscribe" };
    let key = if value.is_multiple_of(3) { server.invoke.as_str() } else { "" };
    let response = server.rpc_response(key, method, params).await;
    let status = response.status().as_u16();
    let retry = response.headers().contains_key("retry-after");
    // A stream that breaks off has still told the id, which counts.
    let text = response.text().await.unwrap_or_default();
    let id = text.split("\"id\":\"").nth(1).and_then(|rest| rest.split('"').next()).map(str::to_owned);
    told.send_modify(|told| match (status, id) {
        (200, Some(id)) => drop(told.acknowledged.insert(id, value)),
        (503, None) if retry => told.turned_away += 1,
        _ => told.wrong.push(format!("{method}: {status} {text}")),
    });
}

async fn postmaster(url: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let file: String =
        sqlx::query_scalar("SELECT pg_read_file('postmaster.pid')").fetch_one(&mut connection).await.unwrap();
    file.lines().next().unwrap().to_owned()
}

async fn some_backend(url: &str) -> String {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let backend =
        "SELECT pid FROM pg_stat_activity WHERE application_name = 'pleat' AND pid <> pg_backend_pid() LIMIT 1";
    let pid: i32 = sqlx::query_scalar(backend).fetch_one(&mut connection).await.unwrap();
    pid.to_string()
}

fn kill(pid: &str) {
    assert!(Command::new("kill").args(["-9", pid]).status().unwrap().success());
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_acknowledged_task_is_lost_when_postgres_is_killed() {
    let directory = tempfile::Builder::new().prefix("pleat-tests-").tempdir().unwrap();
    let config = EmbeddedConfig { data_dir: directory.path().to_owned(), database_url: None, durable: true };
    let mut database = Database::open(&config, &|_: &str| {}).await.unwrap();
    database.make_temporary().unwrap();
    let server = TestServer::start_on(StoreConfig::new(database.url()), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let server = Arc::new(server);
    let mut load = Load::start(&server);
    load.more(100).await;
    let first = postmaster(database.url()).await;
    kill(&first);
    load.more(100).await;
    assert_ne!(postmaster(database.url()).await, first, "another server was started");
    // A killed backend makes Postgres restart all the others.
    kill(&some_backend(database.url()).await);
    load.more(100).await;
    kill(&postmaster(database.url()).await);
    load.more(100).await;
    let told = load.end().await;
    assert!(told.wrong.is_empty(), "{} answers, the first: {}", told.wrong.len(), told.wrong[0]);
    assert!(told.acknowledged.len() >= 400);
    for (id, value) in &told.acknowledged {
        let (status, task) = server.api(Method::GET, &format!("/tenants/acme/tasks/{id}"), &server.read, None).await;
        assert_eq!((status, &task["input"]["value"]), (200, &Value::from(*value)), "{id} was acknowledged: {task}");
        assert!(matches!(task["state"].as_str(), Some("completed" | "failed")), "{id} is not final: {task}");
    }
    let (status, _) = server.http("", "probe", json!({ "do": "echo", "value": "after" })).await;
    assert_eq!(status, 200);
    server.store.close().await;
}

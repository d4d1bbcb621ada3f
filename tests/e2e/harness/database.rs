//! One Postgres per test process, one database per test.

use std::sync::atomic::{AtomicU32, Ordering};

use pleat_store::embedded::{Database, EmbeddedConfig};
use sqlx::{Connection, PgConnection};
use tokio::sync::OnceCell;

static SERVER: OnceCell<String> = OnceCell::const_new();
static COUNTER: AtomicU32 = AtomicU32::new(0);

/// The address of the shared server's maintenance database.
async fn postgres_url() -> &'static str {
    SERVER.get_or_init(start).await
}

/// A fresh, empty database.
pub async fn database() -> String {
    let server = postgres_url().await;
    let name = format!("test_{}_{}", std::process::id(), COUNTER.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(server).await.expect("the test server answers");
    let create = format!("CREATE DATABASE {name}");
    sqlx::raw_sql(sqlx::AssertSqlSafe(create)).execute(&mut connection).await.expect("a database per test");
    server.replace("/pleat?", &format!("/{name}?"))
}

/// On a thread of its own, because it outlives the test that happens to come first. It ends with the process.
async fn start() -> String {
    let (send, receive) = tokio::sync::oneshot::channel();
    std::thread::spawn(move || {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async move {
            let data_dir = tempfile::Builder::new().prefix("pleat-tests-").tempdir().expect("a directory").keep();
            let config = EmbeddedConfig { data_dir, database_url: None, durable: false };
            let mut database = Database::open(&config, &|_: &str| {}).await.expect("Postgres for the tests");
            database.make_temporary().expect("a watcher that takes it down");
            let _ = send.send(database.url().to_owned());
            std::future::pending::<()>().await;
        });
    });
    receive.await.expect("Postgres for the tests")
}

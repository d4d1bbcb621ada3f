//! A node that has another master key than its database does not start, and touches nothing.

use sqlx::{Connection, PgConnection};

use crate::harness::TestServer;
use crate::harness::binary::{command, run};
use crate::harness::database;
use crate::harness::project::Project;
use pleat_engine::MasterKey;
use pleat_store::StoreConfig;

const WRONG: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

/// Everything that a start could write, besides the node's own row.
async fn written(url: &str) -> Vec<i64> {
    let mut outside = PgConnection::connect(url).await.unwrap();
    let mut counts = Vec::new();
    for table in ["tenants", "api_keys", "functions", "secrets", "settings", "key_values", "tasks", "master_key_check"]
    {
        let query = format!("SELECT count(*) FROM {table}");
        counts.push(sqlx::query_scalar(sqlx::AssertSqlSafe(query)).fetch_one(&mut outside).await.unwrap());
    }
    counts
}

#[tokio::test]
async fn serve_with_another_master_key_refuses_to_start() {
    let url = database().await;
    let server = TestServer::start_on(StoreConfig::new(url.as_str()), |_| {}, |_| {}).await;
    server.engine.check_master_key().await.expect("the first start sets it");
    server.put("/secrets/API_KEY", "s3cret").await;
    let before = written(&url).await;
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
    assert_eq!(written(&url).await, before, "nothing was written");
    assert!(!project.data_dir().join("operator.key").exists());
    server.engine.check_master_key().await.expect("the right one still works");
    let _ = MasterKey::parse(WRONG).expect("it was a good key, only not this one's");
}

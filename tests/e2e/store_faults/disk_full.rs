//! A database whose disk is full: writes are refused cleanly, and taken again when there is room.
//!
//! The disk is a small file system in memory, which only root can make; elsewhere there is nothing to test with.

use std::path::{Path, PathBuf};
use std::process::Command;

use pleat_store::StoreConfig;
use pleat_store::embedded::{Database, EmbeddedConfig};
use serde_json::{Value, json};
use sqlx::{AssertSqlSafe, Connection, PgConnection};

use crate::harness::TestServer;

/// A file system of its own, as long as this lives.
struct Disk(PathBuf);

impl Disk {
    fn make(megabytes: u32) -> Option<Self> {
        let path = tempfile::Builder::new().prefix("pleat-disk-").tempdir().unwrap().keep();
        let disk = Self(path);
        disk.mount(&format!("size={megabytes}m")).then_some(disk)
    }

    fn grow(&self, megabytes: u32) {
        assert!(self.mount(&format!("remount,size={megabytes}m")));
    }

    fn mount(&self, options: &str) -> bool {
        let mut mount = Command::new("mount");
        mount.args(["-t", "tmpfs", "-o", options, "tmpfs"]).arg(&self.0);
        mount.stderr(std::process::Stdio::null()).status().is_ok_and(|status| status.success())
    }

    fn belongs_to_owner_of(&self, other: &Path) {
        let chown = Command::new("chown").arg(format!("--reference={}", other.display())).arg(&self.0).status();
        assert!(chown.unwrap().success());
    }
}

impl Drop for Disk {
    fn drop(&mut self) {
        // Lazily: Postgres may still have files open.
        let _ = Command::new("umount").arg("-l").arg(&self.0).stderr(std::process::Stdio::null()).status();
        let _ = std::fs::remove_dir(&self.0);
    }
}

/// All tables of the database that are made from now on are on the disk; its log of writes is not.
async fn put_tables_on(disk: &Disk, url: &str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    let data: String = sqlx::query_scalar("SHOW data_directory").fetch_one(&mut connection).await.unwrap();
    disk.belongs_to_owner_of(Path::new(&data));
    let space = format!("CREATE TABLESPACE small LOCATION '{}'", disk.0.display());
    sqlx::raw_sql(AssertSqlSafe(space)).execute(&mut connection).await.unwrap();
    let default = "ALTER DATABASE pleat SET default_tablespace = 'small'";
    sqlx::raw_sql(default).execute(&mut connection).await.unwrap();
}

/// Text that cannot be made smaller.
fn bulk() -> String {
    (0..8_000).map(|_| format!("{:x}", rand::random::<u128>())).collect()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_full_disk_refuses_writes_cleanly_and_service_resumes_when_there_is_room() {
    let Some(disk) = Disk::make(16) else {
        println!("not tried: only root can make a small disk");
        return;
    };
    let directory = tempfile::Builder::new().prefix("pleat-tests-").tempdir().unwrap();
    let config = EmbeddedConfig { data_dir: directory.path().to_owned(), database_url: None, durable: false };
    let mut database = Database::open(&config, &|_: &str| {}).await.unwrap();
    database.make_temporary().unwrap();
    put_tables_on(&disk, database.url()).await;
    let server = TestServer::start_on(StoreConfig::new(database.url()), |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let sleep = json!({ "skill": "probe", "message": { "do": "emit", "chunks": 40, "delay_ms": 100 } });
    let mut running = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sleep, None).await;
    let first = running.next().await.unwrap();
    let (taken, refusal) = fill(&server).await;
    assert_eq!(refusal["error"]["code"], "unavailable", "{refusal}");
    assert!(taken.len() > 3, "some were taken before: {}", taken.len());
    // What is there can be read, and what is refused is not half there.
    for id in &taken {
        assert_eq!(server.task(id).await["state"], "completed");
    }
    disk.grow(256);
    let (status, answer) = server.http("", "probe", json!({ "do": "echo", "value": bulk() })).await;
    assert_eq!(status, 200, "{answer}");
    let frames = tokio::time::timeout(std::time::Duration::from_secs(60), running.all()).await.expect("it ends");
    assert_eq!(frames.last().unwrap().data["result"]["status"]["state"], "completed", "{first:?} {frames:?}");
    server.store.close().await;
}

/// Calls until one is turned away: the tasks that were taken, and the refusal.
async fn fill(server: &TestServer) -> (Vec<String>, Value) {
    let mut taken = Vec::new();
    loop {
        let body = json!({ "do": "echo", "value": bulk() }).to_string();
        let response = server.post("/probe", "application/json", body).send().await.unwrap();
        let task = response.headers().get("pleat-task-id").map(|id| id.to_str().unwrap().to_owned());
        match (response.status().as_u16(), task) {
            (200, Some(task)) => taken.push(task),
            (503, None) => {
                assert!(response.headers().contains_key("retry-after"));
                return (taken, response.json().await.unwrap());
            }
            other => panic!("{other:?}"),
        }
        assert!(taken.len() < 200, "the disk is never full");
    }
}

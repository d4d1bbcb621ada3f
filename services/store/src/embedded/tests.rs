//! The private cluster against real programs: what it survives. Needs Postgres programs, npm or pip on the machine.

use std::path::{Path, PathBuf};
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tempfile::TempDir;
use tokio::time::{Instant, sleep};

use super::{Database, EmbeddedConfig, EmbeddedError};

/// Long enough for a loaded machine; every wait ends as soon as what it waits for is there.
const PATIENCE: Duration = Duration::from_secs(60);

/// A data directory whose server does not outlive a failing test.
struct Place(TempDir);

impl Place {
    fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    fn home(&self) -> PathBuf {
        self.0.path().join(".pleat/postgres")
    }

    fn config(&self, durable: bool) -> EmbeddedConfig {
        EmbeddedConfig { data_dir: self.0.path().join(".pleat"), database_url: None, durable }
    }

    /// The process id in the server's lock file, if there is a server.
    fn server(&self) -> Option<String> {
        let text = std::fs::read_to_string(self.home().join("data/postmaster.pid")).ok()?;
        text.lines().next().map(str::to_owned)
    }

    fn kill(&self) {
        let status = std::process::Command::new("kill").args(["-KILL", &self.server().unwrap()]).status();
        assert!(status.unwrap().success());
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        if let Some(process) = self.server() {
            let _ = std::process::Command::new("kill").args(["-QUIT", &process]).status();
        }
    }
}

async fn open(config: &EmbeddedConfig) -> Database {
    Database::open(config, &|line| println!("{line}")).await.unwrap()
}

async fn execute(url: &str, statement: &'static str) {
    let mut connection = PgConnection::connect(url).await.unwrap();
    sqlx::query(statement).execute(&mut connection).await.unwrap();
}

async fn count(url: &str) -> Result<i64, sqlx::Error> {
    let mut connection = PgConnection::connect(url).await?;
    sqlx::query_scalar("SELECT count(*) FROM kept").fetch_one(&mut connection).await
}

async fn gone(path: &Path) -> bool {
    let deadline = Instant::now() + PATIENCE;
    while path.exists() && Instant::now() < deadline {
        sleep(Duration::from_millis(20)).await;
    }
    !path.exists()
}

#[tokio::test]
async fn data_survives_a_killed_server_and_a_stop_leaves_nothing_running() {
    let place = Place::new();
    let config = place.config(true);
    let database = open(&config).await;
    assert!(database.description().contains("new cluster"), "{}", database.description());
    execute(database.url(), "CREATE TABLE kept AS SELECT generate_series(1, 1000)").await;
    drop(database);
    place.kill();

    let database = open(&config).await;
    assert_eq!(count(database.url()).await.unwrap(), 1000);
    assert!(database.description().contains("existing cluster"), "{}", database.description());
    let url = database.url().to_owned();
    database.stop().await.unwrap();
    assert!(count(&url).await.is_err());
    assert_eq!(place.server(), None);
}

#[tokio::test]
async fn a_server_left_by_a_killed_pleat_is_used_again() {
    let place = Place::new();
    let config = place.config(false);
    drop(open(&config).await);
    let before = place.server();

    let database = open(&config).await;
    assert_eq!(place.server(), before);
    assert!(database.description().contains("still running"), "{}", database.description());
    database.stop().await.unwrap();
}

#[tokio::test]
async fn a_server_that_dies_under_a_running_pleat_comes_back() {
    let place = Place::new();
    let database = open(&place.config(false)).await;
    execute(database.url(), "CREATE TABLE kept AS SELECT generate_series(1, 7)").await;
    let before = place.server();
    place.kill();

    let deadline = Instant::now() + PATIENCE;
    while place.server() == before || count(database.url()).await.is_err() {
        assert!(Instant::now() < deadline, "the server did not come back");
        sleep(Duration::from_millis(20)).await;
    }
    assert_eq!(count(database.url()).await.unwrap(), 7);
    database.stop().await.unwrap();
}

#[tokio::test]
async fn a_temporary_cluster_ends_with_its_handle() {
    let place = Place::new();
    let mut database = open(&place.config(false)).await;
    database.make_temporary().unwrap();
    let url = database.url().to_owned();
    drop(database);
    assert!(gone(&place.home()).await);
    assert!(PgConnection::connect(&url).await.is_err());
}

#[tokio::test]
async fn a_database_by_address_is_used_as_given_and_left_running() {
    let place = Place::new();
    let private = open(&place.config(false)).await;
    let given = EmbeddedConfig { database_url: Some(private.url().to_owned()), ..place.config(true) };
    let database = open(&given).await;
    assert_eq!(database.url(), private.url());
    assert!(database.description().contains("DATABASE_URL"), "{}", database.description());
    database.stop().await.unwrap();
    execute(private.url(), "SELECT 1").await;
    private.stop().await.unwrap();

    let wrong = EmbeddedConfig { database_url: Some("http://user:secret@host".to_owned()), ..given };
    let error = Database::open(&wrong, &|_| {}).await.unwrap_err();
    assert!(!format!("{error} {error:?}").contains("secret"));
}

#[tokio::test]
async fn a_cluster_that_was_half_made_is_made_again() {
    let place = Place::new();
    let partial = place.home().join("data.partial");
    std::fs::create_dir_all(&partial).unwrap();
    std::fs::write(partial.join("PG_VERSION"), "15\n").unwrap();
    let database = open(&place.config(false)).await;
    assert!(!partial.exists());
    database.stop().await.unwrap();
}

#[tokio::test]
async fn a_cluster_of_a_version_that_is_not_here_is_refused_and_kept() {
    let place = Place::new();
    let config = place.config(false);
    open(&config).await.stop().await.unwrap();
    let version = place.home().join("data/PG_VERSION");
    std::fs::write(&version, "99\n").unwrap();
    let error = Database::open(&config, &|_| {}).await.unwrap_err();
    assert!(matches!(error, EmbeddedError::NoMatch { major: 99, .. }), "{error}");
    assert!(version.exists());
}

#[tokio::test]
async fn a_long_data_directory_gets_a_short_socket() {
    let place = Place::new();
    let data_dir = place.0.path().join("x".repeat(90));
    let mut database = open(&EmbeddedConfig { data_dir, database_url: None, durable: false }).await;
    database.make_temporary().unwrap();
    execute(database.url(), "SELECT 1").await;
    database.stop().await.unwrap();
}

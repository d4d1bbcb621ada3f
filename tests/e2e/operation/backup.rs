//! Backup and restore as docs/operation.md has them: the documented logins, the programs of the server itself, and a
//! platform that goes on where it was.

use std::path::PathBuf;
use std::process::{Command, Output};

use pleat_store::embedded::{Database, EmbeddedConfig};
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};

use super::serving::Serving;
use crate::harness::project::Project;
use crate::harness::{read, root};

/// A database server of its own, because roles belong to a whole one.
struct Postgres {
    _database: Database,
    superuser: String,
    programs: PathBuf,
    _directory: tempfile::TempDir,
}

impl Postgres {
    /// With the login and the database that docs/deploy.md says.
    async fn start() -> Self {
        let directory = tempfile::Builder::new().prefix("pleat-backup-").tempdir().unwrap();
        let config = EmbeddedConfig { data_dir: directory.path().to_owned(), database_url: None, durable: false };
        let mut database = Database::open(&config, &|_: &str| {}).await.unwrap();
        database.make_temporary().unwrap();
        let superuser = database.url().to_owned();
        let mut connection = PgConnection::connect(&superuser).await.unwrap();
        let programs: String = sqlx::query_scalar("SELECT setting FROM pg_config WHERE name = 'BINDIR'")
            .fetch_one(&mut connection)
            .await
            .unwrap();
        for statement in ["CREATE ROLE agents LOGIN CREATEROLE", "CREATE DATABASE agents OWNER agents"] {
            sqlx::query(statement).execute(&mut connection).await.unwrap();
        }
        Self { _database: database, superuser, programs: programs.into(), _directory: directory }
    }

    fn url(&self, login: &str) -> String {
        let (_, options) = self.superuser.split_once('?').unwrap();
        let others: Vec<&str> = options.split('&').filter(|option| !option.starts_with("user=")).collect();
        format!("postgres:///agents?{}&user={login}", others.join("&"))
    }

    fn run(&self, program: &str, arguments: &[&str]) -> Output {
        Command::new(self.programs.join(program)).args(arguments).output().unwrap()
    }

    fn must_run(&self, program: &str, arguments: &[&str]) {
        let ran = self.run(program, arguments);
        assert!(ran.status.success(), "{program} {arguments:?}: {}", String::from_utf8_lossy(&ran.stderr));
    }
}

/// The commands of a page that begin with this word, which must not have been changed without this test.
fn documented(command: &str) -> Vec<String> {
    let page = std::fs::read_to_string(root().join("docs/operation.md")).unwrap();
    page.lines().filter(|line| line.starts_with(command)).map(str::to_owned).collect()
}

async fn call(node: &Serving, key: &str) -> (u16, Value) {
    let request = reqwest::Client::new().post(format!("{}/t/acme/probe", node.url)).bearer_auth(key);
    read(request.json(&json!({ "do": "echo", "value": "kept" })).send().await.unwrap()).await
}

#[tokio::test]
async fn a_dump_is_restored_elsewhere_with_everything_in_it() {
    let (first, second) = (Postgres::start().await, Postgres::start().await);
    let node = Serving::start_in(Project::with_code().await, &first.url("agents"), "", &[]).await;
    let key = node.with_probe().await;
    assert_eq!(call(&node, &key).await, (200, json!("kept")));
    let at = ["--url", &node.url, "--key", &key];
    let task = node.server.project.pleat(&[&["tasks", "list", "--json"][..], &at[..]].concat()).await.ok().json();
    let task = task["tasks"][0]["id"].as_str().unwrap().to_owned();

    let dump = tempfile::NamedTempFile::new().unwrap();
    let dump = dump.path().to_str().unwrap();
    let refused = first.run("pg_dump", &["--format", "custom", "--file", dump, &first.url("agents")]);
    assert!(!refused.status.success(), "no dump that leaves rows out");
    let role = "CREATE ROLE pleat_backup LOGIN BYPASSRLS PASSWORD '…' IN ROLE pg_read_all_data";
    assert_eq!(documented("psql \"$SUPERUSER_URL\""), [format!("psql \"$SUPERUSER_URL\" -c \"{role}\"")]);
    first.must_run("psql", &[&first.superuser, "-c", role]);
    assert_eq!(documented("pg_dump"), ["pg_dump --format custom --file pleat.dump \"$BACKUP_URL\""]);
    first.must_run("pg_dump", &["--format", "custom", "--file", dump, &first.url("pleat_backup")]);

    let target = second.url("agents");
    let roles = ["CREATE ROLE pleat_app", "CREATE ROLE pleat_writer", "GRANT pleat_app, pleat_writer TO CURRENT_USER"];
    let lines = roles.map(|role| format!(" -c \"{role}\"")).concat();
    assert_eq!(documented("psql \"$DATABASE_URL\""), [format!("psql \"$DATABASE_URL\"{lines}")]);
    second.must_run("psql", &[&[target.as_str()][..], &roles.map(|role| ["-c", role]).concat()[..]].concat());
    let restore = "pg_restore --exit-on-error --no-owner --dbname \"$DATABASE_URL\" pleat.dump";
    assert_eq!(documented("pg_restore"), [restore]);
    second.must_run("pg_restore", &["--exit-on-error", "--no-owner", "--dbname", &target, dump]);

    let node = Serving::start_in(Project::with_code().await, &target, "", &[]).await;
    assert_eq!(call(&node, &key).await, (200, json!("kept")), "the key, the function and its source are there");
    let at = ["--url", &node.url, "--key", &key];
    let shown =
        node.server.project.pleat(&[&["tasks", "get", &task, "--json"][..], &at[..]].concat()).await.ok().json();
    assert_eq!(shown["state"], "completed", "{shown}");
}

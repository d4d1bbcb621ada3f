//! `pleat serve`: what it insists on, and one node on a database of its operator's.

use std::os::unix::fs::PermissionsExt;

use serde_json::Value;
use sqlx::{Connection, PgConnection};

use crate::harness::binary::{command, run};
use crate::harness::dev::Server;
use crate::harness::project::Project;
use crate::harness::{database, root};

const MASTER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";

#[tokio::test]
async fn serve_refuses_to_start_without_a_good_master_key() {
    let project = Project::new();
    let without = project.pleat(&["serve", "--listen", "127.0.0.1:0"]).await;
    without.failed(2).says(&["error: PLEAT_MASTER_KEY is not set", "hint: ", "openssl rand -hex 32"]);
    for bad in ["secret-but-short", &MASTER[1..], &format!("{MASTER}00"), &MASTER.replace('0', "x")] {
        let mut serve = command(&project.path, &["serve", "--listen", "127.0.0.1:0"]);
        let ran = run(serve.env("PLEAT_MASTER_KEY", bad)).await;
        let ran = ran.failed(2).says(&["error: PLEAT_MASTER_KEY is not 64 hex digits", "hint: "]);
        assert!(!ran.stderr.contains(bad), "the key is in the message: {ran:?}");
    }
    assert!(!project.data_dir().exists(), "nothing was made");
}

#[tokio::test]
async fn a_database_that_does_not_answer_is_named_without_its_password() {
    let project = Project::new();
    let mut serve = command(&project.path, &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("PLEAT_MASTER_KEY", MASTER).env("DATABASE_URL", "postgres://pleat:hunter2@127.0.0.1:1/agents");
    let ran = run(&mut serve).await.failed(1).says(&["127.0.0.1/agents", "does not answer", "DATABASE_URL"]);
    assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
}

#[tokio::test]
async fn a_database_of_a_newer_pleat_is_refused_and_left_as_it_is() {
    let database = database().await;
    let (server, _) = node(&database).await;
    server.signal("TERM");
    server.ended().await;
    let mut connection = PgConnection::connect(&database).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (999999, 'from the future', true, '', 0)";
    sqlx::raw_sql(newer).execute(&mut connection).await.unwrap();
    let project = Project::new();
    let mut serve = command(&project.path, &["serve", "--listen", "127.0.0.1:0"]);
    serve.env("PLEAT_MASTER_KEY", MASTER).env("DATABASE_URL", &database);
    run(&mut serve)
        .await
        .failed(1)
        .says(&["set up by a newer pleat (migration 999999)", "run that version or a later one"]);
    let nodes: i64 = sqlx::query_scalar("SELECT count(*) FROM nodes").fetch_one(&mut connection).await.unwrap();
    assert_eq!(nodes, 0, "it has not joined");
}

/// A node on this database, and where it listens.
async fn node(database: &str) -> (Server, String) {
    let project = Project::new();
    let arguments = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
    let mut server = Server::spawn(project, &arguments, &[("PLEAT_MASTER_KEY", MASTER), ("DATABASE_URL", database)]);
    let listening = |project: &Project| {
        let log = project.log();
        let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
        records.find_map(|record| Some(record.get("address")?.as_str()?.to_owned()))
    };
    let address = server.until("line that says where it listens", listening).await;
    (server, format!("http://{address}"))
}

#[tokio::test]
async fn serve_on_a_given_database_takes_tenants_with_the_key_it_wrote() {
    let database = database().await;
    let (server, url) = node(&database).await;
    let project = &server.project;
    let path = project.data_dir().join("operator.key");
    assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    let operator = std::fs::read_to_string(&path).unwrap().trim().to_owned();
    let tenant = project.pleat(&["tenants", "create", "acme", "--json", "--url", &url, "--key", &operator]).await.ok();
    let key = tenant.json()["adminKey"].as_str().unwrap().to_owned();
    let fixture = root().join("tests/fixtures/minimal.wat").display().to_string();
    let deployed = project.pleat(&["deploy", &fixture, "--url", &url, "--key", &key]).await.ok();
    assert_eq!(deployed.stdout, format!("minimal v1 {url}/t/acme/minimal\n"));
    let called = project.pleat(&["call", "minimal", "--url", &url, "--key", &key]).await.ok();
    assert_eq!(called.stdout, "ok\n");
    let nobody = project.pleat(&["call", "minimal", "--url", &url, "--tenant", "acme"]).await;
    nobody.failed(1).says(&["valid key"]);
    assert_eq!(project.postgres(), None, "it has no database of its own");
    let log = project.log();
    assert!(
        log.lines().all(|line| serde_json::from_str::<Value>(line).is_ok_and(|record| record.is_object())),
        "{log}"
    );
    assert!(!log.contains(&operator) && !log.contains(&key) && !log.contains(MASTER), "a secret is in the log");

    // A second node of the installation knows the same operator, tenants and functions.
    let (second, second_url) = node(&database).await;
    let same = std::fs::read_to_string(second.project.data_dir().join("operator.key")).unwrap();
    assert_eq!(same.trim(), operator);
    let list = second.project.pleat(&["list", "--json", "--url", &second_url, "--key", &key]).await.ok().json();
    assert_eq!(list["functions"][0]["name"], "minimal");
    for server in [server, second] {
        server.signal("TERM");
        let (project, status, _) = server.ended().await;
        assert_eq!(status.code(), Some(0), "{}", project.log());
    }
}

//! `pleat doctor`: what it finds, what it advises, and its exit code.

use serde_json::Value;
use sqlx::{Connection, PgConnection};

use super::serving::{MASTER, Serving};
use crate::harness::binary::{command, run};
use crate::harness::database;
use crate::harness::dev::Dev;
use crate::harness::project::Project;

/// Verdict and words of a check.
fn check<'a>(found: &'a Value, name: &str) -> (&'a str, String) {
    let checks = found["checks"].as_array().unwrap();
    let one = checks.iter().find(|one| one["check"] == name).unwrap_or_else(|| panic!("no {name}: {found}"));
    (one["verdict"].as_str().unwrap(), format!("{} {}", one["found"], one["fix"]))
}

async fn doctor(project: &Project, arguments: &[&str], environment: &[(&str, &str)]) -> (i32, Value, String) {
    let mut all = vec!["doctor", "--json"];
    all.extend(arguments);
    let ran = run(command(&project.path, &all).envs(environment.iter().copied())).await;
    (ran.code, serde_json::from_str(&ran.stdout).unwrap_or_else(|error| panic!("{error}: {ran:?}")), ran.stderr)
}

#[tokio::test]
async fn a_machine_that_is_fit_gets_a_clean_bill() {
    let (project, database) = (Project::new(), database().await);
    let environment = [("DATABASE_URL", database.as_str()), ("PLEAT_MASTER_KEY", MASTER)];
    let (code, found, talk) = doctor(&project, &["--listen", "127.0.0.1:0"], &environment).await;
    assert_eq!(code, 0, "{found} {talk}");
    for name in [
        "configuration",
        "master key",
        "database",
        "database rights",
        "schema",
        "clock",
        "data directory",
        "address space",
        "port",
        "sandbox",
    ] {
        assert_eq!(check(&found, name).0, "ok", "{name}: {found}");
    }
    assert!(check(&found, "schema").1.contains("not set up yet"), "{found}");
    for name in ["disk", "swap", "open files", "compiler sandbox"] {
        assert_ne!(check(&found, name).0, "fail", "{name}: {found}");
    }
    let left: Vec<_> = std::fs::read_dir(project.data_dir()).unwrap().collect();
    assert!(left.is_empty(), "it leaves nothing behind: {left:?}");
    let text = project.pleat(&["doctor", "--listen", "127.0.0.1:0"]).await.ok();
    assert!(text.stdout.contains("CHECK") && text.stdout.contains("fix: set PLEAT_MASTER_KEY"), "{text:?}");
}

#[tokio::test]
async fn what_is_wrong_fails_with_advice_and_without_secrets() {
    let project = Project::new();
    std::fs::write(project.path.join("file"), "in the way").unwrap();
    let environment =
        [("DATABASE_URL", "postgres://pleat:hunter2@127.0.0.1:1/agents"), ("PLEAT_MASTER_KEY", "too short")];
    let (code, found, talk) = doctor(&project, &["--data-dir", "file/data"], &environment).await;
    assert_eq!(code, 1, "{found} {talk}");
    for (name, word) in [("database", "DATABASE_URL"), ("master key", "openssl rand"), ("data directory", "own it")] {
        let (verdict, words) = check(&found, name);
        assert_eq!(verdict, "fail", "{name}: {found}");
        assert!(words.contains(word), "{name}: {words}");
    }
    assert!(!found.to_string().contains("hunter2") && !talk.contains("hunter2"), "{found} {talk}");
    assert!(talk.contains("checks failed") && talk.contains("pleat doctor"), "{talk}");
}

#[tokio::test]
async fn a_private_database_that_runs_is_looked_at_too() {
    let dev = Dev::start(Project::started_before().await).await;
    let project = dev.project();
    let (code, found, talk) = doctor(project, &["--listen", "127.0.0.1:0"], &[]).await;
    assert_eq!(code, 0, "{found} {talk}");
    assert_eq!((check(&found, "schema").0, check(&found, "master key of the database").0), ("ok", "ok"), "{found}");
    let wrong = "0f".repeat(32);
    let (code, found, _) = doctor(project, &["--listen", "127.0.0.1:0"], &[("PLEAT_MASTER_KEY", &wrong)]).await;
    assert_eq!((code, check(&found, "master key of the database").0), (1, "fail"), "{found}");
}

#[tokio::test]
async fn a_running_node_and_a_newer_schema_are_noticed() {
    let database = database().await;
    let node = Serving::start_in(Project::new(), &database, "", &[]).await;
    let address = node.url.trim_start_matches("http://");
    let environment = [("DATABASE_URL", database.as_str()), ("PLEAT_MASTER_KEY", MASTER)];
    let project = Project::new();
    let (code, found, _) = doctor(&project, &["--listen", address], &environment).await;
    assert_eq!((code, check(&found, "port").0, check(&found, "schema").0), (0, "warn", "ok"), "{found}");
    assert_eq!(check(&found, "master key of the database").0, "ok", "{found}");
    let other = [("DATABASE_URL", database.as_str()), ("PLEAT_MASTER_KEY", &"0f".repeat(32))];
    let (code, found, _) = doctor(&project, &["--listen", "127.0.0.1:0"], &other).await;
    assert_eq!((code, check(&found, "master key of the database").0), (1, "fail"), "{found}");
    let mut connection = PgConnection::connect(&database).await.unwrap();
    let newer = "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
                 VALUES (999999, 'from the future', true, '', 0)";
    sqlx::query(newer).execute(&mut connection).await.unwrap();
    let (code, found, _) = doctor(&project, &["--listen", "127.0.0.1:0"], &environment).await;
    assert_eq!((code, check(&found, "schema").0), (1, "fail"), "{found}");
}

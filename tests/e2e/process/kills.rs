//! `kill -9`, of pleat and of Postgres: what was answered is kept, and it works again.

use std::time::{Duration, Instant};

use serde_json::Value;

use crate::harness::binary::Background;
use crate::harness::dev::Dev;
use crate::harness::project::{Project, is_alive, signal};

const PATIENCE: Duration = Duration::from_secs(60);

/// The task of a call that was answered.
async fn answered(dev: &Dev, value: &str) -> String {
    let input = format!(r#"{{"do":"echo","value":"{value}"}}"#);
    let task = dev.pleat(&["call", "probe", &input, "--via", "a2a", "--json"]).await.ok().json();
    assert_eq!(task["status"]["state"], "completed", "{task}");
    task["id"].as_str().unwrap().to_owned()
}

async fn value_of(dev: &Dev, task: &str) -> Value {
    let task = dev.pleat(&["tasks", "get", task, "--json"]).await.ok().json();
    assert_eq!(task["state"], "completed", "{task}");
    task["artifacts"][0]["value"].clone()
}

#[tokio::test]
async fn what_was_answered_before_a_kill_is_there_after_the_next_start() {
    let dev = Dev::start(Project::started_before().await).await;
    let task = answered(&dev, "before").await;
    let postgres = dev.project().postgres().expect("its database runs");
    let process = dev.server.id();
    let (project, status, _) = dev.stop("KILL").await;
    assert_eq!(status.code(), None);
    assert!(is_alive(postgres), "the database outlives a killed server");
    assert!(project.dev_file().exists());
    let ran = project.pleat(&["list"]).await;
    ran.failed(1).says(&["`pleat dev` is not running", &format!("process {process}"), "hint: start it again"]);

    let dev = Dev::start(project).await;
    println!("ready in {:?} after a kill", dev.ready_in);
    assert!(dev.project().log().contains("still running"), "{}", dev.project().log());
    assert_eq!(dev.project().postgres(), Some(postgres));
    assert_eq!(value_of(&dev, &task).await, "before");
    answered(&dev, "after").await;
    let (project, status, _) = dev.stop("TERM").await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    assert!(!is_alive(postgres), "a database that was found running is stopped too");
}

#[tokio::test]
async fn a_call_that_ran_when_the_server_was_killed_ends_as_lost() {
    let dev = Dev::start(Project::started_before().await).await;
    let call = ["call", "probe", r#"{"do":"sleep","ms":25000}"#, "--via", "a2a", "--stream", "--json"];
    let mut sleeping = Background::start(&mut dev.command(&call));
    let first: Value = serde_json::from_str(&sleeping.line().await).unwrap();
    let task = first["id"].as_str().unwrap().to_owned();
    let (project, _, _) = dev.stop("KILL").await;
    assert_ne!(sleeping.ended().await, 0);
    let dev = Dev::start(project).await;
    let watched = dev.pleat(&["tasks", "watch", &task]).await;
    watched.failed(3).says(&["`probe` failed", "node_lost", &task]);
}

#[tokio::test]
async fn a_killed_postgres_is_brought_back_with_everything_in_it() {
    let dev = Dev::start(Project::started_before().await).await;
    let task = answered(&dev, "before").await;
    let postgres = dev.project().postgres().expect("its database runs");
    signal(postgres, "KILL");
    let started = Instant::now();
    loop {
        let ran = dev.pleat(&["call", "probe", r#"{"do":"echo","value":"after"}"#]).await;
        let back = dev.project().postgres().is_some_and(|process| process != postgres);
        if ran.code == 0 && back {
            assert_eq!(ran.stdout, "after\n");
            break;
        }
        assert!(started.elapsed() < PATIENCE, "{ran:?}\n{}", dev.project().log());
    }
    println!("back {:?} after a kill of Postgres", started.elapsed());
    assert_eq!(value_of(&dev, &task).await, "before");
    let (project, status, _) = dev.stop("TERM").await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    assert_eq!(project.postgres(), None);
}

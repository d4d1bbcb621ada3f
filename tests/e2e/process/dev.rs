//! Starting and stopping `pleat dev`.

use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt;
use std::time::Duration;

use serde_json::Value;

use crate::harness::binary::{Background, command, run};
use crate::harness::dev::{Dev, FirstStart, Server};
use crate::harness::project::{Project, is_alive};

/// Generous: the machine may be busy. It is measured elsewhere.
const SOON: Duration = Duration::from_secs(20);

#[tokio::test]
async fn a_first_start_writes_dev_json_and_says_where_everything_is() {
    let first = FirstStart::get().await;
    println!("first start: ready in {:?}, stopped in {:?}", first.ready_in, first.stopped_in);
    let text = |name: &str| first.file[name].as_str().unwrap_or_else(|| panic!("{name}")).to_owned();
    assert_eq!(first.mode, 0o600);
    assert_eq!(first.file["pid"], first.process);
    assert_eq!(text("tenant"), "demo");
    assert!(text("url").starts_with("http://127.0.0.1:"));
    assert_eq!(text("tenant_url"), format!("{}/t/demo", text("url")));
    for key in ["operator_key", "admin_key", "deploy_key", "invoke_key"] {
        assert!(text(key).starts_with("plt_"), "{key}");
        assert!(!first.greeting.contains(&text(key)), "{key} is on the screen");
        assert!(!first.project.log().contains(&text(key)), "{key} is in the log");
    }
    assert_eq!(first.file.as_object().unwrap().len(), 8);
    let tenant = text("tenant_url");
    let data_dir = first.project.data_dir().display().to_string();
    for word in [&format!("{tenant}/.well-known/agent-card.json"), &format!("{tenant}/hello"), &data_dir, "curl -s "] {
        assert!(first.greeting.contains(word), "`{word}` is missing:\n{}", first.greeting);
    }
    assert!(first.project.log().contains("first start"), "{}", first.project.log());
}

#[tokio::test]
async fn the_printed_addresses_answer_and_the_printed_curl_lines_work_when_pasted() {
    let dev = Dev::shared().await;
    let greeting =
        FirstStart::get().await.greeting.replace(FirstStart::get().await.file["url"].as_str().unwrap(), dev.url());
    let answers: Vec<Value> = pasted(&greeting).await;
    assert_eq!(answers[0]["result"]["status"]["state"], "completed", "{answers:?}");
    assert!(answers[1].is_string() || answers[1].get("error").is_none(), "{answers:?}");
    for place in ["agent card", "HTTP", "control API"] {
        let line = greeting.lines().find(|line| line.trim_start().starts_with(place)).expect(place);
        let url = line.split(' ').rfind(|word| word.contains("http://")).unwrap().trim_end_matches(')');
        let answer = reqwest::get(url).await.unwrap();
        assert_eq!(answer.status(), 200, "{url}");
        assert!(answer.json::<Value>().await.unwrap().is_object(), "{url}");
    }
}

/// What the curl lines of a greeting answer, each run by a shell as it stands there.
async fn pasted(greeting: &str) -> Vec<Value> {
    let mut answers = Vec::new();
    for line in greeting.replace("\\\n", " ").lines().filter(|line| line.trim_start().starts_with("curl")) {
        let ran = tokio::process::Command::new("/bin/sh").args(["-c", line]).output().await.unwrap();
        assert!(ran.status.success(), "{line}");
        answers.push(serde_json::from_slice(&ran.stdout).unwrap_or_else(|error| panic!("{line}: {error}")));
    }
    assert_eq!(answers.len(), 2, "{greeting}");
    answers
}

#[tokio::test]
async fn a_terminated_server_exits_with_0_and_takes_its_database_with_it() {
    let first = FirstStart::get().await;
    assert_eq!(first.status.code(), Some(0), "{}", first.project.log());
    assert!(!first.project.dev_file().exists());
    for name in ["TERM", "INT"] {
        let dev = Dev::start(Project::started_before().await).await;
        let postgres = dev.project().postgres().expect("its database runs");
        let (project, status, took) = dev.stop(name).await;
        println!("SIG{name}: stopped in {took:?}");
        assert_eq!(status.code(), Some(0), "{}", project.log());
        assert!(took < SOON, "{took:?}");
        assert!(!project.dev_file().exists());
        assert!(!is_alive(postgres));
        assert_eq!(project.postgres(), None);
    }
}

#[tokio::test]
async fn a_call_that_sleeps_does_not_hold_up_the_end_and_is_told() {
    let dev = Dev::start(Project::started_before().await).await;
    let call = ["call", "probe", r#"{"do":"sleep","ms":25000}"#, "--via", "a2a", "--stream", "--json"];
    let mut sleeping = Background::start(&mut dev.command(&call));
    sleeping.line().await;
    let (project, status, took) = dev.stop("TERM").await;
    println!("stopped in {took:?} with a call running");
    assert_eq!(status.code(), Some(0), "{}", project.log());
    assert!(took < SOON, "{took:?}");
    assert_ne!(sleeping.ended().await, 0);
}

#[tokio::test]
async fn a_signal_during_the_start_leaves_nothing_behind() {
    let mut server = Server::spawn_dev(Project::started_before().await);
    server.until("Postgres", Project::postgres).await;
    server.signal("TERM");
    let (project, status, _) = server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    assert_eq!(project.postgres(), None, "{}", project.log());
    assert!(!project.dev_file().exists());
}

#[tokio::test]
async fn an_interrupted_first_start_is_finished_by_the_next() {
    let mut server = Server::spawn_dev(Project::new());
    server.until("first example", |project| project.log().contains("skill.id=").then_some(())).await;
    server.signal("TERM");
    let (project, status, _) = server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    assert_eq!(project.postgres(), None);
    let dev = Dev::start(project).await;
    let list = dev.pleat(&["list", "--json"]).await.ok().json();
    let names: Vec<&str> = list["functions"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["countdown", "hello", "weather-lookup"]);
}

#[tokio::test]
async fn the_demo_tenant_has_a_pipeline_and_a_guardrail() {
    let dev = Dev::start(Project::started_before().await).await;
    let welcome = dev.pleat(&["call", "pipeline:welcome", r#"{"name":"Ada","city":"Oslo"}"#]).await.ok().stdout;
    let welcome: serde_json::Value = serde_json::from_str(&welcome).unwrap();
    assert_eq!(welcome, serde_json::json!({ "greeting": "Hello, Ada!", "weather": "snow" }));
    let redacted = dev.pleat(&["call", "hello", r#"{"name":"jane.doe@example.com"}"#]).await.ok();
    assert!(redacted.stdout.contains("[EMAIL_1]"), "{redacted:?}");
    dev.pleat(&["guard", "rm", "--skill", "hello"]).await.ok();
    let dev = Dev::start(dev.stop("TERM").await.0).await;
    let plain = dev.pleat(&["call", "hello", r#"{"name":"jane.doe@example.com"}"#]).await.ok();
    assert!(plain.stdout.contains("jane.doe@example.com"), "what was taken away stays away: {plain:?}");
}

#[tokio::test]
async fn what_was_done_to_the_examples_stays_done() {
    let dev = Dev::start(Project::started_before().await).await;
    let fixture = crate::harness::root().join("tests/fixtures/minimal.wat").display().to_string();
    dev.pleat(&["deploy", &fixture, "--name", "hello"]).await.ok();
    dev.pleat(&["delete", "countdown"]).await.ok();
    let dev = Dev::start(dev.stop("TERM").await.0).await;
    assert_eq!(dev.pleat(&["call", "hello"]).await.ok().stdout, "ok\n");
    dev.pleat(&["call", "countdown"]).await.failed(1).says(&["unknown skill `countdown`"]);
}

#[tokio::test]
async fn a_start_after_the_demo_tenant_was_deleted_says_so_and_leaves_nothing_running() {
    let dev = Dev::start(Project::started_before().await).await;
    dev.pleat(&["tenants", "delete", "demo", "--yes"]).await.ok();
    let (project, status, _) = dev.stop("TERM").await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    let again = project.pleat(&["dev", "--listen", "127.0.0.1:0"]).await.failed(2);
    again.says(&["error: the tenant `demo`", "was deleted", "hint: ", "--data-dir"]);
    assert_eq!(project.postgres(), None);
    assert!(!project.dev_file().exists());
}

#[tokio::test]
async fn a_second_start_has_the_same_keys_functions_and_tasks() {
    let first = FirstStart::get().await;
    let dev = Dev::start(Project::started_before().await).await;
    println!("second start: ready in {:?}", dev.ready_in);
    assert!(dev.ready_in < SOON, "{:?}", dev.ready_in);
    for key in ["operator_key", "admin_key", "deploy_key", "invoke_key"] {
        assert_eq!(dev.file[key], first.file[key], "{key}");
    }
    let names = dev.pleat(&["list", "--json"]).await.ok().json();
    let names: Vec<&str> = names["functions"].as_array().unwrap().iter().filter_map(|it| it["name"].as_str()).collect();
    assert_eq!(names, ["countdown", "hello", "probe", "weather-lookup"]);
    let task = dev.pleat(&["tasks", "get", first.task["id"].as_str().unwrap(), "--json"]).await.ok().json();
    assert_eq!(task["state"], "completed");
    assert_eq!(task["artifacts"][0]["value"], serde_json::json!([1, "two"]));
    dev.pleat(&["call", "hello", r#"{"name":"Ada"}"#]).await.ok();
    assert!(!dev.project().log().contains("first start"), "{}", dev.project().log());
}

#[tokio::test]
async fn a_second_server_on_the_same_directory_is_refused_and_the_first_is_unharmed() {
    let dev = Dev::start(Project::started_before().await).await;
    let before = std::fs::read(dev.project().dev_file()).unwrap();
    let second = dev.pleat(&["dev", "--listen", "127.0.0.1:0"]).await;
    second.failed(2).says(&["another `pleat dev` is using", ".pleat`", "hint: ", "--data-dir"]);
    assert_eq!(std::fs::read(dev.project().dev_file()).unwrap(), before);
    dev.pleat(&["list"]).await.ok();
}

#[tokio::test]
async fn a_port_in_use_is_said_and_no_database_is_left_running() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let project = Project::started_before().await;
    let ran = project.pleat(&["dev", "--listen", &address]).await;
    ran.failed(1).says(&[&format!("error: cannot listen on {address}"), "in use"]);
    assert_eq!(project.postgres(), None);
    assert!(!project.dev_file().exists());
}

#[tokio::test]
async fn a_directory_that_cannot_be_made_is_said() {
    let project = Project::new();
    std::fs::write(project.path.join("file"), "").unwrap();
    let ran = run(&mut command(&project.path, &["dev", "--listen", "127.0.0.1:0", "--data-dir", "file/data"])).await;
    ran.failed(1).says(&["error: cannot make the data directory `file/data`"]);
}

#[tokio::test]
async fn the_keys_of_a_server_are_readable_by_its_owner_only() {
    let dev = Dev::shared().await;
    for name in ["dev.json", "master.key"] {
        let mode = std::fs::metadata(dev.project().data_dir().join(name)).unwrap().permissions().mode();
        assert_eq!(mode & 0o077, 0, "{name}: {mode:o}");
    }
}

#[tokio::test]
async fn each_key_of_dev_json_opens_what_it_is_for_and_no_more() {
    let dev = Dev::shared().await;
    let try_all = async |key: &str| {
        let key = dev.key(key);
        let mut open = Vec::new();
        for command in
            [&["tenants", "list"][..], &["keys", "list"], &["list"], &["call", "probe", r#"{"do":"counter"}"#]]
        {
            let arguments: Vec<&str> = command.iter().copied().chain(["--tenant", "demo", "--key", key]).collect();
            open.extend((dev.pleat(&arguments).await.code == 0).then_some(command[0]));
        }
        open
    };
    assert_eq!(try_all("operator_key").await, ["tenants"]);
    assert_eq!(try_all("admin_key").await, ["keys", "list", "call"]);
    assert_eq!(try_all("deploy_key").await, ["list", "call"]);
    assert_eq!(try_all("invoke_key").await, ["call"]);
}

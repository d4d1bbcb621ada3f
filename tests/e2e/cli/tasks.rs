//! `pleat tasks`: list, get, watch, cancel.

use serde_json::{Value, json};

use crate::cli::Tenant;
use crate::harness::binary::Background;

const SLEEP: &str = r#"{"do":"sleep","ms":25000}"#;

#[tokio::test]
async fn a_running_task_is_listed_cancelled_and_told_as_such() {
    let tenant = Tenant::with_probe("tasks-cancel").await;
    let call = ["call", "probe", SLEEP, "--via", "a2a", "--stream", "--json"];
    let mut calling = Background::start(&mut tenant.command(&call));
    let first: Value = serde_json::from_str(&calling.line().await).unwrap();
    let task = first["id"].as_str().unwrap();
    let mut watching = Background::start(&mut tenant.command(&["tasks", "watch", task, "--json"]));
    watching.line().await;
    let working = tenant.pleat(&["tasks", "list", "--state", "working", "--json"]).await.ok().json();
    assert_eq!(working["tasks"][0]["id"], task);

    let canceled = tenant.pleat(&["tasks", "cancel", task]).await.ok();
    assert_eq!(canceled.stdout, format!("{task} canceled\n"));
    assert_eq!(calling.ended().await, 3);
    assert_eq!(watching.ended().await, 3);
    let got = tenant.pleat(&["tasks", "get", task, "--json"]).await.ok().json();
    assert_eq!(got["state"], "canceled");
    let again = tenant.pleat(&["tasks", "cancel", task]).await.failed(1);
    again.says(&["the task is already canceled and cannot be canceled"]);
    tenant.pleat(&["tasks", "watch", task]).await.failed(3).says(&["`probe` was canceled"]);
}

#[tokio::test]
async fn a_finished_task_is_shown_whole_and_watched_from_its_beginning() {
    let tenant = Tenant::with_probe("tasks-get").await;
    let task = tenant.task(r#"{"do":"emit","chunks":2,"delay_ms":20}"#).await;
    let shown = tenant.pleat(&["tasks", "get", &task]).await.ok().stdout;
    for word in
        [&task, "probe v1", "completed", "over a2a", "\ninput\n", "\"do\": \"emit\"", "\nartifact probe-result\n  done"]
    {
        assert!(shown.contains(word), "`{word}` is missing:\n{shown}");
    }
    let watched = tenant.pleat(&["tasks", "watch", &task]).await.ok();
    assert_eq!(watched.stdout, "chunk 1chunk 2\ndone\n");
    watched.says(&["working\n", "progress 2 of 2\n", "completed\n"]);
    let rows = tenant.pleat(&["tasks", "watch", &task, "--json"]).await.ok().rows();
    let numbers: Vec<u64> = rows.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_list_is_filtered_and_goes_on_where_it_ended() {
    let tenant = Tenant::with_probe("tasks-list").await;
    let empty = tenant.pleat(&["tasks", "list"]).await.ok().says(&["no tasks; they are kept for a day"]);
    assert_eq!(empty.stdout, "");
    let mut made = Vec::new();
    for number in 0..3 {
        made.push(tenant.task(&format!(r#"{{"do":"echo","value":{number}}}"#)).await);
    }
    let failed = tenant.task(r#"{"do":"fail","code":"x","message":"y"}"#).await;
    let ids = |page: &Value| -> Vec<String> {
        page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
    };
    let first = tenant.pleat(&["tasks", "list", "-n", "3", "--json"]).await.ok().json();
    assert_eq!(ids(&first), [&failed, &made[2], &made[1]].map(Clone::clone));
    let cursor = first["nextCursor"].as_str().unwrap();
    let rest = tenant.pleat(&["tasks", "list", "-n", "3", "--cursor", cursor, "--json"]).await.ok().json();
    assert_eq!(ids(&rest), [made[0].clone()]);
    assert_eq!(rest["nextCursor"], Value::Null);
    let only = tenant.pleat(&["tasks", "list", "--state", "failed", "--skill", "probe", "--json"]).await.ok().json();
    assert_eq!(ids(&only), std::slice::from_ref(&failed));
    let table = tenant.pleat(&["tasks", "list", "-n", "2"]).await.ok().says(&["there are more: --cursor "]).stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("ID ") && lines[1].starts_with(&failed) && lines[1].contains("failed"), "{table}");
}

#[tokio::test]
async fn a_conversation_is_listed_with_all_its_tasks() {
    let tenant = Tenant::with_probe("tasks-context").await;
    let send = async |context: Option<&Value>| {
        let params = json!({ "sessionId": context, "skill": "probe", "message": { "do": "echo", "value": 1 } });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": params });
        let request = reqwest::Client::new().post(tenant.url("/_a2a/")).bearer_auth(&tenant.key).json(&body);
        let answer: Value = request.send().await.unwrap().json().await.unwrap();
        answer["result"].clone()
    };
    let first = send(None).await;
    let context = &first["contextId"];
    let second = send(Some(context)).await;
    send(None).await;
    let list = ["tasks", "list", "--context", context.as_str().unwrap(), "--json"];
    let page = tenant.pleat(&list).await.ok().json();
    let ids: Vec<&Value> = page["tasks"].as_array().unwrap().iter().map(|task| &task["id"]).collect();
    assert_eq!(ids, [&second["id"], &first["id"]]);
}

#[tokio::test]
async fn an_unknown_task_is_not_found_by_any_command() {
    let tenant = Tenant::with_probe("tasks-unknown").await;
    let other = Tenant::with_probe("tasks-unknown-other").await;
    let theirs = other.task(r#"{"do":"echo","value":1}"#).await;
    for task in ["task_01935b0e5f7a7c3e8a1d2b3c4d5e6f70", &theirs] {
        for command in ["get", "watch", "cancel"] {
            let ran = tenant.pleat(&["tasks", command, task]).await.failed(1);
            assert!(ran.stderr.starts_with("error: task not found\n"), "{ran:?}");
        }
    }
    assert_eq!(other.pleat(&["tasks", "get", &theirs, "--json"]).await.ok().json()["state"], "completed");
}

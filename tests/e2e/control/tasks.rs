//! The owner's view of the tenant's tasks: list, filter, page, look, follow, stop.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::{refused, saying};
use crate::harness::{Stream, TestServer};

const TASKS: &str = "/tenants/acme/tasks";

async fn send(server: &TestServer, key: &str, input: Value) -> String {
    let (_, answer) = server.rpc_as(key, "tasks/send", json!({ "skill": "probe", "message": input })).await;
    answer["result"]["id"].as_str().unwrap_or_else(|| panic!("{answer}")).to_owned()
}

fn ids(page: &Value) -> Vec<String> {
    page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

async fn started(server: &TestServer) -> (String, Stream) {
    let sleep = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 25_000 } });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sleep, None).await;
    let first = stream.next().await.expect("a first event");
    (first.data["result"]["id"].as_str().unwrap().to_owned(), stream)
}

#[tokio::test]
async fn a_task_is_shown_with_everything_that_is_kept_of_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let id = send(&server, &server.invoke, json!({ "do": "echo", "value": { "a": [1, null] } })).await;
    let task = server.get(&format!("{TASKS}/{id}")).await;
    let (_, who) = server.api(Method::GET, "/whoami", &server.invoke, None).await;
    assert_eq!(task["caller"], format!("key:{}", who["key"].as_str().unwrap()));
    let redacted = insta::dynamic_redaction(|value, _| if value.is_nil() { "null" } else { "[set]" });
    insta::assert_json_snapshot!(task, {
        ".id" => redacted, ".contextId" => "[set]", ".caller" => "[set]", ".cpuUs" => "[set]", ".wallUs" => "[set]",
        ".createdAt" => "[set]", ".updatedAt" => "[set]"
    }, @r#"
    {
      "id": "[set]",
      "skill": "probe",
      "version": 1,
      "state": "completed",
      "contextId": "[set]",
      "parentTaskId": null,
      "caller": "[set]",
      "door": "a2a/0.1",
      "alias": null,
      "attempt": 1,
      "turn": 1,
      "input": {
        "do": "echo",
        "value": {
          "a": [
            1,
            null
          ]
        }
      },
      "artifacts": [
        {
          "name": "probe-result",
          "value": {
            "a": [
              1,
              null
            ]
          }
        }
      ],
      "failure": null,
      "ask": null,
      "history": [],
      "cpuUs": "[set]",
      "wallUs": "[set]",
      "createdAt": "[set]",
      "updatedAt": "[set]"
    }
    "#);
}

#[tokio::test]
async fn the_list_shows_all_callers_tasks_and_each_filter_narrows_it() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server.deploy("minimal.wat", saying("ok"), "&name=small&visibility=public").await;
    let done = send(&server, &server.invoke, json!({ "do": "echo", "value": 1 })).await;
    let nobodys = send(&server, "", json!({ "do": "echo", "value": 2 })).await;
    let failed = send(&server, "", json!({ "do": "fail", "code": "x", "message": "y" })).await;
    let waiting = send(&server, &server.invoke, json!({ "do": "need_input", "prompt": "?" })).await;
    let call = json!({ "skill": "small", "message": {}, "sessionId": "talk-1" });
    let (_, small) = server.rpc_as(&server.invoke, "tasks/send", call).await;
    let small = small["result"]["id"].as_str().unwrap().to_owned();
    let list = async |query: &str| ids(&server.get(&format!("{TASKS}{query}")).await);
    assert_eq!(
        list("").await,
        [small.as_str(), waiting.as_str(), failed.as_str(), nobodys.as_str(), done.as_str()],
        "the latest change first"
    );
    assert_eq!(list("?skill=small").await, [small.as_str()]);
    assert_eq!(list("?state=failed").await, [failed.as_str()]);
    assert_eq!(list("?state=input-required").await, [waiting.as_str()]);
    assert_eq!(list("?state=completed&skill=probe").await, [nobodys.as_str(), done.as_str()]);
    assert_eq!(list("?context=talk-1").await, [small.as_str()]);
    let own = done.replace("task_", "ctx_");
    assert_eq!(list(&format!("?context={own}")).await, [done.as_str()]);
    assert!(list("?context=talk-2").await.is_empty());
    assert!(list("?skill=nothing").await.is_empty());
}

#[tokio::test]
async fn pages_follow_one_another_without_gap_or_repeat() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let mut made = BTreeSet::new();
    for value in 0..7 {
        made.insert(send(&server, "", json!({ "do": "echo", "value": value })).await);
    }
    let (mut seen, mut query) = (Vec::new(), "?limit=3".to_owned());
    let mut sizes = Vec::new();
    loop {
        let page = server.get(&format!("{TASKS}{query}")).await;
        sizes.push(ids(&page).len());
        seen.extend(ids(&page));
        // What comes in between two pages is newer than all of them.
        send(&server, "", json!({ "do": "echo", "value": "later" })).await;
        match page["nextCursor"].as_str() {
            Some(cursor) => query = format!("?limit=3&cursor={cursor}"),
            None => break,
        }
    }
    assert_eq!(sizes, [3, 3, 1]);
    assert_eq!(seen.len(), 7);
    assert_eq!(seen.into_iter().collect::<BTreeSet<_>>(), made);
}

#[tokio::test]
async fn a_task_can_be_stopped_by_who_deploys_and_only_once() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let (id, stream) = started(&server).await;
    let path = format!("{TASKS}/{id}/cancel");
    let (status, task) = server.api(Method::POST, &path, &server.deploy, None).await;
    assert_eq!((status, &task["state"], &task["id"]), (200, &json!("canceled"), &json!(id)), "{task}");
    let frames = stream.all().await;
    assert_eq!(frames.last().unwrap().data["result"]["status"]["state"], "canceled", "{frames:?}");
    let again = server.refusal(Method::POST, &path, &server.deploy, None).await;
    assert_eq!(again, refused(409, "not_cancelable"));
    let done = send(&server, "", json!({ "do": "echo", "value": 1 })).await;
    let late = server.refusal(Method::POST, &format!("{TASKS}/{done}/cancel"), &server.deploy, None).await;
    assert_eq!(late, refused(409, "not_cancelable"));
    let waiting = send(&server, &server.invoke, json!({ "do": "need_auth", "prompt": "?" })).await;
    let path = format!("{TASKS}/{waiting}/cancel");
    let (status, task) = server.api(Method::POST, &path, &server.admin, None).await;
    assert_eq!((status, &task["state"]), (200, &json!("canceled")), "{task}");
}

#[tokio::test]
async fn events_are_numbered_and_resume_behind_the_last_seen() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let emit = json!({ "do": "emit", "chunks": 3, "delay_ms": 60 });
    let id = send(&server, &server.invoke, emit).await;
    let events = async |last: Option<u32>| {
        let url = format!("{}/api/v1{TASKS}/{id}/events", server.url);
        let mut request = server.client.get(url).bearer_auth(&server.read);
        if let Some(last) = last {
            request = request.header("last-event-id", last.to_string());
        }
        let stream = Stream::of(request.send().await.unwrap());
        assert_eq!((stream.status, stream.content_type.as_str()), (200, "text/event-stream"));
        stream.all().await
    };
    let all = events(None).await;
    let numbers: Vec<_> = all.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(numbers, (1..=u32::try_from(all.len()).unwrap()).collect::<Vec<_>>());
    assert!(all.len() >= 3, "{all:?}");
    for seen in 0..=all.len() {
        assert_eq!(events(Some(u32::try_from(seen).unwrap())).await, all[seen..], "after {seen}");
    }
}

#[tokio::test]
async fn events_of_a_task_that_runs_come_as_they_happen() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let (id, _caller) = started(&server).await;
    let url = format!("{}/api/v1{TASKS}/{id}/events", server.url);
    let mut stream = Stream::of(server.client.get(url).bearer_auth(&server.read).send().await.unwrap());
    assert_eq!(stream.next().await.expect("it runs").id, Some(1));
    server.api(Method::POST, &format!("{TASKS}/{id}/cancel"), &server.deploy, None).await;
    let rest = stream.all().await;
    assert_eq!(rest.last().and_then(|frame| frame.id), Some(2), "{rest:?}");
}

//! Lists of tasks: whose they are, in which order, and page by page.

use reqwest::Method;
use serde_json::{Value, json};

use super::{ask, probe, started};
use crate::harness::{TestServer, Tongue};

fn ids(page: &Value) -> Vec<String> {
    page["tasks"].as_array().unwrap().iter().map(|task| task["id"].as_str().unwrap().to_owned()).collect()
}

async fn made(server: &TestServer, key: &str, count: u32) -> Vec<String> {
    let mut ids = Vec::new();
    for value in 0..count {
        let params = probe(Tongue::V1, json!({ "do": "echo", "value": value }));
        ids.push(Tongue::V1.send(server, key, params).await.id());
    }
    ids.reverse();
    ids
}

async fn another_key(server: &TestServer, scopes: Value) -> String {
    let wish = json!({ "scopes": scopes, "label": "other" });
    let (status, key) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    assert_eq!(status, 201, "{key}");
    key["key"].as_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_caller_sees_its_own_and_a_reader_all() {
    let server = started().await;
    let other = another_key(&server, json!(["invoke"])).await;
    let reader = another_key(&server, json!(["invoke", "read"])).await;
    let mine = made(&server, &server.invoke, 2).await;
    let theirs = made(&server, &other, 1).await;
    let nobodys = made(&server, "", 1).await;
    for tongue in Tongue::ALL {
        let list = async |key: &str| tongue.list(&server, key, json!({})).await;
        let own = list(&server.invoke).await;
        assert_eq!(ids(own.result()), mine, "{tongue:?}");
        assert_eq!((&own.result()["totalSize"], &own.result()["pageSize"]), (&json!(2), &json!(50)));
        assert_eq!(own.result()["nextPageToken"], "");
        assert_eq!(ids(list(&other).await.result()), theirs, "{tongue:?}");
        let all = [nobodys.clone(), theirs.clone(), mine.clone()].concat();
        assert_eq!(ids(list(&reader).await.result()), all, "{tongue:?}");
        let nobody = list("").await;
        assert_eq!((ids(nobody.result()), &nobody.result()["totalSize"]), (vec![], &json!(0)), "{tongue:?}");
        assert_eq!(list(&server.read).await.status, 403, "{tongue:?}: a key that may not invoke has no door here");
    }
}

#[tokio::test]
async fn each_filter_narrows_the_list() {
    let server = started().await;
    let key = server.invoke.clone();
    let done = made(&server, &key, 1).await;
    let between = pleat_domain::timestamp::format(time::OffsetDateTime::now_utc() + time::Duration::milliseconds(1));
    tokio::time::sleep(std::time::Duration::from_millis(3)).await;
    let waiting = Tongue::V1.send(&server, &key, probe(Tongue::V1, ask("?"))).await.id();
    let mut message = Tongue::V1.call("probe", json!({ "do": "echo", "value": 1 }));
    message["contextId"] = json!("talk");
    let talk = Tongue::V1.send(&server, &key, json!({ "message": message })).await.id();
    for tongue in Tongue::ALL {
        let list = async |params: Value| {
            let page = tongue.list(&server, &key, params).await;
            assert_eq!(page.result()["totalSize"], ids(page.result()).len(), "{tongue:?}");
            ids(page.result())
        };
        assert_eq!(list(json!({})).await, [talk.clone(), waiting.clone(), done[0].clone()], "{tongue:?}");
        assert_eq!(list(json!({ "contextId": "talk" })).await, std::slice::from_ref(&talk));
        assert!(list(json!({ "contextId": "no such" })).await.is_empty());
        assert_eq!(list(json!({ "status": tongue.state("input-required") })).await, std::slice::from_ref(&waiting));
        assert!(list(json!({ "status": tongue.state("failed") })).await.is_empty());
        assert_eq!(list(json!({ "statusTimestampAfter": between })).await, [talk.clone(), waiting.clone()]);
        let both = json!({ "contextId": "talk", "status": tongue.state("completed"), "statusTimestampAfter": between });
        assert_eq!(list(both).await, std::slice::from_ref(&talk));
        let derived = done[0].replace("task_", "ctx_");
        assert_eq!(list(json!({ "contextId": derived })).await, done);
    }
    assert_eq!(
        ids(Tongue::V1.list(&server, &key, json!({ "status": "TASK_STATE_UNSPECIFIED" })).await.result()).len(),
        3
    );
    // The latest change first: an old task that goes on is at the top.
    let answer = Tongue::V1.answer(&waiting, json!({ "do": "echo", "value": 1 }));
    Tongue::V1.send(&server, &key, json!({ "message": answer })).await;
    let page = Tongue::V1.list(&server, &key, json!({})).await;
    assert_eq!(ids(page.result())[0], waiting);
}

/// Also where the conversation has the id that its first task was given.
#[tokio::test]
async fn a_conversation_is_listed_with_all_its_tasks() {
    let server = started().await;
    let key = server.invoke.clone();
    for tongue in Tongue::ALL {
        let first = tongue.send(&server, &key, probe(tongue, json!({ "do": "echo", "value": 1 }))).await;
        let context = first.task()["contextId"].clone();
        let mut message = tongue.call("probe", json!({ "do": "echo", "value": 2 }));
        message["contextId"] = context.clone();
        let second = tongue.send(&server, &key, json!({ "message": message })).await;
        assert_eq!(second.task()["contextId"], context);
        tongue.send(&server, &key, probe(tongue, json!({ "do": "echo", "value": 3 }))).await;
        let page = tongue.list(&server, &key, json!({ "contextId": context })).await;
        assert_eq!(ids(page.result()), [second.id(), first.id()], "{tongue:?}");
        assert_eq!(page.result()["totalSize"], 2, "{tongue:?}");
    }
}

#[tokio::test]
async fn a_list_shows_as_much_of_each_task_as_was_asked_for() {
    let server = started().await;
    made(&server, &server.invoke, 1).await;
    for tongue in Tongue::ALL {
        let list =
            async |params: Value| tongue.list(&server, &server.invoke, params).await.result()["tasks"][0].clone();
        let plain = list(json!({})).await;
        assert!(plain.get("artifacts").is_none() && plain.get("history").is_some(), "{tongue:?}: {plain}");
        assert!(list(json!({ "includeArtifacts": false })).await.get("artifacts").is_none());
        let whole = list(json!({ "includeArtifacts": true, "historyLength": 0 })).await;
        assert!(whole.get("artifacts").is_some() && whole.get("history").is_none(), "{tongue:?}: {whole}");
    }
}

#[tokio::test]
async fn pages_follow_one_another_without_gap_or_repeat() {
    let server = started().await;
    let expected = made(&server, &server.invoke, 7).await;
    for tongue in Tongue::ALL {
        let (mut seen, mut sizes, mut token) = (Vec::new(), Vec::new(), String::new());
        loop {
            let params = json!({ "pageSize": 3, "pageToken": token });
            let page = tongue.list(&server, &server.invoke, params).await;
            assert_eq!((&page.result()["totalSize"], &page.result()["pageSize"]), (&json!(7), &json!(3)));
            sizes.push(ids(page.result()).len());
            seen.extend(ids(page.result()));
            token = page.result()["nextPageToken"].as_str().unwrap().to_owned();
            if token.is_empty() {
                break;
            }
        }
        assert_eq!((sizes, &seen), (vec![3, 3, 1], &expected), "{tongue:?}");
        let exact = tongue.list(&server, &server.invoke, json!({ "pageSize": 7 })).await;
        assert_eq!(exact.result()["nextPageToken"], "", "{tongue:?}");
    }
}

/// A token is good for the list that gave it: same tenant, same caller, same filters.
#[tokio::test]
async fn a_token_opens_no_other_list() {
    let server = started().await;
    let other = another_key(&server, json!(["invoke"])).await;
    let neighbour = server.other_tenant("other").await;
    made(&server, &server.invoke, 3).await;
    made(&server, &other, 3).await;
    let first = Tongue::V1.list(&server, &server.invoke, json!({ "pageSize": 1 })).await;
    let token = first.result()["nextPageToken"].as_str().unwrap().to_owned();
    assert!(!token.is_empty());
    let mut forged = token.clone().into_bytes();
    forged[3] = if forged[3] == b'A' { b'B' } else { b'A' };
    let forged = String::from_utf8(forged).unwrap();
    for tongue in Tongue::ALL {
        let refused = async |key: &str, params: Value| {
            let answer = tongue.list(&server, key, params).await;
            assert_eq!(answer.code(), -32602, "{tongue:?}: {answer:?}");
            answer.body
        };
        let reference = refused(&server.invoke, json!({ "pageToken": "no-token" })).await;
        for bad in [forged.as_str(), &token[..token.len() - 4], &format!("{token}AAAA"), "%00", "🦀", "AAAA"] {
            assert_eq!(refused(&server.invoke, json!({ "pageToken": bad })).await, reference, "{bad}");
        }
        assert_eq!(refused(&other, json!({ "pageToken": token })).await, reference, "another caller's");
        assert_eq!(refused("", json!({ "pageToken": token })).await, reference, "nobody's");
        for filter in [json!({ "contextId": "x" }), json!({ "status": tongue.state("completed") })] {
            let mut params = filter;
            params["pageToken"] = json!(token);
            assert_eq!(refused(&server.invoke, params).await, reference, "other filters");
        }
        let again = tongue.list(&server, &server.invoke, json!({ "pageToken": token, "pageSize": 2 })).await;
        assert_eq!(ids(again.result()).len(), 2, "{tongue:?}: the size may change, and so may the version");
    }
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "ListTasks", "params": { "pageToken": token } });
    let request = server.client.post(format!("{}/t/other/_a2a/", server.url)).bearer_auth(&neighbour).json(&body);
    let answer: Value = request.send().await.unwrap().json().await.unwrap();
    assert_eq!(answer["error"]["code"], -32602, "another tenant's: {answer}");
}

#[tokio::test]
async fn a_list_needs_no_parameters() {
    let server = started().await;
    let mine = made(&server, &server.invoke, 1).await;
    for method in ["ListTasks", "tasks/list"] {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method });
        let request = server.client.post(format!("{}/_a2a/", server.tenant_url())).bearer_auth(&server.invoke);
        let answer: Value = request.json(&body).send().await.unwrap().json().await.unwrap();
        assert_eq!(ids(&answer["result"]), mine, "{method}: {answer}");
    }
}

#[tokio::test]
async fn page_sizes_are_1_to_100() {
    let server = started().await;
    for tongue in Tongue::ALL {
        for size in [json!(1), json!(100)] {
            assert_eq!(tongue.list(&server, &server.invoke, json!({ "pageSize": size })).await.status, 200);
        }
        for size in [json!(0), json!(-1), json!(101), json!(4_000_000_000_u64), json!("ten"), json!(1.5)] {
            let answer = tongue.list(&server, &server.invoke, json!({ "pageSize": size })).await;
            assert_eq!(answer.code(), -32602, "{tongue:?} {size}");
        }
    }
}

/// What is large is cut into pages that fit into memory; nothing is lost by it.
#[tokio::test]
async fn a_page_that_would_weigh_too_much_ends_early() {
    let server = started().await;
    let flood = json!({ "do": "flood_output", "bytes": 6 << 20 });
    let mut expected = Vec::new();
    for _ in 0..5 {
        let params = probe(Tongue::V1, flood.clone());
        expected.push(Tongue::V1.send(&server, &server.invoke, params).await.id());
    }
    expected.reverse();
    let (mut seen, mut token) = (Vec::new(), String::new());
    let mut pages = 0;
    while pages == 0 || !token.is_empty() {
        let params = json!({ "includeArtifacts": true, "pageToken": token });
        let page = Tongue::V1.list(&server, &server.invoke, params).await;
        seen.extend(ids(page.result()));
        token = page.result()["nextPageToken"].as_str().unwrap().to_owned();
        pages += 1;
    }
    assert_eq!((pages, seen), (2, expected));
    let light = Tongue::V1.list(&server, &server.invoke, json!({})).await;
    assert_eq!(ids(light.result()).len(), 5, "without the artifacts they fit");
}

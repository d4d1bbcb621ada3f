//! What is another's answers, byte for byte, like what does not exist.

use pleat_domain::TaskId;
use reqwest::{Method, Response};
use serde_json::{Value, json};
use uuid::Uuid;

use super::Neighbours;

/// Status, headers and body, without the time and without the id that the request itself carried.
pub async fn whole(response: Response, id: &str) -> String {
    let mut lines = vec![format!("{:?} {}", response.version(), response.status())];
    let headers = response.headers().iter().filter(|(name, _)| *name != "date");
    lines.extend(headers.map(|(name, value)| format!("{name}: {value:?}")));
    lines.push(response.text().await.unwrap());
    lines.join("\n").replace(id, "<id>")
}

/// Ids that name nothing: fresh, not of our making, and long expired.
fn nothings() -> Vec<String> {
    let ids = [Uuid::now_v7(), Uuid::from_u128(0x0123_4567_89ab_4cde_8f01_2345_6789_abcd), Uuid::nil(), Uuid::max()];
    ids.into_iter().map(|uuid| TaskId::from_uuid(uuid).to_string()).collect()
}

#[tokio::test]
async fn another_callers_task_is_as_unknown_as_a_random_one_at_the_agents_door() {
    let neighbours = Neighbours::start().await;
    let server = &neighbours.server;
    let theirs = [&neighbours.finished, &neighbours.running, &neighbours.waiting];
    let message = json!({ "role": "user", "parts": [{ "type": "text", "text": "hi" }] });
    let doors = [("acme", ""), ("acme", neighbours.stranger.as_str()), ("other", ""), ("other", &neighbours.other)];
    for (tenant, key) in doors {
        for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe", "tasks/send", "tasks/sendSubscribe"] {
            let ask = async |id: &str| {
                let params = match method {
                    "tasks/send" | "tasks/sendSubscribe" => json!({ "id": id, "message": message }),
                    _ => json!({ "id": id }),
                };
                let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
                let mut request = server.client.post(format!("{}/t/{tenant}/_a2a/", server.url)).json(&body);
                if !key.is_empty() {
                    request = request.bearer_auth(key);
                }
                whole(request.send().await.unwrap(), id).await
            };
            let unknown = ask(&nothings()[0]).await;
            // Where nothing is public, who has no key is asked for one first.
            let code = if (tenant, key) == ("acme", "") { "-32052" } else { "-32001" };
            assert!(unknown.contains(code), "{tenant} {method}: {unknown}");
            for id in nothings().iter().skip(1) {
                assert_eq!(ask(id).await, unknown, "{tenant} {method} {id}");
            }
            for id in theirs {
                assert_eq!(ask(id).await, unknown, "{tenant} {method} with another's {id}");
            }
        }
    }
    for (id, state) in [(theirs[0], "completed"), (theirs[1], "working"), (theirs[2], "input-required")] {
        let (_, answer) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": id })).await;
        assert_eq!(answer["result"]["status"]["state"], state, "its owner still has it: {answer}");
    }
}

#[tokio::test]
async fn an_id_that_another_caller_chose_is_free_for_everybody_else() {
    let neighbours = Neighbours::start().await;
    let server = &neighbours.server;
    let call = json!({ "id": "my-order", "skill": "private", "message": { "do": "echo", "value": 1 } });
    let (_, mine) = server.rpc_as(&server.invoke, "tasks/send", call.clone()).await;
    assert_eq!(mine["result"]["id"], "my-order", "{mine}");
    for key in ["", neighbours.stranger.as_str()] {
        for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
            let taken = server.rpc_response(key, method, json!({ "id": "my-order" })).await;
            let free = server.rpc_response(key, method, json!({ "id": "my-thing" })).await;
            let (taken, free) = (whole(taken, "my-order").await, whole(free, "my-thing").await);
            let code = if key.is_empty() { "-32052" } else { "-32001" };
            assert!(free.contains(code), "{method}: {free}");
            assert_eq!(taken, free, "{method}");
        }
    }
    let (_, theirs) = server.rpc_as(&neighbours.stranger, "tasks/send", call).await;
    assert_eq!(theirs["result"]["id"], "my-order", "the same name is another caller's own task: {theirs}");
    assert_ne!(theirs["result"]["contextId"], mine["result"]["contextId"]);
}

#[tokio::test]
async fn another_tenants_things_are_as_unknown_as_random_ones_in_the_control_api() {
    let neighbours = Neighbours::start().await;
    let server = &neighbours.server;
    let ask = async |method: Method, path: &str, id: &str| {
        let url = format!("{}/api/v1/tenants/{}", server.url, path.replace("{}", id));
        whole(server.client.request(method, url).bearer_auth(&neighbours.other).send().await.unwrap(), id).await
    };
    let random = nothings();
    let tasks = [&neighbours.finished, &neighbours.running, &neighbours.waiting];
    let mut cases: Vec<(Method, &str, &str, &str)> = Vec::new();
    for theirs in tasks {
        cases.push((Method::GET, "other/tasks/{}", theirs, &random[0]));
        cases.push((Method::GET, "other/tasks/{}/events", theirs, &random[0]));
        cases.push((Method::GET, "other/tasks/{}/trace", theirs, &random[0]));
        cases.push((Method::POST, "other/tasks/{}/cancel", theirs, &random[0]));
        cases.push((Method::GET, "other/logs?task={}", theirs, &random[0]));
        cases.push((Method::GET, "acme/tasks/{}", theirs, &random[0]));
        cases.push((Method::GET, "other/tasks?context={}", theirs, &random[0]));
    }
    for (method, path) in [
        (Method::GET, "other/functions/{}"),
        (Method::GET, "other/functions/{}/versions"),
        (Method::POST, "other/functions/{}/rollback"),
        (Method::DELETE, "other/functions/{}"),
        (Method::GET, "other/tasks?skill={}"),
    ] {
        cases.push((method, path, "private", "nothing"));
    }
    cases.push((Method::DELETE, "other/keys/{}", &neighbours.stranger_id, "AAAAAAAAAA"));
    for (place, kind) in [("acme/secrets/SHARED", Method::PUT), ("acme/settings/SHARED", Method::PUT)] {
        let value = Some(json!({ "value": "mine" }));
        assert_eq!(server.api(kind, &format!("/tenants/{place}"), &server.deploy, value).await.0, 204);
    }
    for path in ["other/secrets/{}", "other/settings/{}"] {
        cases.push((Method::DELETE, path, "SHARED", "ABSENT"));
    }
    for path in ["{}", "{}/functions", "{}/keys", "{}/tasks", "{}/logs", "{}/secrets", "{}/settings"] {
        cases.push((Method::GET, path, "acme", "none"));
    }
    for (method, path, theirs, nothing) in cases {
        let (known, unknown) = (ask(method.clone(), path, theirs).await, ask(method.clone(), path, nothing).await);
        assert_eq!(known, unknown, "{method} {path} {theirs}");
    }
    let stranger = server.api(Method::GET, "/whoami", &neighbours.stranger, None).await;
    assert_eq!(stranger.0, 200, "the key that another tenant tried to revoke still works");
}

#[tokio::test]
async fn a_place_in_another_tenants_list_shows_only_ones_own() {
    let neighbours = Neighbours::start().await;
    let server = &neighbours.server;
    let (_, page) = server.api(Method::GET, "/tenants/acme/tasks?limit=1", &server.read, None).await;
    let cursor = page["nextCursor"].as_str().expect("three tasks do not fit on a page of one");
    let path = format!("/tenants/other/tasks?cursor={cursor}");
    let (status, page) = server.api(Method::GET, &path, &neighbours.other, None).await;
    assert_eq!((status, &page["tasks"]), (200, &json!([])), "{page}");
    let (_, logs) = server.api(Method::GET, "/tenants/other/logs?after=0", &neighbours.other, None).await;
    assert_eq!(logs["entries"], json!([]), "{logs}");
}

#[tokio::test]
async fn nobody_joins_anothers_conversation() {
    let neighbours = Neighbours::start().await;
    let server = &neighbours.server;
    let call = |value: Value| json!({ "skill": "private", "sessionId": "shared", "message": value });
    let seen = json!({ "do": "conversation" });
    let secret = json!({ "do": "echo", "value": "a-secret-of-mine" });
    server.rpc_as(&server.invoke, "tasks/send", call(secret)).await;
    let (_, answer) = server.rpc_as(&neighbours.stranger, "tasks/send", call(seen)).await;
    assert_eq!(answer["result"]["status"]["state"], "completed", "{answer}");
    assert!(!answer.to_string().contains("a-secret-of-mine"), "{answer}");
}

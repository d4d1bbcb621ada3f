//! The HTTP+JSON binding of A2A 1.0: paths, methods, media types and statuses.

use reqwest::Method;
use serde_json::{Value, json};

use crate::harness::{Stream, TestServer, Tongue, read, redacted};

const REST: Tongue = Tongue::Rest;

async fn started() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    server
}

fn call(input: Value) -> Value {
    let mut message = REST.call("probe", input);
    message["messageId"] = json!("m-1");
    json!({ "message": message })
}

#[tokio::test]
async fn every_path_answers_with_the_resource_itself() {
    let server = started().await;
    let sent = REST.send(&server, &server.invoke, call(json!({ "do": "echo", "value": { "n": 1 } }))).await;
    insta::assert_json_snapshot!("rest_send", redacted(sent.body.clone()));
    let got = REST.get(&server, &server.invoke, json!({ "id": sent.id(), "historyLength": 0 })).await;
    insta::assert_json_snapshot!("rest_get", redacted(got.body));
    let list = REST.list(&server, &server.invoke, json!({ "pageSize": 1 })).await;
    insta::assert_json_snapshot!("rest_list", redacted(list.body));
    let asked = REST.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await;
    insta::assert_json_snapshot!("rest_cancel", redacted(REST.cancel(&server, "", &asked.id()).await.body));
    let request =
        REST.request(&server, Method::POST, "/message:stream").json(&call(json!({ "do": "echo", "value": "x" })));
    let frames = Stream::of(request.send().await.unwrap()).all().await;
    let frames: Vec<Value> = frames.into_iter().map(|frame| redacted(frame.data)).collect();
    insta::assert_json_snapshot!("rest_stream", frames);
}

#[tokio::test]
async fn errors_are_a_status_with_details() {
    let server = started().await;
    let done = REST.send(&server, "", call(json!({ "do": "echo", "value": 1 }))).await.id();
    let fresh = pleat_domain::TaskId::new().to_string();
    let ask = async |method: Method, path: String, body: Option<Value>, key: &str| {
        let mut request = REST.request(&server, method, &path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        let response = request.send().await.unwrap();
        assert_eq!(response.headers()["content-type"], "application/json", "{path}");
        let (status, body) = read(response).await;
        assert_eq!(body["error"]["code"], status, "{body}");
        redacted(body)
    };
    let mut errors = serde_json::Map::new();
    let after = json!({ "message": REST.answer(&done, json!(1)) });
    for (name, method, path, body, key) in [
        ("task not found", Method::GET, format!("/tasks/{fresh}"), None, ""),
        ("task not cancelable", Method::POST, format!("/tasks/{done}:cancel"), None, ""),
        ("followed after its end", Method::POST, format!("/tasks/{done}:subscribe"), None, ""),
        ("unsupported operation", Method::POST, "/message:send".to_owned(), Some(after), ""),
        ("empty body", Method::POST, "/message:send".to_owned(), Some(json!({})), ""),
        ("array", Method::POST, "/message:send".to_owned(), Some(json!([])), ""),
        ("no such path", Method::GET, "/nothing/here/at/all".to_owned(), None, ""),
        ("nothing but the binding", Method::GET, String::new(), None, ""),
        ("nothing behind the slash", Method::POST, "/".to_owned(), None, ""),
        ("wrong method", Method::GET, "/message:send".to_owned(), None, ""),
        ("a method that nothing takes", Method::PUT, format!("/tasks/{done}"), None, ""),
        ("another one", Method::PATCH, "/nothing/here/at/all".to_owned(), None, ""),
        ("wrong key", Method::GET, "/tasks".to_owned(), None, "plt_no_key"),
        ("wrong scope", Method::GET, "/tasks".to_owned(), None, server.deploy.as_str()),
        ("another tenant", Method::GET, format!("/other/tasks/{done}"), None, ""),
    ] {
        errors.insert(name.to_owned(), ask(method, path, body, key).await);
    }
    insta::assert_json_snapshot!("rest_errors", errors);
}

#[tokio::test]
async fn the_tenant_may_stand_before_every_path() {
    let server = started().await;
    let send = async |prefix: &str| {
        let request = REST.request(&server, Method::POST, &format!("{prefix}/message:send"));
        let body = call(json!({ "do": "echo", "value": 1 }));
        REST.read(request.bearer_auth(&server.invoke).json(&body)).await
    };
    let sent = send("/acme").await;
    assert_eq!(sent.state(), "completed");
    for path in ["/acme/tasks".to_owned(), format!("/acme/tasks/{}", sent.id())] {
        let request = REST.request(&server, Method::GET, &path).bearer_auth(&server.invoke);
        assert_eq!(REST.read(request).await.status, 200, "{path}");
    }
    let reference = send("/nobody").await;
    assert_eq!((reference.status, reference.code()), (404, -32001));
    server.other_tenant("other").await;
    assert_eq!(send("/other").await.body, reference.body);
    assert_eq!(send("/").await.body["error"]["code"], 404);
    let mut both = call(json!({ "do": "echo", "value": 1 }));
    both["tenant"] = json!("other");
    let request = REST.request(&server, Method::POST, "/acme/message:send").json(&both);
    assert_eq!(REST.read(request).await.status, 404);
}

#[tokio::test]
async fn following_is_a_get_or_a_post() {
    let server = started().await;
    let emit = json!({ "do": "emit", "chunks": 3, "delay_ms": 80 });
    let mut params = call(emit);
    params["configuration"] = REST.at_once();
    for method in [Method::GET, Method::POST] {
        let sent = REST.send(&server, "", params.clone()).await;
        let request = REST.request(&server, method.clone(), &format!("/tasks/{}:subscribe", sent.id()));
        let stream = Stream::of(request.send().await.unwrap());
        assert_eq!((stream.status, stream.content_type.as_str()), (200, "text/event-stream"), "{method}");
        let frames = stream.all().await;
        assert!(frames[0].data.get("task").is_some(), "{frames:?}");
        assert_eq!(frames.last().unwrap().data["statusUpdate"]["status"]["state"], "TASK_STATE_COMPLETED");
    }
}

#[tokio::test]
async fn the_protocols_own_media_type_goes_to_who_asks_for_it() {
    let server = started().await;
    let body = call(json!({ "do": "echo", "value": 1 })).to_string();
    let kind = async |content_type: &str, accept: Option<&str>| {
        let request = REST.request(&server, Method::POST, "/message:send").header("content-type", content_type);
        let request = match accept {
            Some(accept) => request.header("accept", accept),
            None => request,
        };
        let response = request.body(body.clone()).send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.headers()["content-type"].to_str().unwrap().to_owned()
    };
    assert_eq!(kind("application/json", None).await, "application/json");
    assert_eq!(kind("application/json", Some("*/*")).await, "application/json");
    assert_eq!(kind("application/json", Some("application/a2a+json")).await, "application/a2a+json");
    assert_eq!(
        kind("application/json", Some("application/json, application/a2a+json;q=0.5")).await,
        "application/a2a+json"
    );
    assert_eq!(kind("application/a2a+json", None).await, "application/a2a+json");
    assert_eq!(kind("application/a2a+json; charset=utf-8", None).await, "application/a2a+json");
}

#[tokio::test]
async fn a_body_that_is_not_json_is_refused_by_its_type() {
    let server = started().await;
    let body = call(json!({ "do": "echo", "value": 1 })).to_string();
    for content_type in ["text/plain", "application/x-www-form-urlencoded", ""] {
        let request = REST.request(&server, Method::POST, "/message:send").header("content-type", content_type);
        let answer = REST.read(request.body(body.clone())).await;
        assert_eq!((answer.status, answer.code()), (400, -32005), "{content_type}");
    }
    for broken in ["{", "", "{\"a\":1,\"a\":2}", "\"x\"", "[]", "null"] {
        let request = REST.request(&server, Method::POST, "/message:send").header("content-type", "application/json");
        let answer = REST.read(request.body(broken)).await;
        assert_eq!((answer.status, answer.code()), (400, -32602), "{broken}");
    }
    let huge = format!("{{\"message\":\"{}\"}}", "x".repeat(5 << 20));
    let request = REST.request(&server, Method::POST, "/message:send").header("content-type", "application/json");
    assert_eq!(REST.read(request.body(huge)).await.status, 413);
}

/// Clients say that they send JSON and send nothing.
#[tokio::test]
async fn canceling_needs_no_body() {
    let server = started().await;
    for body in ["", "{}", "{\"metadata\":{}}"] {
        let asked = REST.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await;
        let request = REST.request(&server, Method::POST, &format!("/tasks/{}:cancel", asked.id()));
        let answer = REST.read(request.header("content-type", "application/json").body(body)).await;
        assert_eq!(answer.result()["status"]["state"], "TASK_STATE_CANCELED", "{body}");
    }
    let asked = REST.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await;
    let request = REST.request(&server, Method::POST, &format!("/tasks/{}:cancel", asked.id()));
    assert_eq!(REST.read(request.json(&json!({ "id": "another" }))).await.code(), -32602);
}

#[tokio::test]
async fn only_10_is_spoken_here() {
    let server = started().await;
    let url = format!("{}/_a2a/rest/message:send", server.tenant_url());
    let body = call(json!({ "do": "echo", "value": 1 }));
    let (status, _) = read(server.client.post(&url).json(&body).send().await.unwrap()).await;
    assert_eq!(status, 200, "nothing asked for is no objection");
    for version in ["0.3", "0.1", "1.1", "99.0"] {
        let request = server.client.post(&url).header("a2a-version", version).json(&body);
        let answer = REST.read(request).await;
        assert_eq!((answer.status, answer.code()), (400, -32009), "{version}");
        assert_eq!(answer.body["error"]["details"][0]["metadata"]["requested"], version);
    }
}

#[tokio::test]
async fn push_configurations_are_resources() {
    let server = started().await;
    let key = server.invoke.clone();
    let task = REST.send(&server, &key, call(json!({ "do": "echo", "value": 1 }))).await.id();
    let (of_task, fresh) = (format!("/tasks/{task}/pushNotificationConfigs"), pleat_domain::TaskId::new());
    let mine = format!("{of_task}/mine");
    let config = json!({ "id": "mine", "url": "https://receiver.invalid/x", "token": "t",
                         "authentication": { "scheme": "Bearer", "credentials": "c" } });
    let mut told = serde_json::Map::new();
    for (name, key, method, path, body) in [
        ("create", key.as_str(), Method::POST, of_task.clone(), Some(config)),
        ("get", &key, Method::GET, mine.clone(), None),
        ("list", &key, Method::GET, of_task.clone(), None),
        ("delete", &key, Method::DELETE, mine.clone(), None),
        ("deleted twice", &key, Method::DELETE, mine.clone(), None),
        ("list of none", &key, Method::GET, of_task.clone(), None),
        ("not found", &key, Method::GET, mine, None),
        ("task not found", &key, Method::GET, format!("/tasks/{fresh}/pushNotificationConfigs"), None),
        ("no address", &key, Method::POST, of_task.clone(), Some(json!({}))),
        ("private address", &key, Method::POST, of_task.clone(), Some(json!({ "url": "http://10.0.0.1/" }))),
        ("no key", "", Method::GET, of_task.clone(), None),
    ] {
        let mut request = REST.request(&server, method, &path);
        if let Some(body) = body {
            request = request.json(&body);
        }
        if !key.is_empty() {
            request = request.bearer_auth(key);
        }
        let answer = REST.read(request).await;
        told.insert(name.to_owned(), json!([answer.status, redacted(answer.body)]));
    }
    insta::assert_json_snapshot!("rest_push", told);
}

#[tokio::test]
async fn a_task_is_followed_from_what_it_is() {
    let server = started().await;
    let asked = REST.send(&server, "", call(json!({ "do": "need_input", "prompt": "?" }))).await.id();
    let request = REST.request(&server, Method::POST, &format!("/tasks/{asked}:subscribe"));
    let mut stream = Stream::of(request.send().await.unwrap());
    let mut frames = vec![redacted(stream.next().await.unwrap().data)];
    REST.cancel(&server, "", &asked).await;
    frames.extend(stream.all().await.into_iter().map(|frame| redacted(frame.data)));
    insta::assert_json_snapshot!("rest_subscribe", frames);
}

//! Bad input to the control API: always a clear refusal, never a fault of ours.

use reqwest::Method;
use serde_json::{Value, json};

use super::refused;
use crate::harness::TestServer;

#[tokio::test]
async fn questions_about_tasks_are_read_strictly() {
    let server = TestServer::start().await;
    let task = "task_01a1e252e42a701d9bed16e193b3ee71";
    let queries = [
        "limit=0".to_owned(),
        "limit=101".to_owned(),
        "limit=-1".to_owned(),
        "limit=many".to_owned(),
        "state=done".to_owned(),
        "state=".to_owned(),
        "skill=No%20Such".to_owned(),
        "context=".to_owned(),
        "context=a%00b".to_owned(),
        format!("context={}", "x".repeat(257)),
        "cursor=".to_owned(),
        "cursor=abc".to_owned(),
        format!("cursor=1{task}"),
        format!("cursor=1.{task}0"),
        format!("cursor=-1.{task}"),
        format!("cursor=-377705116800000000.{task}"),
        format!("cursor=9{:0>40}.{task}", 0),
        "state=failed&state=working".to_owned(),
        "owner=me".to_owned(),
    ];
    for query in queries {
        let path = format!("/tenants/acme/tasks?{query}");
        assert_eq!(server.refusal(Method::GET, &path, &server.read, None).await, refused(400, "invalid"), "{query}");
    }
}

#[tokio::test]
async fn an_id_that_names_nothing_is_not_found() {
    let server = TestServer::start().await;
    let ids = ["x", "task_", "task_01a1e252e42a701d9bed16e193b3ee71", "TASK_01A1E252E42A701D9BED16E193B3EE71", "%20"];
    for id in ids {
        for (method, rest) in [(Method::GET, ""), (Method::GET, "/events"), (Method::POST, "/cancel")] {
            let path = format!("/tenants/acme/tasks/{id}{rest}");
            let answer = server.refusal(method, &path, &server.admin, None).await;
            assert_eq!(answer, refused(404, "task_not_found"), "{path}");
        }
    }
    for path in ["/tenants/acme/functions/No", "/tenants/acme/functions/mcp", "/tenants/acme/functions/%2e%2e"] {
        assert_eq!(server.refusal(Method::GET, path, &server.admin, None).await, refused(404, "not_found"), "{path}");
    }
}

#[tokio::test]
async fn bytes_that_are_no_text_are_refused_and_break_nothing() {
    let server = TestServer::start().await;
    for bad in ["%ff", "%00", "a%00b", "%c0%ae"] {
        for path in ["tasks/{}", "tasks/{}/events", "functions/{}", "functions/{}/versions"] {
            let path = format!("/tenants/acme/{}", path.replace("{}", bad));
            let (status, body) = server.api(Method::GET, &path, &server.admin, None).await;
            assert!(matches!(status, 400 | 404) && body["error"]["code"].is_string(), "{path}: {status} {body}");
        }
        for path in [format!("/tenants/acme/keys/{bad}"), format!("/tenants/{bad}")] {
            let key = if path.contains("keys") { &server.admin } else { &server.operator };
            let (status, body) = server.api(Method::DELETE, &path, key, None).await;
            assert!(matches!(status, 400 | 404) && body["error"]["code"].is_string(), "{path}: {status} {body}");
        }
    }
}

#[tokio::test]
async fn a_place_in_a_stream_must_be_a_number() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let call = json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } });
    let answer = server.rpc("tasks/send", call).await;
    let id = answer["result"]["id"].as_str().unwrap();
    for place in ["x", "-1", "1.5", "4294967296", "1,2", ""] {
        let url = format!("{}/api/v1/tenants/acme/tasks/{id}/events", server.url);
        let request = server.client.get(url).bearer_auth(&server.read).header("last-event-id", place);
        let (status, body) = crate::harness::read(request.send().await.unwrap()).await;
        assert_eq!((status, &body["error"]["code"]), (400, &json!("invalid")), "{place:?}: {body}");
    }
}

#[tokio::test]
async fn a_body_must_be_json_say_so_and_be_small() {
    let server = TestServer::start().await;
    let post = async |kind: Option<&str>, body: Vec<u8>| {
        let url = format!("{}/api/v1/tenants/acme/keys", server.url);
        let mut request = server.client.post(url).bearer_auth(&server.admin).body(body);
        if let Some(kind) = kind {
            request = request.header("content-type", kind);
        }
        let (status, body): (u16, Value) = crate::harness::read(request.send().await.unwrap()).await;
        (status, body["error"]["code"].as_str().unwrap_or_else(|| panic!("{status} {body}")).to_owned())
    };
    let good = br#"{"scopes":["read"]}"#.to_vec();
    for kind in
        [None, Some("text/plain"), Some("application/x-www-form-urlencoded"), Some("application/jsonx"), Some("")]
    {
        assert_eq!(post(kind, good.clone()).await, refused(415, "unsupported_media_type"), "{kind:?}");
    }
    let bad: [&[u8]; 9] = [
        b"",
        b"{",
        b"null",
        b"{\"scopes\":[\"read\"]} x",
        b"{\"scopes\":[\"read\"],\"scopes\":[\"admin\"]}",
        b"{\"scopes\":[\"read\"],\"label\":\"\xff\"}",
        b"\xef\xbb\xbf{\"scopes\":[\"read\"]}",
        b"{'scopes':['read']}",
        b"{\"scopes\":[\"read\"],\"label\":\"\\ud800\"}",
    ];
    for body in bad {
        let shown = String::from_utf8_lossy(body).into_owned();
        assert_eq!(post(Some("application/json"), body.to_vec()).await, refused(400, "invalid"), "{shown}");
    }
    let deep = [b"{\"label\":".as_slice(), &[b'['; 10_000]].concat();
    assert_eq!(post(Some("application/json"), deep).await, refused(400, "invalid"));
    let large = format!("{{\"label\":\"{}\"}}", "x".repeat(70_000)).into_bytes();
    assert_eq!(post(Some("application/json"), large).await, refused(413, "too_large"));
}

#[tokio::test]
async fn paths_and_methods_that_are_not_served_say_so() {
    let server = TestServer::start().await;
    for path in ["/", "/tenant", "/tenants/acme/nothing", "/tenants/acme/tasks/x/y", "/whoami/", "/../whoami2"] {
        assert_eq!(server.refusal(Method::GET, path, &server.admin, None).await, refused(404, "not_found"), "{path}");
    }
    for (method, path) in [(Method::PUT, "/whoami"), (Method::PATCH, "/tenants/acme"), (Method::DELETE, "/tenants")] {
        let answer = server.refusal(method, path, &server.admin, None).await;
        assert_eq!(answer, refused(405, "method_not_allowed"), "{path}");
    }
}

//! Whole requests, one of each kind, to be broken.

use serde_json::json;

use crate::node::Tenant;
use crate::raw::request;

pub fn all(tenant: &Tenant) -> Vec<Vec<u8>> {
    let (slug, key) = (tenant.slug.as_str(), tenant.key.as_str());
    let door = format!("/t/{slug}/_a2a/");
    let rpc = |method: &str, params: serde_json::Value| {
        let body = json!({ "jsonrpc": "2.0", "id": "one", "method": method, "params": params }).to_string();
        request("POST", &door, "localhost", key, &[], &body)
    };
    let control = |method: &str, path: &str, body: &str| {
        request(method, &format!("/api/v1/tenants/{slug}{path}"), "localhost", key, &[], body)
    };
    let task = "task_01890a5d00007000800000000000000a";
    let message = json!({ "role": "user", "messageId": "m1", "parts": [
        { "type": "text", "text": "hi", "metadata": { "a": 1 } },
        { "type": "data", "data": { "n": [1, 2.5e3, -0, null, true, "\u{e9}"] } },
        { "type": "file", "file": { "name": "a", "mimeType": "text/plain", "bytes": "aGk=" } },
    ] });
    let mut all = vec![
        rpc("tasks/send", json!({ "skill": "echo", "sessionId": "s", "message": message, "historyLength": 2 })),
        rpc("tasks/sendSubscribe", json!({ "skillId": "echo", "message": { "n": 1 }, "metadata": { "a": "b" } })),
        rpc("tasks/get", json!({ "id": task, "historyLength": 1 })),
        rpc("tasks/cancel", json!({ "id": task })),
        rpc("tasks/resubscribe", json!({ "id": task })),
        rpc("tasks/pushNotification/set", json!({ "id": task, "pushNotificationConfig": { "url": "http://x" } })),
        rpc("message/send", json!({ "message": message })),
        request(
            "POST",
            &format!("/t/{slug}/echo"),
            "localhost",
            key,
            &["Accept: text/event-stream;q=0.5, */*"],
            r#"{"n":[1,2,{"a":"b"}]}"#,
        ),
        request("POST", "/echo", &format!("{slug}.localhost"), key, &["Accept: text/plain"], r#""text""#),
        request("GET", &format!("/t/{slug}/echo?a=b&c=%20"), "localhost", key, &[], ""),
        request(
            "GET",
            &format!("/t/{slug}/.well-known/agent-card.json"),
            "localhost",
            "",
            &["If-None-Match: \"x\""],
            "",
        ),
        request("GET", "/api/v1/whoami", "localhost", key, &[], ""),
        request("GET", "/api/v1/openapi.json", "127.0.0.1:80", "", &[], ""),
        request(
            "OPTIONS",
            "/api/v1/tenants",
            "localhost",
            "",
            &["Origin: http://x", "Access-Control-Request-Method: GET"],
            "",
        ),
        control("GET", "/tasks?limit=2&state=completed&skill=echo&cursor=1.task_01890a5d00007000800000000000000a", ""),
        control("GET", &format!("/tasks/{task}"), ""),
        request(
            "GET",
            &format!("/api/v1/tenants/{slug}/tasks/{task}/events"),
            "localhost",
            key,
            &["Last-Event-ID: 7"],
            "",
        ),
        control("GET", "/logs?limit=5&after=0", ""),
        control("GET", "/keys", ""),
        control("POST", "/keys", r#"{"scopes":["read"],"label":"x"}"#),
        control("POST", "/functions/echo/rollback", r#"{"version":1}"#),
        control("POST", "/functions?fileName=a.wat&name=b&visibility=public&grant=kv", "(component)"),
    ];
    let chunked = "7\r\n{\"n\":1}\r\n0\r\n\r\n";
    all.push(
        format!(
            "POST /t/{slug}/echo HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {key}\r\nConnection: close\r\n\
             Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n{chunked}"
        )
        .into_bytes(),
    );
    all
}

//! Who may use the door. Isolation in depth has a suite of its own; here is what the wire says.

use serde_json::{Value, json};

use super::result_text;
use crate::harness::{TestServer, answering};

const UNAUTHENTICATED: &str = "this needs a valid key: send `Authorization: Bearer <key>`";

async fn server() -> TestServer {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    let guest = answering(&json!({ "description": "d" }), "\"closed\"");
    server.deploy("closed.wat", guest, "&visibility=listed").await;
    server
}

async fn send(server: &TestServer, authorization: Option<&str>, skill: &str) -> (u16, Option<String>, Value) {
    let body =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/send", "params": { "skill": skill, "message": "x" } });
    let mut request = server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&body);
    if let Some(authorization) = authorization {
        request = request.header("authorization", authorization);
    }
    let response = request.send().await.unwrap();
    let challenge = response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned());
    (response.status().as_u16(), challenge, response.json().await.unwrap())
}

#[tokio::test]
async fn a_skill_that_is_not_public_needs_a_key() {
    let server = server().await;
    let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32052, "message": UNAUTHENTICATED } });
    assert_eq!(send(&server, None, "closed").await, (401, Some("Bearer".to_owned()), error));
    let (status, challenge, answer) = send(&server, Some(&format!("Bearer {}", server.invoke)), "closed").await;
    assert_eq!((status, challenge, result_text(&answer)), (200, None, "closed"));
    let (status, ..) = send(&server, Some(&format!("bearer  {}", server.invoke)), "closed").await;
    assert_eq!(status, 200, "the scheme has no case");
}

/// A key that is shown and is not valid is refused even where none is needed, always with the same words.
#[tokio::test]
async fn every_bad_key_gets_one_answer() {
    let server = server().await;
    let other = server.other_tenant("rival").await;
    let mut flipped = server.invoke.clone();
    let last = flipped.pop().unwrap();
    flipped.push(if last == 'a' { 'b' } else { 'a' });
    let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32052, "message": UNAUTHENTICATED } });
    for bad in [
        "Bearer".to_owned(),
        "Bearer ".to_owned(),
        "Bearer nonsense".to_owned(),
        format!("Basic {}", server.invoke),
        server.invoke.clone(),
        format!("Bearer {flipped}"),
        format!("Bearer {other}"),
        format!("Bearer {}", server.operator),
    ] {
        for skill in ["echo", "closed"] {
            let answer = send(&server, Some(&bad), skill).await;
            assert_eq!(answer, (401, Some("Bearer".to_owned()), error.clone()), "{bad} {skill}");
        }
    }
}

#[tokio::test]
async fn a_key_without_the_scope_is_told_which_it_lacks() {
    let server = server().await;
    let text = "this key lacks the scope `invoke`; ask an admin of the tenant for one that has it";
    let error = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32053, "message": text } });
    for key in [&server.deploy, &server.read] {
        for skill in ["echo", "closed"] {
            let answer = send(&server, Some(&format!("Bearer {key}")), skill).await;
            assert_eq!(answer, (403, None, error.clone()), "{skill}");
        }
        for method in ["tasks/get", "tasks/cancel", "tasks/resubscribe"] {
            let (status, answer) =
                server.rpc_as(key, method, json!({ "id": format!("task_{}", "0".repeat(32)) })).await;
            assert_eq!((status, &answer["error"]), (403, &error["error"]), "{method}");
        }
    }
}

//! The card for one caller: exactly what it may call, by every way to ask for it.

use reqwest::Method;
use serde_json::{Value, json};

use super::{card_for, deploy, redacted, skills};
use crate::harness::{TestServer, read};

async fn deployed() -> TestServer {
    let server = TestServer::start().await;
    for (name, visibility) in [("open", "public"), ("closed", "listed"), ("hidden", "unlisted")] {
        deploy(&server, name, visibility, json!({ "description": visibility })).await;
    }
    server
}

async fn by_path(server: &TestServer, key: &str) -> (u16, Value) {
    let mut request = server.client.get(format!("{}/_a2a/rest/extendedAgentCard", server.tenant_url()));
    if !key.is_empty() {
        request = request.bearer_auth(key);
    }
    read(request.header("a2a-version", "1.0").send().await.unwrap()).await
}

#[tokio::test]
async fn a_caller_sees_what_it_may_call_and_unlisted_skills_too() {
    let server = deployed().await;
    let everything = [("closed", "listed"), ("hidden", "unlisted"), ("open", "public")];
    let (_, version_3) = server.rpc_as(&server.invoke, "agent/getAuthenticatedExtendedCard", Value::Null).await;
    assert_eq!(skills(&version_3["result"]), everything, "{version_3}");
    assert_eq!(version_3["result"]["protocolVersion"], "0.3.0");
    let (_, version_1) = server.rpc_as(&server.invoke, "GetExtendedAgentCard", json!({})).await;
    assert_eq!(skills(&version_1["result"]), everything, "{version_1}");
    assert_eq!(pleat_a2a::card::schema::check(&version_1["result"]), []);
    let (status, rest) = by_path(&server, &server.invoke).await;
    assert_eq!(status, 200, "{rest}");
    assert_eq!(redacted(&rest, ""), redacted(&version_1["result"], ""));
    insta::assert_json_snapshot!("extended", redacted(&rest, &server.tenant_url()));
    assert_eq!(skills(&card_for(&server, "1.0").await), [("closed", "listed"), ("open", "public")]);
}

#[tokio::test]
async fn whoever_may_call_nothing_has_no_such_card() {
    let server = deployed().await;
    let wish = json!({ "slug": "other" });
    let (_, other) = server.api(Method::POST, "/tenants", &server.operator, Some(wish)).await;
    let other = other["adminKey"].as_str().unwrap();
    for (key, status, code) in [
        ("", 401, -32052),
        (server.read.as_str(), 403, -32053),
        (server.deploy.as_str(), 403, -32053),
        (other, 401, -32052),
    ] {
        for method in ["GetExtendedAgentCard", "agent/getAuthenticatedExtendedCard"] {
            let (answered, body) = server.rpc_as(key, method, json!({})).await;
            assert_eq!((answered, &body["error"]["code"]), (status, &json!(code)), "{method}: {body}");
            assert!(!body.to_string().contains("hidden"), "{body}");
        }
        let (answered, body) = by_path(&server, key).await;
        assert_eq!(answered, status, "{body}");
    }
}

//! Tenants come and go by the operator's hand, and a name is used once.

use reqwest::Method;
use serde_json::json;

use super::refused;
use crate::harness::TestServer;

#[tokio::test]
async fn a_tenant_begins_with_a_key_that_may_do_everything_in_it() {
    let server = TestServer::start().await;
    let wish = json!({ "slug": "other" });
    let (status, made) = server.api(Method::POST, "/tenants", &server.operator, Some(wish)).await;
    assert_eq!(status, 201, "{made}");
    assert_eq!(made["url"], format!("{}/t/other", server.url));
    assert_eq!(made["a2aUrl"], format!("{}/t/other/_a2a/", server.url));
    let card = server.client.get(made["cardUrl"].as_str().unwrap()).send().await.unwrap();
    assert_eq!(card.status(), 200);
    let key = made["adminKey"].as_str().unwrap();
    let (_, who) = server.api(Method::GET, "/whoami", key, None).await;
    assert_eq!(who["tenant"], "other");
    assert_eq!(who["scopes"], json!(["admin", "deploy", "invoke", "read"]));
    let (status, shown) = server.api(Method::GET, "/tenants/other", key, None).await;
    assert_eq!((status, &shown["slug"], shown.get("adminKey")), (200, &json!("other"), None));
    let (_, all) = server.api(Method::GET, "/tenants", &server.operator, None).await;
    let slugs: Vec<_> = all["tenants"].as_array().unwrap().iter().map(|tenant| &tenant["slug"]).collect();
    assert_eq!(slugs, ["acme", "other"]);
    assert!(!all.to_string().contains("plt_"), "{all}");
}

#[tokio::test]
async fn a_tenants_name_must_fit_a_host_and_be_free() {
    let server = TestServer::start().await;
    let make = async |slug: &str| {
        server.refusal(Method::POST, "/tenants", &server.operator, Some(json!({ "slug": slug }))).await
    };
    for slug in ["", "ab", "Acme", "a.b.c", "a--b", "-abc", "abc-", "a b", "api", "www", "\u{e9}t\u{e9}", "a\u{0}bc"] {
        assert_eq!(make(slug).await, refused(400, "invalid"), "{slug:?}");
    }
    assert_eq!(make(&"x".repeat(41)).await, refused(400, "invalid"));
    for wish in [json!({}), json!(["other"]), json!({ "slug": 3 }), json!({ "slug": "other", "id": 1 }), json!("other")]
    {
        let answer = server.refusal(Method::POST, "/tenants", &server.operator, Some(wish.clone())).await;
        assert_eq!(answer, refused(400, "invalid"), "{wish}");
    }
    assert_eq!(make("acme").await, refused(409, "exists"));
}

#[tokio::test]
async fn a_deleted_tenant_is_gone_at_once_and_its_name_stays_taken() {
    let server = TestServer::start().await;
    let key = server.other_tenant("other").await;
    let door = format!("{}/t/other/", server.url);
    assert_eq!(server.client.get(&door).send().await.unwrap().status(), 200);
    assert_eq!(server.api(Method::GET, "/whoami", &key, None).await.0, 200);
    assert_eq!(server.api(Method::DELETE, "/tenants/other", &server.operator, None).await.0, 204);
    assert_eq!(server.client.get(&door).send().await.unwrap().status(), 404);
    for path in ["/whoami", "/tenants/other", "/tenants/other/functions"] {
        assert_eq!(server.refusal(Method::GET, path, &key, None).await, refused(401, "unauthenticated"), "{path}");
    }
    let again = server.refusal(Method::DELETE, "/tenants/other", &server.operator, None).await;
    assert_eq!(again, refused(404, "unknown_tenant"));
    let wish = Some(json!({ "slug": "other" }));
    let taken = server.refusal(Method::POST, "/tenants", &server.operator, wish).await;
    assert_eq!(taken, refused(409, "exists"));
    let (_, all) = server.api(Method::GET, "/tenants", &server.operator, None).await;
    assert_eq!(all["tenants"].as_array().unwrap().len(), 1, "{all}");
}

#[tokio::test]
async fn a_running_call_of_a_deleted_tenant_is_stopped() {
    let server = TestServer::start().await;
    server.deploy_probe().await;
    let sleep = json!({ "skill": "probe", "message": { "do": "sleep", "ms": 25_000 } });
    let mut stream = server.rpc_stream(&server.invoke, "tasks/sendSubscribe", sleep, None).await;
    stream.next().await.expect("a first event");
    assert_eq!(server.api(Method::DELETE, "/tenants/acme", &server.operator, None).await.0, 204);
    // It ends long before the sleep does, with or without a last word.
    let ended = tokio::time::timeout(std::time::Duration::from_secs(5), stream.all()).await;
    assert!(ended.is_ok(), "the stream of a deleted tenant ends");
}

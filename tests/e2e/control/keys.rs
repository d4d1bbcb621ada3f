//! Keys: made by subsets, shown once, ended at once, and never said again.

use std::time::Duration;

use reqwest::Method;
use serde_json::{Value, json};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use super::refused;
use crate::harness::TestServer;

const KEYS: &str = "/tenants/acme/keys";

async fn mint(server: &TestServer, key: &str, wish: Value) -> Value {
    let (status, body) = server.api(Method::POST, KEYS, key, Some(wish)).await;
    assert_eq!(status, 201, "{body}");
    body
}

fn text(key: &Value) -> &str {
    key["key"].as_str().unwrap_or_else(|| panic!("no key in {key}"))
}

#[tokio::test]
async fn a_key_is_shown_once_and_listed_without_its_secret() {
    let server = TestServer::start().await;
    let made = mint(&server, &server.admin, json!({ "scopes": ["read", "invoke"], "label": "for the site" })).await;
    let (_, who) = server.api(Method::GET, "/whoami", text(&made), None).await;
    assert_eq!(who, json!({ "tenant": "acme", "scopes": ["invoke", "read"], "key": made["id"] }));
    let all = server.get(KEYS).await;
    let listed = all["keys"].as_array().unwrap().iter().find(|key| key["id"] == made["id"]).expect("it is listed");
    assert_eq!((&listed["label"], &listed["scopes"]), (&json!("for the site"), &json!(["invoke", "read"])));
    assert_eq!(listed["lastFour"], text(&made)[text(&made).len() - 4..]);
    let secret = text(&made).rsplit('_').next().unwrap();
    for telling in ["plt_", "mac", "hash", secret, &secret[..16]] {
        assert!(!all.to_string().contains(telling), "the list says {telling}: {all}");
    }
}

#[tokio::test]
async fn a_key_mints_only_subsets_of_itself() {
    let server = TestServer::start().await;
    let lesser = mint(&server, &server.admin, json!({ "scopes": ["admin", "read"] })).await;
    mint(&server, text(&lesser), json!({ "scopes": ["read"] })).await;
    mint(&server, text(&lesser), json!({ "scopes": ["admin", "read"] })).await;
    for scopes in [json!(["deploy"]), json!(["read", "invoke"]), json!(["operator"]), json!(["admin", "operator"])] {
        let wish = Some(json!({ "scopes": scopes }));
        let answer = server.refusal(Method::POST, KEYS, text(&lesser), wish).await;
        assert_eq!(answer, refused(403, "forbidden"), "{scopes}");
    }
    let wish = Some(json!({ "scopes": ["operator"] }));
    let answer = server.refusal(Method::POST, KEYS, &server.admin, wish).await;
    assert_eq!(answer, refused(403, "forbidden"), "no tenant's key makes an operator's");
}

#[tokio::test]
async fn a_revoked_key_ends_at_once_and_stays_listed() {
    let server = TestServer::start().await;
    let made = mint(&server, &server.admin, json!({ "scopes": ["invoke"] })).await;
    let path = format!("{KEYS}/{}", made["id"].as_str().unwrap());
    assert_eq!(server.api(Method::GET, "/whoami", text(&made), None).await.0, 200);
    assert_eq!(server.api(Method::DELETE, &path, &server.admin, None).await.0, 204);
    let after = server.refusal(Method::GET, "/whoami", text(&made), None).await;
    assert_eq!(after, refused(401, "unauthenticated"));
    let (status, answer) = server.rpc_as(text(&made), "tasks/get", json!({ "id": "x" })).await;
    assert_eq!((status, &answer["error"]["code"]), (401, &json!(-32052)));
    let all = server.get(KEYS).await;
    let listed = all["keys"].as_array().unwrap().iter().find(|key| key["id"] == made["id"]).expect("it is listed");
    assert!(listed["revokedAt"].is_string(), "{listed}");
    let again = server.refusal(Method::DELETE, &path, &server.admin, None).await;
    assert_eq!(again, refused(404, "not_found"));
}

#[tokio::test]
async fn a_key_ends_when_its_time_is_up() {
    let server = TestServer::start().await;
    let expiry = OffsetDateTime::now_utc() + Duration::from_millis(1_500);
    let wish = json!({ "scopes": ["read"], "expiresAt": expiry.format(&Rfc3339).unwrap() });
    let made = mint(&server, &server.admin, wish).await;
    assert!(made["expiresAt"].is_string(), "{made}");
    let mut seen = Vec::new();
    // Until it happens; a key that never ends runs into the time-out.
    let ends = tokio::time::timeout(Duration::from_secs(10), async {
        loop {
            let status = server.api(Method::GET, "/tenants/acme", text(&made), None).await.0;
            seen.push(status);
            if status == 401 {
                break OffsetDateTime::now_utc();
            }
        }
    });
    let ended = ends.await.expect("the key ends");
    assert!(ended >= expiry && seen[0] == 200, "{seen:?}");
}

#[tokio::test]
async fn a_wish_for_a_key_is_read_strictly() {
    let server = TestServer::start().await;
    let long = "x".repeat(101);
    let wishes = [
        json!({}),
        json!({ "scopes": [] }),
        json!({ "scopes": ["root"] }),
        json!({ "scopes": "read" }),
        json!({ "scopes": ["read"], "label": long }),
        json!({ "scopes": ["read"], "label": 3 }),
        json!({ "scopes": ["read"], "label": "a\u{0}b" }),
        json!({ "scopes": ["read"], "expiresAt": "tomorrow" }),
        json!({ "scopes": ["read"], "expiresAt": 1_900_000_000 }),
        json!({ "scopes": ["read"], "tenant": "other" }),
        json!(["read"]),
        json!([["read"], "label"]),
    ];
    for wish in wishes {
        let answer = server.refusal(Method::POST, KEYS, &server.admin, Some(wish.clone())).await;
        assert_eq!(answer, refused(400, "invalid"), "{wish}");
    }
    mint(&server, &server.admin, json!({ "scopes": ["read"], "label": "é".repeat(100) })).await;
}

#[tokio::test]
async fn no_error_repeats_a_key() {
    let server = TestServer::start().await;
    let made = mint(&server, &server.admin, json!({ "scopes": ["read"] })).await;
    let key = text(&made);
    let secret = &key.rsplit('_').next().unwrap()[..12];
    let changed = format!("{}{}", &key[..key.len() - 1], if key.ends_with('a') { 'b' } else { 'a' });
    let answers = [
        // The whole key where only its id belongs.
        server.api(Method::DELETE, &format!("{KEYS}/{key}"), &server.admin, None).await,
        server.api(Method::GET, "/whoami", &changed, None).await,
        server.api(Method::GET, &format!("/tenants/acme/tasks/{key}"), &server.admin, None).await,
        server.api(Method::GET, &format!("/whoami?key={key}"), "", None).await,
        server.api(Method::POST, "/tenants", key, Some(json!({ "slug": "other" }))).await,
        server.api(Method::POST, KEYS, key, Some(json!({ "scopes": ["read"] }))).await,
    ];
    for (status, body) in answers {
        assert!((400..500).contains(&status), "{status} {body}");
        assert!(!body.to_string().contains(secret), "{body}");
    }
}

#[tokio::test]
async fn all_bad_keys_get_one_answer() {
    let server = TestServer::start().await;
    let made = mint(&server, &server.admin, json!({ "scopes": ["read"] })).await;
    let revoked = mint(&server, &server.admin, json!({ "scopes": ["read"] })).await;
    let past = json!({ "scopes": ["read"], "expiresAt": "2020-01-01T00:00:00Z" });
    let (_, expired) = server.api(Method::POST, KEYS, &server.admin, Some(past)).await;
    let path = format!("{KEYS}/{}", revoked["id"].as_str().unwrap());
    server.api(Method::DELETE, &path, &server.admin, None).await;
    let other = server.other_tenant("other").await;
    let unknown = pleat_domain::key::ApiKey::from_entropy(&[9; 64]).reveal();
    let good = text(&made);
    let headers = [
        format!("Bearer {}", text(&revoked)),
        format!("Bearer {}", expired["key"].as_str().unwrap_or("plt_")),
        format!("Bearer {other}"),
        format!("Bearer {unknown}"),
        format!("Bearer {}", good.replace("plt_", "plt-")),
        format!("Bearer {}x", good),
        format!("Basic {good}"),
        format!("Bearer{good}"),
        good.to_owned(),
        "Bearer ".to_owned(),
        "Bearer plt_".to_owned(),
        format!("Bearer {good}, Bearer {good}"),
    ];
    let url = format!("{}/api/v1/tenants/acme/functions", server.url);
    let mut answers = std::collections::BTreeSet::new();
    for header in headers {
        let response = server.client.get(&url).header("authorization", &header).send().await.unwrap();
        assert_eq!(response.status(), 401, "{header}");
        assert_eq!(response.headers()["www-authenticate"], "Bearer");
        answers.insert(response.text().await.unwrap());
    }
    let twice = server.client.get(&url).bearer_auth(good).header("authorization", "Bearer x").send().await.unwrap();
    answers.insert(twice.text().await.unwrap());
    assert_eq!(answers.len(), 1, "{answers:?}");
    let lower = server.client.get(&url).header("authorization", format!("bearer {good}")).send().await.unwrap();
    assert_eq!(lower.status(), 200, "the scheme has no case");
}

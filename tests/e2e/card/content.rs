//! What is on the card for everybody.

use serde_json::json;

use super::{PATHS, card, deploy, skills};
use crate::harness::{TestServer, read};

#[tokio::test]
async fn unlisted_skills_are_not_on_it_and_keys_are_asked_for_where_needed() {
    let server = TestServer::start().await;
    deploy(&server, "hidden", "unlisted", json!({ "description": "secret" })).await;
    deploy(&server, "open", "public", json!({ "description": "d" })).await;
    let open = card(&server).await;
    assert_eq!(skills(&open), [("open", "d")]);
    assert!(open.get("authentication").is_none(), "{open}");
    let url = format!("{}{}", server.tenant_url(), PATHS[1]);
    for key in [&server.invoke, &server.admin] {
        let (_, with_key) = read(server.client.get(&url).bearer_auth(key).send().await.unwrap()).await;
        assert_eq!(with_key, open, "the card is one for all");
    }
    deploy(&server, "closed", "listed", json!({ "description": "d" })).await;
    let closed = card(&server).await;
    assert_eq!(closed["authentication"], json!({ "schemes": ["bearer"] }));
    assert_eq!(skills(&closed), [("closed", "d"), ("open", "d")]);
}

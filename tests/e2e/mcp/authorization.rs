//! Who is turned away learns how to get in; who is let in sees what is its own.

use reqwest::Response;
use serde_json::{Value, json};

use super::{Modern, initialize_params};
use crate::harness::{TestServer, fixture, read};

fn challenge(response: &Response) -> String {
    response.headers().get("www-authenticate").map(|value| value.to_str().unwrap().to_owned()).unwrap_or_default()
}

async fn initialize(server: &TestServer, key: &str) -> Response {
    let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": initialize_params("2025-11-25", json!({})) });
    let mut request = server.client.post(format!("{}/mcp", server.tenant_url())).json(&body);
    if !key.is_empty() {
        request = request.bearer_auth(key);
    }
    request.send().await.unwrap()
}

#[tokio::test]
async fn a_door_without_anything_public_asks_for_a_token_and_says_where_to_get_one() {
    let server = TestServer::start().await;
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=echo").await;
    let metadata = format!("{}/.well-known/oauth-protected-resource/t/acme/mcp", server.url);
    let nobody = initialize(&server, "").await;
    assert_eq!(nobody.status(), 401);
    assert_eq!(challenge(&nobody), format!("Bearer resource_metadata=\"{metadata}\", scope=\"invoke\""));
    let wrong = initialize(&server, "plt_nonsense").await;
    assert_eq!(wrong.status(), 401);
    assert!(challenge(&wrong).contains("error=\"invalid_token\""));
    let narrow = initialize(&server, &server.read).await;
    assert_eq!(narrow.status(), 403);
    let wanted = format!("Bearer resource_metadata=\"{metadata}\", scope=\"invoke\", error=\"insufficient_scope\"");
    assert_eq!(challenge(&narrow), wanted);
    assert_eq!(initialize(&server, &server.invoke).await.status(), 200);
    let (status, body) = read(server.client.get(&metadata).send().await.unwrap()).await;
    assert_eq!(status, 200);
    assert_eq!(body["resource"], format!("{}/mcp", server.tenant_url()));
    assert_eq!(body["bearer_methods_supported"], json!(["header"]));
}

#[tokio::test]
async fn the_metadata_is_at_both_places_and_names_the_issuers() {
    let server = TestServer::start().await;
    let issuer = json!({ "issuer": "https://id.example", "scopes": ["invoke"], "jwks": { "keys": [
        { "kty": "OKP", "crv": "Ed25519", "kid": "one", "x": "11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo" }] } });
    let (status, _) = server.api(reqwest::Method::POST, "/tenants/acme/issuers", &server.admin, Some(issuer)).await;
    assert_eq!(status, 201);
    let get = async |url: String| -> (u16, Value) { read(server.client.get(url).send().await.unwrap()).await };
    let by_path = get(format!("{}/.well-known/oauth-protected-resource/t/acme/mcp", server.url)).await;
    let below = get(format!("{}/.well-known/oauth-protected-resource", server.tenant_url())).await;
    assert_eq!(by_path, below);
    assert_eq!(by_path.1["authorization_servers"], json!(["https://id.example"]));
    let port = server.url.rsplit(':').next().unwrap();
    let request = server.client.get(format!("{}/.well-known/oauth-protected-resource/mcp", server.url));
    let (_, at_subdomain) = read(request.header("host", format!("acme.localhost:{port}")).send().await.unwrap()).await;
    assert_eq!(at_subdomain["resource"], format!("http://acme.localhost:{port}/mcp"));
    let (status, _) = get(format!("{}/.well-known/oauth-protected-resource/t/nobody/mcp", server.url)).await;
    assert_eq!(status, 404);
}

#[tokio::test]
async fn a_tool_that_needs_a_key_shows_the_way_to_one() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    server.deploy("echo.wasm", fixture("echo.wasm"), "&name=private").await;
    let client = Modern::new(&server, json!({}));
    let response = client.post("tools/call", json!({ "name": "private" })).send().await.unwrap();
    assert_eq!(response.status(), 401);
    assert!(challenge(&response).contains("resource_metadata="));
    let keyed = client.with_key(&server.invoke);
    assert_eq!(
        keyed.result("tools/call", json!({ "name": "private", "arguments": {} })).await["content"][0]["text"],
        "{}"
    );
}

#[tokio::test]
async fn pages_of_strange_origins_are_turned_away() {
    let allow =
        |config: &mut pleat_gateway::GatewayConfig| config.cors.tenants = vec!["https://console.example".to_owned()];
    let server = TestServer::start_with(|_| {}, allow).await;
    server.deploy_echo().await;
    let client = Modern::new(&server, json!({}));
    let port = server.url.rsplit(':').next().unwrap();
    let own = format!("http://127.0.0.1:{port}");
    for (origin, status) in [
        ("https://evil.example", 403),
        ("http://evil.localhost.example", 403),
        ("null", 403),
        ("https://console.example", 200),
        ("http://localhost:3000", 200),
        (own.as_str(), 200),
    ] {
        let request = client.post("tools/list", json!({})).header("origin", origin);
        assert_eq!(request.send().await.unwrap().status(), status, "{origin}");
    }
}

//! Pages of other origins: none by default, those that the operator names, and never with credentials.

use http::HeaderMap;
use pleat_gateway::CorsConfig;
use reqwest::Method;

use crate::harness::TestServer;

const CONSOLE: &str = "https://console.example.com";
const OTHER: &str = "https://evil.example";

async fn preflight(server: &TestServer, path: &str, origin: &str) -> HeaderMap {
    let request = server.client.request(Method::OPTIONS, format!("{}{path}", server.url));
    let request = request.header("origin", origin).header("access-control-request-method", "POST");
    let headers = "authorization,content-type,mcp-param-region";
    let answer = request.header("access-control-request-headers", headers).send().await.unwrap();
    answer.headers().clone()
}

fn allowed(headers: &HeaderMap) -> Option<&str> {
    assert!(!headers.contains_key("access-control-allow-credentials"), "{headers:?}");
    headers.get("access-control-allow-origin").map(|value| value.to_str().unwrap())
}

const API: &str = "/api/v1/tenants";
const DOOR: &str = "/t/acme/_a2a/";
const CARD: &str = "/t/acme/.well-known/agent-card.json";

#[tokio::test]
async fn no_origin_is_allowed_by_default() {
    let server = TestServer::start().await;
    for path in [API, DOOR, CARD] {
        assert_eq!(allowed(&preflight(&server, path, CONSOLE).await), None, "{path}");
    }
}

#[tokio::test]
async fn each_site_allows_the_origins_that_are_named_for_it() {
    let cors = CorsConfig { control: vec![CONSOLE.to_owned()], tenants: vec!["*".to_owned()] };
    let server = TestServer::start_with(|_| {}, |gateway| gateway.cors = cors).await;
    let headers = preflight(&server, API, CONSOLE).await;
    assert_eq!(allowed(&headers), Some(CONSOLE));
    let may = |name: &str| headers[name].to_str().unwrap().to_ascii_lowercase();
    for sent in ["authorization", "mcp-param-region"] {
        assert!(may("access-control-allow-headers").contains(sent), "{headers:?}");
    }
    assert!(may("access-control-allow-methods").contains("delete"), "{headers:?}");
    assert_eq!(allowed(&preflight(&server, API, OTHER).await), None);
    for path in [DOOR, CARD] {
        assert_eq!(allowed(&preflight(&server, path, OTHER).await), Some("*"), "{path}");
    }
    // The answer itself carries it too, and shows the page what it needs.
    let card = server.client.get(format!("{}{CARD}", server.url)).header("origin", OTHER).send().await.unwrap();
    assert_eq!((card.status().as_u16(), allowed(card.headers())), (200, Some("*")));
    let shown = card.headers()["access-control-expose-headers"].to_str().unwrap().to_ascii_lowercase();
    assert!(shown.contains("pleat-task-id"), "{shown}");
}

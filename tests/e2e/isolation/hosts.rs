//! The tenant is decided by the one host of a request, and by nothing that only looks like it.

use super::raw::{get, send};
use super::{Neighbours, TestServer};

const CARD: &str = "/.well-known/agent-card.json";

#[tokio::test]
async fn a_host_is_read_without_case_port_and_final_dot() {
    let server = TestServer::start().await;
    for host in ["acme.localhost", "ACME.LocalHost", "acme.localhost:8080", "acme.localhost.", "acme.localhost.:80"] {
        let (status, text) = get(&server, host, "/").await;
        assert!(status == 200 && text.contains(r#""agent":"acme""#), "{host}: {text}");
    }
    for host in ["localhost", "LOCALHOST:80", "localhost.", "127.0.0.1", "127.0.0.1:9", "[::1]", "[::1]:80"] {
        let (status, text) = get(&server, host, "/").await;
        assert!(status == 200 && text.contains(r#""name":"pleat""#), "{host}: {text}");
    }
}

#[tokio::test]
async fn a_host_that_is_not_ours_gets_no_site() {
    let server = TestServer::start().await;
    let foreign = [
        "evil.example",
        "acme.localhost.evil",
        "acme.localhost.evil:80",
        "localhost.evil",
        "acmelocalhost",
        "acme.localhost..",
        "acme%2elocalhost",
        "acme.localhost:80:80",
        "acme.localhost:http",
        "127.0.0.1.evil",
        "::1",
        "acme",
        "acme.localhost\u{ff0e}",
    ];
    for host in foreign {
        for target in ["/", CARD, "/api/v1/whoami", "/t/acme/", "/_a2a/"] {
            let (status, text) = get(&server, host, target).await;
            assert!(matches!(status, 400 | 421), "{host} {target}: {text}");
            assert!(!text.contains("agent"), "{host} {target}: {text}");
        }
    }
    assert_eq!(get(&server, "evil.example", "/").await.0, 421);
    assert_eq!(get(&server, "evil.example", "/healthz").await.0, 200, "a probe may use any name");
}

#[tokio::test]
async fn a_subdomain_that_is_no_tenant_is_no_tenant() {
    let server = TestServer::start().await;
    let hosts = [
        "nobody.localhost",
        "x.acme.localhost",
        "acme.acme.localhost",
        ".localhost",
        "-acme.localhost",
        "ac_me.localhost",
        "acme-.localhost",
        "acme.localhost, other.localhost",
        "other.localhost/acme.localhost",
        "acme.localhost acme.localhost",
        "acme.localhost#.localhost",
    ];
    for host in hosts {
        let (status, text) = get(&server, host, CARD).await;
        assert!(matches!(status, 400 | 404), "{host}: {text}");
    }
}

#[tokio::test]
async fn two_opinions_about_the_host_are_refused() {
    let server = TestServer::start().await;
    let request = |lines: &[&str]| lines.iter().map(|line| (*line).to_owned()).collect::<Vec<_>>();
    let attempts = [
        request(&["GET / HTTP/1.1", "Host: acme.localhost", "Host: other.localhost"]),
        request(&["GET / HTTP/1.1", "Host: acme.localhost", "Host: acme.localhost"]),
        request(&["GET / HTTP/1.1", "Host: acme.localhost", "host: localhost"]),
        request(&["GET / HTTP/1.1", "Accept: */*"]),
        request(&["GET / HTTP/1.0"]),
        request(&["GET http://other.localhost/ HTTP/1.1", "Host: acme.localhost"]),
        request(&["GET http://other.localhost/ HTTP/1.1", "Host: localhost"]),
        request(&["GET http://acme.localhost:81/ HTTP/1.1", "Host: acme.localhost:80"]),
        request(&["GET / HTTP/1.1", "Host: user@acme.localhost"]),
        request(&["GET / HTTP/1.1", "Host: acme.localhost@evil.example"]),
        request(&["GET http://user@acme.localhost/ HTTP/1.1", "Host: user@acme.localhost"]),
        request(&["GET http://evil@acme.localhost/ HTTP/1.1", "Host: acme.localhost"]),
        request(&["GET http://acme.localhost/ HTTP/1.1", "Host: acme.localhost", "Host: acme.localhost"]),
    ];
    for lines in attempts {
        let lines: Vec<&str> = lines.iter().map(String::as_str).collect();
        let (status, text) = send(&server, &lines).await;
        assert_eq!(status, 400, "{lines:?}: {text}");
    }
    let (status, text) = send(&server, &["GET http://acme.localhost/ HTTP/1.1", "Host: ACME.localhost"]).await;
    assert!(status == 200 && text.contains(r#""agent":"acme""#), "{text}");
}

#[tokio::test]
async fn an_http2_authority_and_a_host_header_must_agree() {
    let server = TestServer::start().await;
    let client = reqwest::Client::builder().http2_prior_knowledge().build().unwrap();
    let plain = client.get(format!("{}/t/acme/", server.url)).send().await.unwrap();
    assert_eq!((plain.version(), plain.status().as_u16()), (reqwest::Version::HTTP_2, 200));
    let two = client.get(format!("{}/", server.url)).header("host", "acme.localhost").send().await.unwrap();
    let (status, text) = (two.status(), two.text().await.unwrap());
    assert_eq!(status, 400, "{text}");
}

#[tokio::test]
async fn forwarding_headers_do_not_move_a_request() {
    let Neighbours { server, .. } = Neighbours::start().await;
    let headers = [
        "X-Forwarded-Host: other.localhost",
        "Forwarded: host=other.localhost;proto=https",
        "X-Host: other.localhost",
        "X-Original-Host: other.localhost",
        "X-Forwarded-Server: other.localhost",
        "X-Original-URL: /t/other/",
        "X-Rewrite-URL: /t/other/",
        "X-Forwarded-Prefix: /t/other",
        "X-Forwarded-Proto: https",
        "X-HTTP-Method-Override: DELETE",
    ];
    let (_, plain) = send(&server, &[&format!("GET {CARD} HTTP/1.1"), "Host: acme.localhost:8080"]).await;
    let body = |text: &str| text.split_once("\r\n\r\n").unwrap().1.to_owned();
    assert!(body(&plain).contains("http://acme.localhost:8080"), "{plain}");
    for header in headers {
        let (status, text) =
            send(&server, &[&format!("GET {CARD} HTTP/1.1"), "Host: acme.localhost:8080", header]).await;
        assert_eq!((status, body(&text)), (200, body(&plain)), "{header}");
    }
}

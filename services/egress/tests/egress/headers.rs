//! Headers: what a function may say, what it may not, and what the platform says for it.

use pleat_egress::{EgressError, OutboundRequest};

use crate::support::{self, Server, answer, refusal, send};

fn with(url: &str, headers: &[(&str, &[u8])]) -> OutboundRequest {
    let headers = headers.iter().map(|(name, value)| ((*name).to_owned(), value.to_vec())).collect();
    OutboundRequest { headers, ..OutboundRequest::get(url) }
}

#[tokio::test]
async fn the_tenant_is_stamped_on_every_request() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    send(&support::egress(), with(&server.url("/"), &[("X-Custom", b"1")])).await.ok().unwrap();
    let request = server.requests().pop().unwrap();
    for line in ["x-pleat-tenant: demo", "x-custom: 1", "accept-encoding: gzip, deflate", "user-agent: pleat/"] {
        assert!(request.contains(line), "{line}: {request}");
    }
}

#[tokio::test]
async fn what_belongs_to_the_connection_is_left_out() {
    let server = Server::start(|_| answer("200 OK", "keep-alive: 5\r\nx-kept: 1\r\n", b"body")).await;
    let sent: Vec<(&str, &[u8])> = vec![
        ("Host", b"evil.example"),
        ("Content-Length", b"5"),
        ("Transfer-Encoding", b"chunked"),
        ("Connection", b"upgrade"),
        ("Upgrade", b"websocket"),
        ("TE", b"trailers"),
        ("Proxy-Authorization", b"secret"),
        ("Expect", b"100-continue"),
        ("Accept-Encoding", b"br"),
    ];
    let response = send(&support::egress(), with(&server.url("/"), &sent)).await.ok().unwrap();
    let request = server.requests().pop().unwrap().to_ascii_lowercase();
    for gone in ["evil", "content-length", "transfer-encoding", "upgrade", "te:", "secret", "expect", "br\r"] {
        assert!(!request.contains(gone), "{gone}: {request}");
    }
    assert!(request.contains(&format!("host: public.test:{}", server.address.port())));
    let names: Vec<&str> = response.headers.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["x-kept", "content-length"]);
}

#[tokio::test]
async fn the_platforms_headers_cannot_be_forged() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    for name in ["x-pleat-tenant", "X-Pleat-Anything", "X-Forwarded-For", "x-forwarded-host", "Forwarded"] {
        let error = refusal(&support::egress(), with(&server.url("/"), &[(name, b"other")])).await;
        let said = format!("the header `{name}` is the platform's to set; leave it out");
        assert_eq!(error, EgressError::InvalidRequest(said));
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn nothing_can_be_injected_through_a_header() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    let bad_names =
        ["", "a b", "a:b", "a\r\nb", "a\nb", "a\0b", "ä", "a\tb", "a(b", "host:", " host", "a\r\n\r\nGET / HTTP/1.1"];
    for name in bad_names {
        let error = refusal(&support::egress(), with(&server.url("/"), &[(name, b"v")])).await;
        assert!(matches!(error, EgressError::InvalidRequest(_)), "{name:?}: {error:?}");
    }
    for value in ["a\r\nb: c", "a\nb", "a\rb", "a\0b", "a\r\n\r\nGET /", "\x7f", "\x1b[2J", "\u{1}"] {
        let error = refusal(&support::egress(), with(&server.url("/"), &[("x-a", value.as_bytes())])).await;
        assert!(matches!(error, EgressError::InvalidRequest(_)), "{value:?}: {error:?}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn headers_are_counted() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    let egress = support::egress();
    let hundred: Vec<(&str, &[u8])> = vec![("x-a", b"1"); 100];
    assert!(send(&egress, with(&server.url("/"), &hundred)).await.is_ok());
    let large = vec![b'a'; 32 << 10];
    let beyond = [[&hundred[..], &[("x-a", &b"1"[..])]].concat(), vec![("x-a", &large[..])]];
    for headers in beyond {
        let error = refusal(&egress, with(&server.url("/"), &headers)).await;
        let said = "a request has at most 100 headers of 32768 bytes in all".to_owned();
        assert_eq!(error, EgressError::InvalidRequest(said));
    }
}

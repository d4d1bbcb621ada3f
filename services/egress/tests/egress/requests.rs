//! Requests themselves: methods, sizes, time and how many at once.

use std::sync::Arc;
use std::time::Duration;

use pleat_egress::{Egress, EgressConfig, EgressError, HostGrants, OutboundRequest};
use tokio::sync::Semaphore;

use crate::support::{self, Server, answer, refusal, send};

#[tokio::test]
async fn method_and_body_arrive_and_the_answer_comes_back() {
    let server = Server::start(|_| answer("418 Short and stout", "x-a: 1\r\nx-a: 2\r\n", b"tea")).await;
    let request = OutboundRequest {
        method: "PATCH".to_owned(),
        body: Some("leaves".into()),
        ..OutboundRequest::get(server.url("/pot?size=2#handle"))
    };
    let response = send(&support::egress(), request).await.ok().unwrap();
    assert_eq!((response.status, response.url, &*response.body), (418, server.url("/pot?size=2"), &b"tea"[..]));
    assert_eq!(response.headers.iter().filter(|(name, _)| name == "x-a").count(), 2);
    let seen = server.requests().pop().unwrap();
    assert!(seen.starts_with("PATCH /pot?size=2 HTTP/1.1\r\n") && seen.ends_with("leaves"), "{seen}");
}

#[tokio::test]
async fn requests_that_cannot_be_sent_are_refused_with_the_reason() {
    let egress = support::egress();
    let get = OutboundRequest::get;
    let large = Some(vec![0; (4 << 20) + 1].into());
    let long = format!("https://example.com/{}", "a".repeat(8 << 10));
    for (request, said) in [
        (
            OutboundRequest { method: "CONNECT".to_owned(), ..get("https://example.com/") },
            "the method CONNECT cannot be used",
        ),
        (
            OutboundRequest { method: "TRACE".to_owned(), ..get("https://example.com/") },
            "the method TRACE cannot be used",
        ),
        (OutboundRequest { method: "GET /".to_owned(), ..get("https://example.com/") }, "the method is not valid"),
        (
            OutboundRequest { body: large, ..get("https://example.com/") },
            "a request has a body of at most 4194304 bytes",
        ),
        (get(&long), "a URL has at most 8192 bytes"),
        (get("example.com"), "the URL is not valid: relative URL without a base"),
        (get("file:///etc/passwd"), "only `https://` URLs can be fetched"),
        (get("ftp://example.com/"), "only `https://` URLs can be fetched"),
        (get("https://a..b/"), "the host of the URL is not valid"),
        (
            get("https://me:pw@example.com/"),
            "a URL must not carry a user name or password; send an `authorization` header",
        ),
    ] {
        let url = request.url.clone();
        assert_eq!(refusal(&egress, request).await, EgressError::InvalidRequest(said.to_owned()), "{url:.40}");
    }
}

#[tokio::test]
async fn an_answer_that_does_not_come_is_given_up() {
    let server = Server::talk(|stream, _| async move {
        std::future::pending::<()>().await;
        drop(stream);
    })
    .await;
    let egress = Egress::new(EgressConfig { total_timeout: Duration::from_millis(300), ..support::config() }).unwrap();
    assert_eq!(refusal(&egress, OutboundRequest::get(server.url("/"))).await, EgressError::Timeout);
    // A function may wait less, and not more.
    let slow = support::egress();
    let less = OutboundRequest { timeout: Some(Duration::from_millis(50)), ..OutboundRequest::get(server.url("/")) };
    assert_eq!(refusal(&slow, less).await, EgressError::Timeout);
    let more = OutboundRequest { timeout: Some(Duration::from_secs(3600)), ..OutboundRequest::get(server.url("/")) };
    assert_eq!(refusal(&egress, more).await, EgressError::Timeout);
}

#[tokio::test]
async fn nobody_at_home_is_said() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    drop(listener);
    let error = refusal(&support::egress(), OutboundRequest::get(format!("http://public.test:{port}/"))).await;
    assert_eq!(error, EgressError::Failed(format!("`public.test` could not be connected to on port {port}")));
}

#[tokio::test]
async fn one_tenant_has_so_many_requests_at_once_and_others_theirs() {
    let gate = Arc::new(Semaphore::new(0));
    let (arrived, mut arrivals) = tokio::sync::mpsc::channel(8);
    let held = Arc::clone(&gate);
    let server = Server::talk(move |mut stream, _| {
        let (gate, arrived) = (Arc::clone(&held), arrived.clone());
        async move {
            arrived.send(()).await.unwrap();
            gate.acquire().await.unwrap().forget();
            tokio::io::AsyncWriteExt::write_all(&mut stream, &answer("200 OK", "", b"")).await.unwrap();
        }
    })
    .await;
    let egress = Egress::new(EgressConfig { per_tenant_concurrency: 2, ..support::config() }).unwrap();
    let start = |tenant: &'static str| {
        let (egress, request) = (egress.clone(), OutboundRequest::get(server.url("/")));
        tokio::spawn(
            async move { egress.send(request, &HostGrants::any(), tenant).await.map(|response| response.status) },
        )
    };
    let first = [start("demo"), start("demo")];
    for _ in 0..2 {
        arrivals.recv().await.unwrap();
    }
    assert_eq!(start("demo").await.unwrap(), Err(EgressError::Busy));
    let other = start("other");
    arrivals.recv().await.unwrap();
    gate.add_permits(3);
    for request in first.into_iter().chain([other]) {
        assert_eq!(request.await.unwrap(), Ok(200));
    }
    gate.add_permits(1);
    assert_eq!(start("demo").await.unwrap(), Ok(200));
}

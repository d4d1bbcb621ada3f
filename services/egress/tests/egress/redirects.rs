//! Redirects: each is a request of its own before the guard, and takes no credentials elsewhere.

use pleat_egress::{Egress, EgressConfig, EgressError, HostGrants, OutboundRequest};

use crate::support::{self, Server, answer, redirect, refusal, send};

#[tokio::test]
async fn a_redirect_to_a_private_address_is_refused() {
    let canary = Server::start(|_| answer("200 OK", "", b"secret")).await;
    let port = canary.address.port();
    for status in [301, 302, 303, 307, 308] {
        for location in [
            format!("http://127.0.0.1:{port}/"),
            format!("//127.0.0.1:{port}/"),
            format!("http://2130706433:{port}/"),
            format!("http://[::1]:{port}/"),
            format!("http://[::ffff:127.0.0.1]:{port}/"),
            format!("http://inside.test:{port}/"),
            "http://169.254.169.254/latest/meta-data/".to_owned(),
        ] {
            let said = location.clone();
            let server = Server::start(move |_| redirect(status, &said)).await;
            let error = refusal(&support::egress(), OutboundRequest::get(server.url("/"))).await;
            assert_eq!(error, EgressError::DeniedAddress, "{status} {location}");
        }
    }
    assert!(canary.requests().is_empty());
}

#[tokio::test]
async fn a_redirect_that_is_no_url_to_fetch_is_refused() {
    for location in ["file:///etc/passwd", "ftp://public.test/", "http://me@public.test/", "data:text/plain,x"] {
        let server = Server::start(move |_| redirect(302, location)).await;
        let error = refusal(&support::egress(), OutboundRequest::get(server.url("/"))).await;
        assert!(matches!(error, EgressError::InvalidRequest(_)), "{location}: {error:?}");
    }
    let server = Server::start(|_| redirect(302, "http://[")).await;
    let error = refusal(&support::egress(), OutboundRequest::get(server.url("/"))).await;
    assert_eq!(error, EgressError::Failed("the redirect leads to no valid URL".to_owned()));
}

#[tokio::test]
async fn a_redirect_leads_only_to_granted_hosts() {
    let config = EgressConfig { allow: vec!["*.test:*".parse().unwrap()], ..support::config() };
    let egress = Egress::new(config).unwrap();
    let server = Server::start(|request| match request.contains("host: public.test") {
        true => redirect(302, "http://other.test/"),
        false => answer("200 OK", "", b""),
    })
    .await;
    let grants = HostGrants::parse(["public.test"]).unwrap();
    let result = egress.send(OutboundRequest::get(server.url("/")), &grants, "demo").await;
    assert_eq!(result.err(), Some(EgressError::NotGranted("other.test".to_owned())));
}

#[tokio::test]
async fn redirects_end_after_three_and_loops_with_them() {
    let server = Server::start(|request| {
        let path = request.split(' ').nth(1).unwrap_or_default();
        match path.trim_start_matches('/').parse::<u32>() {
            Ok(0) => answer("200 OK", "", b"there"),
            Ok(left) => redirect(302, &format!("/{}", left - 1)),
            Err(_) => redirect(302, "/loop"),
        }
    })
    .await;
    let egress = support::egress();
    let arrived = send(&egress, OutboundRequest::get(server.url("/3"))).await.ok().unwrap();
    assert_eq!((arrived.status, arrived.url, &*arrived.body), (200, server.url("/0"), &b"there"[..]));
    for path in ["/4", "/loop"] {
        let error = refusal(&egress, OutboundRequest::get(server.url(path))).await;
        assert_eq!(error, EgressError::Failed("there were more than 3 redirects".to_owned()));
    }
}

#[tokio::test]
async fn a_redirect_is_an_answer_to_who_does_not_follow() {
    let server = Server::start(|_| redirect(302, "http://127.0.0.1/")).await;
    let request = OutboundRequest { follow_redirects: false, ..OutboundRequest::get(server.url("/")) };
    let response = send(&support::egress(), request).await.ok().unwrap();
    assert_eq!(response.status, 302);
    assert!(response.headers.contains(&("location".to_owned(), b"http://127.0.0.1/".to_vec())));
}

/// A `POST` with credentials, redirected with this status to this host; what arrives there.
async fn arriving(status: u16, host: &str) -> String {
    let config = EgressConfig { allow: vec!["*.test:*".parse().unwrap()], ..support::config() };
    let egress = Egress::new(config).unwrap();
    let target = Server::start(|request| match request.contains("/first") {
        true => redirect(307, "/second"),
        false => answer("200 OK", "", b""),
    })
    .await;
    let location = target.named(host, "/second");
    let server = match host {
        // The same origin: the target itself sends on.
        "public.test" => target.url("/first"),
        _ => Server::start(move |_| redirect(status, &location)).await.url("/"),
    };
    let credentials = ["authorization", "cookie", "proxy-authorization", "x-api-key"];
    let mut headers: Vec<(String, Vec<u8>)> =
        credentials.iter().map(|name| ((*name).to_owned(), b"secret".to_vec())).collect();
    headers.push(("content-type".to_owned(), b"text/plain".to_vec()));
    headers.push(("accept".to_owned(), b"text/*".to_vec()));
    let body = Some("the body".into());
    let request = OutboundRequest { method: "POST".to_owned(), headers, body, ..OutboundRequest::get(server) };
    assert_eq!(send(&egress, request).await.ok().unwrap().status, 200);
    target.requests().pop().unwrap()
}

#[tokio::test]
async fn credentials_do_not_follow_to_another_origin() {
    let arrived = arriving(307, "other.test").await;
    assert!(!arrived.contains("secret"), "{arrived}");
    assert!(arrived.contains("accept: text/*") && arrived.contains("x-pleat-tenant: demo"), "{arrived}");
    let arrived = arriving(307, "public.test").await;
    assert_eq!(arrived.matches("secret").count(), 3, "all but the proxy's: {arrived}");
}

#[tokio::test]
async fn a_post_becomes_a_get_where_browsers_make_it_one() {
    for status in [301, 302, 303] {
        let arrived = arriving(status, "other.test").await;
        assert!(arrived.starts_with("GET ") && !arrived.contains("the body"), "{status}: {arrived}");
        assert!(!arrived.contains("content-type"), "{status}: {arrived}");
    }
    for status in [307, 308] {
        let arrived = arriving(status, "other.test").await;
        assert!(arrived.starts_with("POST ") && arrived.ends_with("the body"), "{status}: {arrived}");
    }
}

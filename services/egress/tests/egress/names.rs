//! Names: what they resolve to decides, all of it, and once.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pleat_egress::{Egress, EgressConfig, EgressError, HostGrants, OutboundRequest, Resolver};

use crate::support::{self, Server, answer, refusal, send};

/// A name that resolves to these.
fn resolving(addresses: &[&str]) -> Egress {
    let addresses: Vec<IpAddr> = addresses.iter().map(|text| text.parse().unwrap()).collect();
    let resolver = Resolver::Table(Arc::new(move |_| addresses.clone()));
    Egress::new(EgressConfig { plain_http: true, resolver, ..EgressConfig::default() }).unwrap()
}

#[tokio::test]
async fn one_private_address_among_public_ones_spoils_the_name() {
    for addresses in [
        &["127.0.0.1"][..],
        &["93.184.216.34", "127.0.0.1"],
        &["127.0.0.1", "93.184.216.34"],
        &["93.184.216.34", "2606:2800::1", "::1"],
        &["fd00::1"],
        &["::ffff:10.0.0.1"],
        &["64:ff9b::a00:1"],
    ] {
        let error = refusal(&resolving(addresses), OutboundRequest::get("http://mixed.example/")).await;
        assert_eq!(error, EgressError::DeniedAddress, "{addresses:?}");
    }
}

#[tokio::test]
async fn a_private_address_after_those_that_are_tried_spoils_the_name_too() {
    let mut addresses = vec!["93.184.216.34"; 40];
    addresses.push("10.0.0.1");
    let error = refusal(&resolving(&addresses), OutboundRequest::get("http://many.example/")).await;
    assert_eq!(error, EgressError::DeniedAddress);
}

#[tokio::test]
async fn a_name_is_resolved_once_for_a_connection() {
    let server = Server::start(|_| answer("200 OK", "", b"here")).await;
    let asked = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&asked);
    // The second answer would be refused: a name that changes its mind after the check.
    let resolver = Resolver::Table(Arc::new(move |_| match count.fetch_add(1, Ordering::SeqCst) {
        0 => vec![IpAddr::from([127, 0, 0, 1])],
        _ => vec![IpAddr::from([10, 0, 0, 1])],
    }));
    let allow = vec!["127.0.0.1:*".parse().unwrap()];
    let egress = Egress::new(EgressConfig { allow, resolver, ..EgressConfig::default() }).unwrap();
    let url = server.named("rebinding.example", "/");
    assert_eq!(send(&egress, OutboundRequest::get(&url)).await.ok().unwrap().body, "here");
    assert_eq!(asked.load(Ordering::SeqCst), 1);
    assert_eq!(refusal(&egress, OutboundRequest::get(&url)).await, EgressError::DeniedAddress);
    assert_eq!(server.requests().len(), 1);
}

#[tokio::test]
async fn a_name_without_an_address_is_said_to_be_one() {
    let error = refusal(&resolving(&[]), OutboundRequest::get("https://nowhere.example/")).await;
    assert_eq!(error, EgressError::Failed("the name `nowhere.example` does not resolve".to_owned()));
}

#[tokio::test]
async fn only_granted_hosts_are_reached() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    let egress = support::egress();
    for (grant, reached) in
        [("public.test", true), ("*.test", true), ("*", true), ("other.test", false), ("*.public.test", false)]
    {
        let grants = HostGrants::parse([grant]).unwrap();
        let result = egress.send(OutboundRequest::get(server.url("/")), &grants, "demo").await;
        match reached {
            true => assert!(result.is_ok(), "{grant}"),
            false => assert_eq!(result.err(), Some(EgressError::NotGranted("public.test".to_owned())), "{grant}"),
        }
    }
    let none = egress.send(OutboundRequest::get(server.url("/")), &HostGrants::default(), "demo").await;
    assert_eq!(none.err(), Some(EgressError::NotGranted("public.test".to_owned())));
    assert_eq!(server.requests().len(), 3);
}

#[tokio::test]
async fn the_operator_can_name_the_only_hosts() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    let only = vec!["public.test".parse().unwrap()];
    let allow = vec!["127.0.0.1:*".parse().unwrap()];
    let egress = Egress::new(EgressConfig { only, allow, ..support::config() }).unwrap();
    assert!(send(&egress, OutboundRequest::get(server.url("/"))).await.is_ok());
    let error = refusal(&egress, OutboundRequest::get(server.named("other.test", "/"))).await;
    assert_eq!(error, EgressError::NotGranted("other.test".to_owned()));
}

#[tokio::test]
async fn the_platform_does_not_call_itself() {
    let server = Server::start(|_| answer("200 OK", "", b"")).await;
    let port = server.address.port();
    let own_hosts = vec!["pleat.test".to_owned(), format!("127.0.0.1:{port}")];
    let allow = vec!["127.0.0.1:*".parse().unwrap(), "pleat.test:*".parse().unwrap()];
    let egress = Egress::new(EgressConfig { own_hosts, allow, ..support::config() }).unwrap();
    // By name, by a tenant's name, by address, and by another name of that address.
    for host in
        ["pleat.test", "PLEAT.test.", "demo.pleat.test", "127.0.0.1", "2130706433", "[::ffff:127.0.0.1]", "alias.test"]
    {
        let error = refusal(&egress, OutboundRequest::get(server.named(host, "/"))).await;
        assert_eq!(error, EgressError::DeniedAddress, "{host}");
    }
    assert!(server.requests().is_empty());
}

#[tokio::test]
async fn ports_and_plain_http_are_the_operators_to_open() {
    let public = |_: &str| vec![IpAddr::from([93, 184, 216, 34])];
    let egress =
        Egress::new(EgressConfig { resolver: Resolver::Table(Arc::new(public)), ..EgressConfig::default() }).unwrap();
    for (url, said) in [
        ("http://example.com/", "`http://` is not allowed here; use `https://`"),
        ("https://example.com:22/", "port 22 cannot be used; use one of 80, 443, 8080, 8443"),
        ("https://93.184.216.34:25/", "port 25 cannot be used; use one of 80, 443, 8080, 8443"),
        ("http://93.184.216.34/", "`http://` is not allowed here; use `https://`"),
    ] {
        let error = refusal(&egress, OutboundRequest::get(url)).await;
        assert_eq!(error, EgressError::InvalidRequest(said.to_owned()), "{url}");
    }
}

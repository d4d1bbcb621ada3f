//! URLs that are only looked at: refused as they would be when they are asked for, and nobody is dialled.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use pleat_egress::{Egress, EgressConfig, EgressError, HostGrants, OutboundRequest, Resolver};
use tokio::io::AsyncWriteExt;
use tokio::net::{TcpListener, TcpStream};

use crate::disguises;
use crate::support::{self, Server, send};

async fn check(egress: &Egress, url: &str) -> Result<String, EgressError> {
    egress.check(url, &HostGrants::any()).await
}

#[tokio::test]
async fn what_would_be_refused_is_refused_without_a_connection() {
    let canary = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = canary.local_addr().unwrap().port();
    let egress = Egress::new(EgressConfig { plain_http: true, ports: vec![port], ..EgressConfig::default() }).unwrap();
    for url in disguises::all() {
        let url = url.replace("PORT", &port.to_string());
        let refused = check(&egress, &url).await;
        assert!(matches!(refused, Err(EgressError::DeniedAddress | EgressError::InvalidRequest(_))), "{url}");
    }
    let ours = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (_, heard) = canary.accept().await.unwrap();
    assert_eq!(heard.port(), ours.local_addr().unwrap().port(), "nobody came before");
}

#[tokio::test]
async fn a_name_is_judged_by_all_its_addresses_and_without_any_it_passes() {
    let resolver = Resolver::Table(Arc::new(|name| match name {
        "mixed.example" => vec![IpAddr::from([93, 184, 216, 34]), IpAddr::from([10, 0, 0, 1])],
        "public.example" => vec![IpAddr::from([93, 184, 216, 34])],
        _ => Vec::new(),
    }));
    let own_hosts = vec!["pleat.example".to_owned()];
    let egress = Egress::new(EgressConfig { resolver, own_hosts, ..EgressConfig::default() }).unwrap();
    assert_eq!(check(&egress, "https://mixed.example/hook").await, Err(EgressError::DeniedAddress));
    let own = check(&egress, "https://acme.pleat.example/_a2a/").await;
    assert_eq!(own, Err(EgressError::DeniedAddress), "the platform does not call itself");
    let shown = check(&egress, "https://PUBLIC.example:8443/secret/path?token=1").await;
    assert_eq!(shown.as_deref(), Ok("https://public.example:8443"), "nothing but the origin");
    assert_eq!(check(&egress, "https://nowhere.example/").await.as_deref(), Ok("https://nowhere.example"));
    assert!(matches!(check(&egress, "http://public.example/").await, Err(EgressError::InvalidRequest(_))));
}

#[tokio::test]
async fn where_only_the_head_counts_a_body_is_not_waited_for() {
    let server = Server::talk(|mut stream, _| async move {
        let head = b"HTTP/1.1 202 Accepted\r\nx-a: 1\r\ncontent-length: 1000000\r\n\r\n";
        stream.write_all(head).await.unwrap();
        // Says no more, and does not go away.
        std::future::pending::<()>().await;
    })
    .await;
    let request = OutboundRequest { head_only: true, ..OutboundRequest::get(server.url("/")) };
    let answered = tokio::time::timeout(Duration::from_secs(10), send(&support::egress(), request)).await;
    let response = answered.expect("in time").expect("an answer");
    assert_eq!((response.status, response.body.len()), (202, 0));
    assert!(response.headers.iter().any(|(name, _)| name == "x-a"));
}

//! No disguise of a private address leads to a connection.

use std::path::Path;

use pleat_egress::{Egress, EgressConfig, EgressError, OutboundRequest, Resolver};
use tokio::net::{TcpListener, TcpStream};

use crate::disguises;
use crate::support::refusal;

/// Kept as a file for the tests that push the same URLs through guests.
const FILE: &str = "../../tests/fixtures/private_urls.txt";

#[test]
fn the_list_of_private_urls_is_what_the_disguises_make() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(FILE);
    let made = disguises::all().join("\n") + "\n";
    if std::env::var_os("PLEAT_WRITE_FIXTURES").is_some() {
        std::fs::write(&path, &made).unwrap();
    }
    assert!(disguises::all().len() >= 600);
    let kept = std::fs::read_to_string(&path).unwrap();
    assert!(kept == made, "the list differs: run this test with PLEAT_WRITE_FIXTURES=1");
}

#[tokio::test]
async fn no_private_url_is_ever_dialled() {
    // Hears every address of this machine, of both kinds where there are two.
    let canary = match TcpListener::bind("[::]:0").await {
        Ok(canary) => canary,
        Err(_) => TcpListener::bind("0.0.0.0:0").await.unwrap(),
    };
    let port = canary.local_addr().unwrap().port();
    // All that could refuse them beside their address is open.
    let config = EgressConfig { plain_http: true, ports: vec![port], ..EgressConfig::default() };
    let egress = Egress::new(EgressConfig { resolver: Resolver::System, ..config }).unwrap();
    for url in disguises::all() {
        let url = url.replace("PORT", &port.to_string());
        let error = refusal(&egress, OutboundRequest::get(&url)).await;
        let refused = matches!(error, EgressError::DeniedAddress | EgressError::InvalidRequest(_));
        assert!(refused, "{url}: {error:?}");
    }
    // The first that the canary hears is this.
    let ours = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (_, heard) = canary.accept().await.unwrap();
    assert_eq!(heard.port(), ours.local_addr().unwrap().port());
}

#[tokio::test]
async fn the_canary_hears_what_the_operator_allows() {
    let canary = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = canary.local_addr().unwrap().port();
    let allow = vec![format!("127.0.0.1:{port}").parse().unwrap()];
    let egress = Egress::new(EgressConfig { allow, ..EgressConfig::default() }).unwrap();
    let request = OutboundRequest::get(format!("http://0x7f.1:{port}/"));
    let (heard, error) = tokio::join!(async { drop(canary.accept().await.unwrap()) }, refusal(&egress, request));
    let () = heard;
    assert!(matches!(error, EgressError::Failed(_)), "{error:?}");
}

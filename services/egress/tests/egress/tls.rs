//! TLS: trusted are the public authorities and those that the operator adds, for the name in the URL.

use std::sync::Arc;

use pleat_egress::{BadConfig, Egress, EgressConfig, EgressError, OutboundRequest};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::support::{self, answer, refusal, send};

const ROOT: &str = include_str!("certificates/root.pem");

/// Serves the certificate of `secure.test`; gives the port.
async fn server() -> u16 {
    let certificate = CertificateDer::from_pem_slice(include_bytes!("certificates/server.pem")).unwrap();
    let key = PrivateKeyDer::from_pem_slice(include_bytes!("certificates/server.key")).unwrap();
    let provider = Arc::new(rustls::crypto::aws_lc_rs::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider).with_safe_default_protocol_versions().unwrap();
    let config = config.with_no_client_auth().with_single_cert(vec![certificate], key).unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move {
        while let Ok((stream, _)) = listener.accept().await {
            let Ok(mut stream) = acceptor.accept(stream).await else { continue };
            let mut request = [0; 4096];
            if stream.read(&mut request).await.is_ok() {
                let _ = stream.write_all(&answer("200 OK", "", b"over TLS")).await;
                let _ = stream.shutdown().await;
            }
        }
    });
    port
}

fn trusting(extra_roots: &[&str]) -> Result<Egress, BadConfig> {
    let extra_roots = extra_roots.iter().map(|&root| root.to_owned()).collect();
    Egress::new(EgressConfig { allow: vec!["*.test:*".parse().unwrap()], extra_roots, ..support::config() })
}

#[tokio::test]
async fn a_root_that_the_operator_adds_is_trusted() {
    let request = OutboundRequest::get(format!("https://secure.test:{}/", server().await));
    let response = send(&trusting(&[ROOT]).unwrap(), request).await.ok().unwrap();
    assert_eq!(&*response.body, b"over TLS");
}

#[tokio::test]
async fn an_unknown_root_and_another_name_are_not() {
    let port = server().await;
    let unknown = refusal(&trusting(&[]).unwrap(), OutboundRequest::get(format!("https://secure.test:{port}/"))).await;
    let other = refusal(&trusting(&[ROOT]).unwrap(), OutboundRequest::get(format!("https://other.test:{port}/"))).await;
    for error in [unknown, other] {
        let EgressError::Failed(text) = &error else { panic!("{error:?}") };
        assert!(text.starts_with("TLS failed: invalid peer certificate"), "{text}");
    }
}

#[test]
fn what_is_no_certificate_is_refused_at_the_start() {
    for text in ["", "nonsense", "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n"] {
        assert_eq!(trusting(&[text]).err(), Some(BadConfig::Root), "{text}");
    }
}

//! Whom TLS trusts: the public authorities, and those that the operator adds.

use std::sync::Arc;

use rustls::crypto::aws_lc_rs;
use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};

use crate::error::BadConfig;

pub(crate) fn config(extra_roots: &[String]) -> Result<ClientConfig, BadConfig> {
    let mut roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    for text in extra_roots {
        let before = roots.len();
        for certificate in CertificateDer::pem_slice_iter(text.as_bytes()) {
            roots.add(certificate.map_err(|_| BadConfig::Root)?).map_err(|_| BadConfig::Root)?;
        }
        if roots.len() == before {
            return Err(BadConfig::Root);
        }
    }
    let builder = ClientConfig::builder_with_provider(Arc::new(aws_lc_rs::default_provider()));
    let builder = builder.with_safe_default_protocol_versions()?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

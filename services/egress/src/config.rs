//! What the operator decides about outbound requests.

use std::time::Duration;

use crate::host::HostPattern;
use crate::resolve::Resolver;
use crate::rule::AllowRule;

#[derive(Clone)]
pub struct EgressConfig {
    /// Destinations that may be reached though they are not public, also by `http://`.
    pub allow: Vec<AllowRule>,
    /// If any, no other host is ever reached.
    pub only: Vec<HostPattern>,
    /// Whether `http://` may be used at all.
    pub plain_http: bool,
    /// The ports that may be used; a rule of `allow` may add its own.
    pub ports: Vec<u16>,
    /// The platform's own hosts, each with all below it, with a port or without: a call of itself could go on forever.
    pub own_hosts: Vec<String>,
    /// Certificates in PEM form that are trusted beside the public ones.
    pub extra_roots: Vec<String>,
    pub connect_timeout: Duration,
    /// From the first lookup to the last byte, redirects included.
    pub total_timeout: Duration,
    pub request_bytes: usize,
    /// Of a body, decompressed.
    pub response_bytes: usize,
    pub redirects: usize,
    pub per_tenant_concurrency: usize,
    pub resolver: Resolver,
}

impl Default for EgressConfig {
    fn default() -> Self {
        Self {
            allow: Vec::new(),
            only: Vec::new(),
            plain_http: false,
            ports: vec![80, 443, 8080, 8443],
            own_hosts: Vec::new(),
            extra_roots: Vec::new(),
            connect_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_secs(30),
            request_bytes: 4 << 20,
            response_bytes: 4 << 20,
            redirects: 3,
            per_tenant_concurrency: 32,
            resolver: Resolver::System,
        }
    }
}

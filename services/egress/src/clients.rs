//! One HTTP client per tenant. Pooled connections and TLS sessions are never shared between tenants.
//!
//! On a shared connection one tenant could see from the response time which hosts another has just called, and where an
//! upstream miscounts the length of a body, receive the rest of another tenant's answer.

use std::time::Duration;

use bytes::Bytes;
use http_body_util::Full;
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy::Client;
use hyper_util::rt::{TokioExecutor, TokioTimer};
use moka::sync::Cache;
use rustls::ClientConfig;
use rustls::client::Resumption;

use crate::connect::Connector;

/// How long an unused connection stays open.
const CONNECTION_IDLE: Duration = Duration::from_secs(30);
const IDLE_CONNECTIONS_PER_HOST: usize = 4;
/// Clients that are kept. The least used one is dropped first, its idle connections with it.
const MAX_CLIENTS: u64 = 2_000;
const CLIENT_IDLE: Duration = Duration::from_secs(60);
/// TLS sessions of one tenant that can be resumed.
const TLS_SESSIONS: usize = 64;

/// HTTP/1.1 only: it has no frames to flood with and no compressed headers to blow up, and every host speaks it.
pub(crate) type TenantClient = Client<HttpsConnector<Connector>, Full<Bytes>>;

pub(crate) struct Clients {
    connector: Connector,
    tls: ClientConfig,
    head_bytes: usize,
    by_tenant: Cache<String, TenantClient>,
}

impl Clients {
    pub(crate) fn new(connector: Connector, tls: ClientConfig, head_bytes: usize) -> Self {
        let by_tenant = Cache::builder().max_capacity(MAX_CLIENTS).time_to_idle(CLIENT_IDLE).build();
        Self { connector, tls, head_bytes, by_tenant }
    }

    pub(crate) fn of(&self, tenant: &str) -> TenantClient {
        self.by_tenant.get_with_by_ref(tenant, || self.fresh())
    }

    fn fresh(&self) -> TenantClient {
        let mut tls = self.tls.clone();
        tls.resumption = Resumption::in_memory_sessions(TLS_SESSIONS);
        let secured = HttpsConnectorBuilder::new()
            .with_tls_config(tls)
            .https_or_http()
            .enable_http1()
            .wrap_connector(self.connector.clone());
        // Nothing here reads the environment: a proxy that it names is not used.
        Client::builder(TokioExecutor::new())
            .pool_timer(TokioTimer::new())
            .pool_idle_timeout(CONNECTION_IDLE)
            .pool_max_idle_per_host(IDLE_CONNECTIONS_PER_HOST)
            .http1_max_buf_size(self.head_bytes)
            .build(secured)
    }
}

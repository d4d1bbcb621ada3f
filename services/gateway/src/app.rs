//! What every handler holds.

use std::ops::Deref;
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use ipnet::IpNet;
use pleat_a2a::Shape;
use pleat_domain::TenantId;
use pleat_domain::limits;
use pleat_engine::Engine;

use crate::bodies::{Bodies, BodyLimits};
use crate::cors::CorsConfig;
use crate::metrics::Metrics;
use crate::notice;
use crate::observe::Counts;
use crate::site;
use crate::strangers::{StrangerLimits, Strangers};
use crate::streams::{StreamLimits, Streams};

/// What the operator chooses of the edge. No `Debug`: it holds a token.
#[derive(Clone)]
pub struct GatewayConfig {
    /// Tenants are its subdomains; it is itself the control host. `localhost` by default.
    pub base_domain: String,
    /// The address that the world uses, where a proxy stands in front (`https://pleat.example`).
    /// Without it, URLs are built from the host of the request.
    pub public_url: Option<String>,
    /// Further names of the control host.
    pub hosts: Vec<String>,
    pub request_body: usize,
    pub cors: CorsConfig,
    /// `None`: there is no `/metrics`.
    pub metrics: Option<Metrics>,
    /// Opens `/metrics`, and nothing else.
    pub metrics_token: Option<String>,
    /// How often a stream looks whether its caller is still allowed to read it.
    pub caller_check: Duration,
    /// How long one stream of an MCP client is kept, where the client knows to come back: proxies cut long ones.
    pub mcp_stream: Duration,
    /// Without `public_url`, tokens made for the loopback address of the request are accepted: on one's own machine alone.
    pub loopback_audiences: bool,
    pub connections: ConnectionLimits,
    pub strangers: StrangerLimits,
    pub bodies: BodyLimits,
    pub streams: StreamLimits,
}

/// What connections may hold, and whom they are counted for.
#[derive(Debug, Clone)]
pub struct ConnectionLimits {
    /// Open connections of this node.
    pub connections: usize,
    /// Of one client address; an IPv6 address counts with its /64.
    pub per_address: usize,
    /// From the first byte of a request to the end of its headers, and from the connection to its first request.
    pub header: Duration,
    /// Between two requests.
    pub idle: Duration,
    /// How long the client may take nothing of what is written to it.
    pub write: Duration,
    /// Load balancers and reverse proxies, which name their clients in `X-Forwarded-For`.
    pub trusted_proxies: Vec<IpNet>,
    /// Connections from these begin with a PROXY header, version 1 or 2.
    pub proxy_protocol: bool,
}

impl Default for ConnectionLimits {
    fn default() -> Self {
        Self {
            connections: 8_192,
            per_address: 1_024,
            header: Duration::from_secs(10),
            idle: Duration::from_secs(75),
            write: Duration::from_secs(30),
            trusted_proxies: Vec::new(),
            proxy_protocol: false,
        }
    }
}

impl Default for GatewayConfig {
    fn default() -> Self {
        Self {
            base_domain: "localhost".to_owned(),
            public_url: None,
            hosts: Vec::new(),
            request_body: limits::REQUEST_BODY,
            cors: CorsConfig::default(),
            metrics: None,
            metrics_token: None,
            caller_check: Duration::from_secs(10),
            mcp_stream: Duration::from_secs(600),
            loopback_audiences: false,
            connections: ConnectionLimits::default(),
            strangers: StrangerLimits::default(),
            bodies: BodyLimits::default(),
            streams: StreamLimits::default(),
        }
    }
}

/// Cloned several times for every request: one count each.
#[derive(Clone)]
pub struct App(Arc<Held>);

pub struct Held {
    pub(crate) engine: Engine,
    pub(crate) config: GatewayConfig,
    pub(crate) started: Instant,
    pub(crate) counts: Counts,
    pub(crate) strangers: Strangers,
    pub(crate) bodies: Arc<Bodies>,
    pub(crate) streams: Streams,
    pub(crate) cards: moka::sync::Cache<CardKey, RenderedCard>,
}

/// All that a card depends on: the tenant's deployments and issuers, the address it is read at, its shape, and the key
/// that signs it.
#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct CardKey {
    pub(crate) tenant: TenantId,
    pub(crate) generation: i64,
    pub(crate) issuers: Vec<String>,
    pub(crate) base_url: String,
    pub(crate) shape: Shape,
    pub(crate) signer: String,
}

#[derive(Clone)]
pub(crate) struct RenderedCard {
    pub(crate) body: Bytes,
    pub(crate) etag: http::HeaderValue,
    pub(crate) last_modified: http::HeaderValue,
}

impl Deref for App {
    type Target = Held;

    fn deref(&self) -> &Held {
        &self.0
    }
}

impl App {
    /// From here on the receivers of push notifications are told.
    pub fn new(engine: Engine, config: GatewayConfig) -> Self {
        let addresses = site::public_addresses(&config);
        engine.tell_receivers(Box::new(move |told| {
            let address = addresses.as_ref().map(|tenants| format!("{tenants}/{}/_a2a/", told.tenant));
            notice::of(told, address.as_deref())
        }));
        let (started, cards) = (Instant::now(), cards());
        Self(Arc::new(Held {
            engine,
            started,
            counts: Counts::default(),
            strangers: Strangers::new(config.strangers),
            bodies: Bodies::new(config.bodies),
            streams: Streams::new(config.streams),
            cards,
            config,
        }))
    }

    pub fn engine(&self) -> &Engine {
        &self.engine
    }
}

/// A key has the address that the client made up, where there is no `public_url`: what cards weigh is limited, not their
/// number.
fn cards() -> moka::sync::Cache<CardKey, RenderedCard> {
    let weigh = |key: &CardKey, card: &RenderedCard| {
        let issuers: usize = key.issuers.iter().map(|issuer| issuer.len() + size_of::<String>()).sum();
        let bytes = card.body.len() + key.base_url.len() + key.signer.len() + issuers + CARD_OVERHEAD;
        u32::try_from(bytes).unwrap_or(u32::MAX)
    };
    moka::sync::Cache::builder().max_capacity(CARD_BYTES).weigher(weigh).build()
}

/// All rendered cards together.
const CARD_BYTES: u64 = 16 * limits::MIB as u64;
/// What an entry costs beside its texts.
const CARD_OVERHEAD: usize = 512;

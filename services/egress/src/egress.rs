//! Sending: slot, guard, request, redirects, body, all within one time limit.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::{Method, Request, Response};
use http_body_util::Full;
use hyper::body::Incoming;

use crate::body::{self, Encoding};
use crate::clients::{Clients, TenantClient};
use crate::config::EgressConfig;
use crate::connect::Connector;
use crate::error::{BadConfig, EgressError};
use crate::guard::Guard;
use crate::headers;
use crate::host::HostGrants;
use crate::message::{OutboundRequest, OutboundResponse};
use crate::redirect::{self, Hop};
use crate::slots::Slots;
use crate::tls;

/// Names and values in the head of an answer; the client itself takes at most 100 of them.
const HEAD_BYTES: usize = 64 << 10;
/// How long a name is looked up that is only to be checked.
const LOOKUP: Duration = Duration::from_secs(3);
/// What is read of a body that nobody wants, so that the connection can be used again.
const UNWANTED_BYTES: usize = 16 << 10;
const UNWANTED_TIME: Duration = Duration::from_millis(500);

/// The platform's only way out. Cheap to clone; connections are shared by requests of one tenant.
#[derive(Clone)]
pub struct Egress {
    inner: Arc<Inner>,
}

struct Inner {
    config: EgressConfig,
    guard: Arc<Guard>,
    connector: Connector,
    slots: Slots,
    clients: Clients,
}

impl Egress {
    pub fn new(config: EgressConfig) -> Result<Self, BadConfig> {
        let guard = Arc::new(Guard::new(&config)?);
        let connector =
            Connector { guard: Arc::clone(&guard), resolver: config.resolver.clone(), timeout: config.connect_timeout };
        let clients = Clients::new(connector.clone(), tls::config(&config.extra_roots)?, HEAD_BYTES);
        let slots = Slots::new(config.per_tenant_concurrency);
        Ok(Self { inner: Arc::new(Inner { config, guard, connector, slots, clients }) })
    }

    /// Sends one request for a tenant, whose name goes along, to hosts that were granted.
    pub async fn send(
        &self,
        request: OutboundRequest,
        grants: &HostGrants,
        stamp: &str,
    ) -> Result<OutboundResponse, EgressError> {
        let _slot = self.inner.slots.take(stamp)?;
        let most = self.inner.config.total_timeout;
        let limit = request.timeout.map_or(most, |wish| wish.min(most));
        let sent = tokio::time::timeout(limit, self.inner.send(&request, grants, stamp)).await;
        sent.map_err(|_| EgressError::Timeout)?
    }

    /// Whether a request to this URL would be let out now, without sending one; answers its origin. A name that has no
    /// address, or none in time, leads nowhere and is let pass: what it leads to later is looked at when it is dialled.
    pub async fn check(&self, url: &str, grants: &HostGrants) -> Result<String, EgressError> {
        let url = self.inner.guard.parse(url, grants)?;
        let resolved = tokio::time::timeout(LOOKUP, self.inner.connector.check(&url)).await;
        match resolved {
            Ok(Err(EgressError::Failed(_))) | Err(_) | Ok(Ok(())) => Ok(url.origin().ascii_serialization()),
            Ok(Err(refused)) => Err(refused),
        }
    }
}

impl Inner {
    async fn send(
        &self,
        request: &OutboundRequest,
        grants: &HostGrants,
        stamp: &str,
    ) -> Result<OutboundResponse, EgressError> {
        let mut hop = self.first_hop(request, grants, stamp)?;
        let client = self.clients.of(stamp);
        for _ in 0..=self.config.redirects {
            let response = ask(&client, &hop).await?;
            let onward = match request.follow_redirects {
                true => redirect::target(&hop.url, response.status(), response.headers())?,
                false => None,
            };
            let Some(to) = onward else { return self.answer(&hop, response, request.head_only).await };
            hop.follow(response.status(), self.guard.admit(to, grants)?);
        }
        Err(EgressError::Failed(format!("there were more than {} redirects", self.config.redirects)))
    }

    fn first_hop(&self, request: &OutboundRequest, grants: &HostGrants, stamp: &str) -> Result<Hop, EgressError> {
        let invalid = |text: String| EgressError::InvalidRequest(text);
        let method = Method::from_bytes(request.method.as_bytes());
        let method = method.map_err(|_| invalid("the method is not valid".to_owned()))?;
        if matches!(method, Method::CONNECT | Method::TRACE) {
            return Err(invalid(format!("the method {method} cannot be used")));
        }
        let body = request.body.clone().unwrap_or_default();
        if body.len() > self.config.request_bytes {
            return Err(invalid(format!("a request has a body of at most {} bytes", self.config.request_bytes)));
        }
        let url = self.guard.parse(&request.url, grants)?;
        Ok(Hop { method, url, headers: headers::outgoing(&request.headers, stamp)?, body })
    }

    async fn answer(
        &self,
        hop: &Hop,
        response: Response<Incoming>,
        head_only: bool,
    ) -> Result<OutboundResponse, EgressError> {
        let (head, body) = response.into_parts();
        let encoding = Encoding::of(&head.headers);
        let body = if head_only {
            let unwanted = body::read(body, Encoding::Other, UNWANTED_BYTES);
            let _ = tokio::time::timeout(UNWANTED_TIME, unwanted).await;
            Bytes::new()
        } else {
            body::read(body, encoding, self.config.response_bytes).await?
        };
        let status = head.status.as_u16();
        tracing::debug!(host = hop.url.host_str(), status, bytes = body.len(), "answered from outside");
        Ok(OutboundResponse {
            status,
            url: hop.url.as_str().to_owned(),
            headers: headers::incoming(&head.headers, encoding != Encoding::Other),
            body,
        })
    }
}

async fn ask(client: &TenantClient, hop: &Hop) -> Result<Response<Incoming>, EgressError> {
    let request = Request::builder().method(hop.method.clone()).uri(hop.url.as_str());
    let mut request = request
        .body(Full::new(hop.body.clone()))
        .map_err(|_| EgressError::InvalidRequest("the URL is not valid".to_owned()))?;
    *request.headers_mut() = hop.headers.clone();
    let response = client.request(request).await.map_err(|error| EgressError::behind(&error))?;
    // The client's own limit is a buffer's, and reading may go beyond it.
    let size: usize = response.headers().iter().map(|(name, value)| name.as_str().len() + value.len()).sum();
    if size > HEAD_BYTES { Err(EgressError::TooLarge) } else { Ok(response) }
}

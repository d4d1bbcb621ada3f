//! Event streams end when their caller is no longer allowed to read them: a key that was revoked or has expired, a token
//! past its time, a tenant that was removed.
//!
//! A request is authenticated once, and a stream outlives that by hours. So whoever opened it is asked again every few
//! seconds, in the same way and at the same caches as with a new request.

use std::sync::Arc;

use async_stream::stream;
use futures::StreamExt;
use http::HeaderMap;
use pleat_domain::{Principal, Tenant};
use pleat_engine::{EngineError, EventStream};
use tokio::time::{Instant, MissedTickBehavior};

use crate::app::App;
use crate::extract::{self, Member, Visitor};
use crate::problem::Problem;
use crate::site;
use crate::streams::OpenStream;

/// Whoever opened a stream, and what was shown for it.
pub(crate) struct StreamCaller {
    app: App,
    tenant: Arc<Tenant>,
    principal: Principal,
    /// The tenant's address, for which a token may have been made.
    base_url: String,
    key: Option<String>,
    is_visitor: bool,
    /// Held for as long as the stream is.
    _place: OpenStream,
}

impl StreamCaller {
    pub(crate) fn visitor(app: &App, visitor: &Visitor, headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self {
            app: app.clone(),
            tenant: Arc::clone(&visitor.site.tenant),
            principal: visitor.principal.clone(),
            base_url: visitor.site.base_url.to_string(),
            key: extract::bearer(headers)?.map(str::to_owned),
            is_visitor: true,
            _place: OpenStream::begin(app, &visitor.site.tenant, &visitor.principal)?,
        })
    }

    pub(crate) fn member(app: &App, member: &Member, headers: &HeaderMap) -> Result<Self, Problem> {
        Ok(Self {
            app: app.clone(),
            tenant: Arc::clone(&member.tenant),
            principal: member.principal.clone(),
            base_url: member.base_url.clone(),
            key: extract::bearer(headers)?.map(str::to_owned),
            is_visitor: false,
            _place: OpenStream::begin(app, &member.tenant, &member.principal)?,
        })
    }

    /// The events, until the caller is not allowed to read them any more; the last item then says so.
    pub(crate) fn watch(self, mut events: EventStream) -> EventStream {
        let every = self.app.config.caller_check;
        Box::pin(stream! {
            let mut checks = tokio::time::interval_at(Instant::now() + every, every);
            checks.set_missed_tick_behavior(MissedTickBehavior::Delay);
            loop {
                tokio::select! {
                    biased;
                    _ = checks.tick() => if !self.is_welcome().await {
                        yield Err(EngineError::Unauthenticated);
                        break;
                    },
                    event = events.next() => match event {
                        Some(event) => yield event,
                        None => break,
                    },
                }
            }
        })
    }

    async fn is_welcome(&self) -> bool {
        let Self { app, tenant, principal, base_url, key, is_visitor, .. } = self;
        let shut = match is_visitor {
            true => app.engine.may_visit(tenant, principal).await,
            false => app.engine.may_look(principal),
        };
        is_still(app, tenant, principal, base_url, key.as_deref()).await
            && !matches!(shut, Err(EngineError::Unauthenticated))
    }
}

/// Whether who came in with this key, or token, still would, to the same tenant and with the same scopes. What cannot be
/// found out now is left as it is.
pub(crate) async fn is_still(
    app: &App,
    tenant: &Tenant,
    principal: &Principal,
    base_url: &str,
    key: Option<&str>,
) -> bool {
    let gone = match app.engine.tenant(&tenant.slug).await {
        Ok(now) => now.id != tenant.id,
        Err(error) => matches!(error, EngineError::UnknownTenant),
    };
    let audiences = || site::audiences(&app.config, &tenant.slug, base_url);
    !gone && app.engine.is_still(principal, tenant, key, audiences).await
}

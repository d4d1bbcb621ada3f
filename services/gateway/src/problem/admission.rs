//! Refusals of requests that were not looked into: limits of addresses, bodies and streams.

use std::time::Duration;

use axum::response::{IntoResponse, Response};
use http::StatusCode;
use pleat_a2a::error as rpc;
use serde_json::json;
use serde_json::value::RawValue;

use super::{Problem, Words};
use crate::bodies::{BodiesFull, Share};
use crate::streams::StreamsFull;

impl Problem {
    pub(crate) fn audiences_needed() -> Self {
        Self::invalid(
            "an issuer needs `audiences` here: without `server.public_url`, the addresses of its tenant are not known",
        )
        .with_hint("name what its tokens have in `aud`, or ask the operator to set `server.public_url`")
    }

    pub(crate) fn stranger_limit(most: u64, wait: Duration) -> Self {
        let text = format!("your address has sent more than {most} requests a minute without a valid key");
        let refused = Self::budget(StatusCode::TOO_MANY_REQUESTS, text, "stranger_requests_per_minute", most, wait);
        refused.with_hint("wait, or send a key that is valid")
    }

    /// The node's budget is nobody's fault, the owner's share is its own.
    pub(crate) fn bodies_full(full: BodiesFull) -> Self {
        let (status, limit) = match full.whose {
            Share::Node => (StatusCode::SERVICE_UNAVAILABLE, "limits.bodies_mib"),
            Share::Owner => (StatusCode::TOO_MANY_REQUESTS, "limits.tenant_bodies_mib"),
        };
        let text = format!("{full}; try again");
        Self::budget(status, text, limit, full.most as u64, Duration::from_secs(1))
    }

    pub(crate) fn streams_full(full: StreamsFull, most: usize) -> Self {
        let (status, whose) = match full {
            StreamsFull::Node => (StatusCode::SERVICE_UNAVAILABLE, "this node"),
            StreamsFull::Tenant => (StatusCode::TOO_MANY_REQUESTS, "the tenant"),
            StreamsFull::Caller => (StatusCode::TOO_MANY_REQUESTS, "the caller"),
        };
        let text = format!("{whose} has {most} open event streams, which is the most; close one");
        Self::budget(status, text, full.limit(), most as u64, Duration::from_secs(5))
    }

    /// A limit of the node or its configuration, with when to try again.
    pub(super) fn budget(status: StatusCode, text: String, limit: &str, most: u64, wait: Duration) -> Self {
        let millis = u64::try_from(wait.as_millis()).unwrap_or(u64::MAX).max(1);
        let data = json!({ "limit": limit, "most": most, "retryAfterMs": millis });
        let code = if status == StatusCode::TOO_MANY_REQUESTS { "limit_reached" } else { "unavailable" };
        let seconds = u32::try_from(millis.div_ceil(1_000)).unwrap_or(u32::MAX);
        let problem = Self::plain(status, code, text).with_rpc(rpc::LIMIT_EXCEEDED).retry(seconds);
        Self { data: Some(Box::new(data)), ..problem }
    }

    /// As the protocol at this path writes errors, before anything else is known of the request.
    pub(crate) fn into_protocol_of(self, path: &str) -> Response {
        if path.contains("/_a2a/rest/") {
            return self.into_status();
        }
        if path.ends_with("/_a2a") || path.ends_with("/_a2a/") {
            return self.into_rpc(RawValue::NULL, Words::Plain);
        }
        if path.ends_with("/mcp") {
            return self.into_mcp(RawValue::NULL);
        }
        self.into_response()
    }
}

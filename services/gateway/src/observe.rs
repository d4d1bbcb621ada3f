//! What is said of every request, whichever door it came to: a span, two metrics, and a line of the log at `debug`.
//!
//! Paths are logged, queries and bodies never: they are the caller's.

use std::time::Instant;

use axum::extract::Request;
use axum::response::Response;
use http::Method;
use metrics::{Counter, Histogram};
use pleat_engine::Handles;
use tracing::Span;

use crate::trace;

/// Which way in a request took, as it is counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Control,
    A2a,
    Http,
    Card,
    Mcp,
    /// No site of ours.
    Nowhere,
}

impl Way {
    /// By what the tenant's router will make of it.
    pub(crate) fn of_tenant(method: &Method, path: &str) -> Self {
        match path {
            "/" if *method == Method::POST => Self::A2a,
            "/_a2a" => Self::A2a,
            path if path.starts_with("/_a2a/") => Self::A2a,
            "/mcp" => Self::Mcp,
            path if path.starts_with("/.well-known/") => Self::Card,
            _ => Self::Http,
        }
    }

    const fn as_str(self) -> &'static str {
        match self {
            Self::Control => "control",
            Self::A2a => "a2a",
            Self::Http => "http",
            Self::Card => "card",
            Self::Mcp => "mcp",
            Self::Nowhere => "none",
        }
    }
}

/// What is counted with every request.
#[derive(Default)]
pub(crate) struct Counts {
    requests: Handles<Counter>,
    seconds: Handles<Histogram>,
}

/// A request on its way through.
pub(crate) struct Observed {
    began: Instant,
    span: Span,
    /// Only where somebody reads the log at this level.
    line: Option<(Method, String)>,
}

impl Observed {
    pub(crate) fn begin(request: &Request) -> Self {
        let logged = tracing::enabled!(tracing::Level::DEBUG);
        let line = logged.then(|| (request.method().clone(), request.uri().path().to_owned()));
        Self { began: Instant::now(), span: trace::request(request), line }
    }

    pub(crate) fn span(&self) -> Span {
        self.span.clone()
    }

    pub(crate) fn end(self, counts: &Counts, way: Way, response: &Response) {
        let (took, door) = (self.began.elapsed(), way.as_str());
        let class = match response.status().as_u16() / 100 {
            1 => "1xx",
            2 => "2xx",
            3 => "3xx",
            4 => "4xx",
            _ => "5xx",
        };
        self.span.record("http.response.status_code", response.status().as_u16()).record("door", door);
        let counter = || metrics::counter!("pleat_http_requests_total", "door" => door, "status" => class);
        counts.requests.of([door, class], counter).increment(1);
        let histogram = || metrics::histogram!("pleat_http_request_seconds", "door" => door);
        counts.seconds.of([door, ""], histogram).record(took.as_secs_f64());
        if let Some((method, path)) = self.line {
            let (status, duration_ms) = (response.status().as_u16(), took.as_secs_f64() * 1_000.0);
            tracing::debug!(door, %method, path, status, duration_ms, "request");
        }
    }
}

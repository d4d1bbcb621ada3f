//! The span of a request, and its parent: the W3C `traceparent` that the caller sent.
//!
//! Where no traces are sent the span is disabled and costs nothing.

use axum::extract::Request;
use http::HeaderMap;
use opentelemetry::Context;
use opentelemetry::trace::{SpanContext, SpanId, TraceContextExt, TraceFlags, TraceId, TraceState};
use tracing::Span;
use tracing::field::Empty;
use tracing_opentelemetry::OpenTelemetrySpanExt;

pub(crate) fn request(request: &Request) -> Span {
    let span = tracing::info_span!(
        target: "pleat_trace",
        "request",
        otel.kind = "server",
        http.request.method = %request.method(),
        url.path = request.uri().path(),
        http.response.status_code = Empty,
        door = Empty,
    );
    if !span.is_disabled()
        && let Some(parent) = parent(request.headers())
    {
        // It fails only where spans are not sent after all.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
    span
}

/// `00-{trace}-{span}-{flags}`; what is not exactly that is as good as none (W3C Trace Context, 4.3).
fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let text = headers.get("traceparent")?.to_str().ok()?;
    let mut fields = text.split('-');
    let (version, trace, span, flags) = (fields.next()?, fields.next()?, fields.next()?, fields.next()?);
    let exact = version == "00" && fields.next().is_none() && (trace.len(), span.len(), flags.len()) == (32, 16, 2);
    let flags = u8::from_str_radix(flags, 16).ok()?;
    let trace = TraceId::from_hex(trace).ok()?;
    let span = SpanId::from_hex(span).ok()?;
    let sampled = TraceFlags::new(flags & TraceFlags::SAMPLED.to_u8());
    let context = SpanContext::new(trace, span, sampled, true, TraceState::NONE);
    (exact && context.is_valid()).then_some(context)
}

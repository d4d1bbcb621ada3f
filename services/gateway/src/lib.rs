//! The HTTP doors and the server that carries them.
//!
//! A handler takes a request apart, calls one use case of the engine and writes the answer. Nothing is decided here;
//! the one place that turns errors into status codes and JSON-RPC codes is `problem`.

mod app;
mod bodies;
mod body;
mod charged_body;
mod client_address;
mod control;
mod cors;
mod extract;
mod key_set;
mod landing;
mod leftover;
mod mcp;
mod metrics;
mod notice;
mod observe;
mod probes;
mod problem;
pub mod routes;
pub mod server;
mod site;
mod sse;
mod strangers;
mod stream_caller;
mod streams;
mod tenant;
mod trace;
mod warnings;

pub use app::{App, ConnectionLimits, GatewayConfig};
pub use bodies::BodyLimits;
pub use cors::CorsConfig;
pub use metrics::Metrics;
pub use strangers::StrangerLimits;
pub use streams::StreamLimits;

//! Where `tracing` goes: to stderr, always, because stdout is for data.

use std::io::IsTerminal;

use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, Layer};

use crate::config::{LogFormat, Settings};
use crate::problem::Problem;
use crate::telemetry::SpanLayer;

/// Servers say what they do; clients (without settings) speak up only when something is odd, or when `RUST_LOG` asks.
pub fn start(settings: Option<&Settings>, spans: Option<SpanLayer>) -> Result<(), Problem> {
    let (filter, format) = match settings {
        Some(settings) => (filter(&settings.log.level)?, settings.log.format),
        None => (EnvFilter::try_from_default_env().unwrap_or_else(|_| EnvFilter::new("warn")), LogFormat::Text),
    };
    let lines = tracing_subscriber::fmt::layer().with_writer(std::io::stderr);
    let lines = match format {
        LogFormat::Json => lines.json().flatten_event(true).with_filter(filter).boxed(),
        LogFormat::Text => {
            let colour = std::io::stderr().is_terminal() && std::env::var_os("NO_COLOR").is_none();
            lines.with_target(false).with_ansi(colour).with_filter(filter).boxed()
        }
    };
    // A layer that is `None` wants every span, and they would all be made.
    let layers: Vec<SpanLayer> = spans.into_iter().chain([lines]).collect();
    tracing_subscriber::registry().with(layers).init();
    Ok(())
}

fn filter(level: &str) -> Result<EnvFilter, Problem> {
    let hint = "use error, warn, info, debug or trace, or directives such as `info,pleat_gateway=debug`";
    // Spans are for traces.
    EnvFilter::try_new(format!("{level},pleat_trace=off"))
        .map_err(|error| Problem::usage(format!("`log.level`: {error}"), hint))
}

//! Traces: spans are sent as OTLP over HTTP, in its JSON form, to the collector that the configuration names. Without one,
//! no span is made.
//!
//! The spans are those with the target `pleat_trace`, and they are nothing else: the log does not show them.

use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use opentelemetry::trace::TracerProvider;
use opentelemetry_http::{HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::{Protocol, SpanExporter, WithExportConfig, WithHttpConfig};
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::trace::{Sampler, SdkTracerProvider};
use tokio::runtime::Handle;
use tracing::level_filters::LevelFilter;
use tracing_subscriber::filter::Targets;
use tracing_subscriber::{Layer, Registry};

use crate::config::TracingSettings;
use crate::problem::Problem;

const PATIENCE: Duration = Duration::from_secs(5);

/// What takes spans away, until it is stopped.
pub struct Telemetry {
    provider: SdkTracerProvider,
}

/// What `tracing` hands spans to.
pub type SpanLayer = Box<dyn Layer<Registry> + Send + Sync>;

/// `None`: no collector is named. The spans are sent on this runtime's threads.
pub fn start(settings: &TracingSettings, handle: Handle) -> Result<Option<(SpanLayer, Telemetry)>, Problem> {
    let Some(endpoint) = &settings.endpoint else { return Ok(None) };
    let unusable = |cause: String| {
        let hint = "give the collector's URL, for example http://localhost:4318 (OTEL_EXPORTER_OTLP_ENDPOINT)";
        Problem::usage(format!("`tracing.endpoint`: {cause}"), hint)
    };
    let client = reqwest::Client::builder().timeout(PATIENCE).build().map_err(|error| unusable(error.to_string()))?;
    let exporter = SpanExporter::builder()
        .with_http()
        .with_http_client(Sender { client, handle })
        .with_protocol(Protocol::HttpJson)
        .with_endpoint(format!("{}/v1/traces", endpoint.trim_end_matches('/')))
        .with_timeout(PATIENCE)
        .build()
        .map_err(|error| unusable(error.to_string()))?;
    let provider = SdkTracerProvider::builder()
        .with_batch_exporter(exporter)
        .with_sampler(Sampler::ParentBased(Box::new(Sampler::TraceIdRatioBased(settings.sample))))
        .with_resource(Resource::builder_empty().with_service_name(settings.service_name.clone()).build())
        .build();
    let spans = tracing_opentelemetry::layer().with_tracer(provider.tracer("pleat")).with_location(false);
    let only = Targets::new().with_target("pleat_trace", LevelFilter::TRACE);
    Ok(Some((Box::new(spans.with_filter(only)), Telemetry { provider })))
}

impl Telemetry {
    /// Sends what is left. Blocks, and needs the runtime alive.
    pub fn stop(self) {
        if let Err(error) = self.provider.shutdown_with_timeout(PATIENCE) {
            tracing::warn!(error = error.to_string(), "the last spans were not sent");
        }
    }
}

/// The exporter works on a thread of its own; the HTTP client wants the runtime's.
#[derive(Debug)]
struct Sender {
    client: reqwest::Client,
    handle: Handle,
}

#[async_trait]
impl HttpClient for Sender {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        let exchange = async move {
            let answer = client.execute(request).await?;
            let status = answer.status();
            Ok::<_, reqwest::Error>((status, answer.bytes().await?))
        };
        let (status, body) = self.handle.spawn(exchange).await??;
        let mut response = Response::new(body);
        *response.status_mut() = status;
        Ok(response)
    }
}

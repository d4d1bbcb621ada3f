//! `GET /metrics`: what the parts of this process have counted, in the text form of Prometheus.
//!
//! The parts count through the `metrics` facade wherever something happens; the names are in docs/metrics.md. Here is
//! only who may read it, and what is asked of the parts at the moment of reading.

use std::sync::OnceLock;
use std::time::Duration;

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderMap;
use http::header::CONTENT_TYPE;
use metrics::{Unit, describe_counter, describe_gauge, describe_histogram};
use metrics_exporter_prometheus::{Matcher, PrometheusBuilder, PrometheusHandle};
use sha2::{Digest, Sha256};

use crate::app::App;
use crate::extract;
use crate::problem::Problem;

/// From a call of a few microseconds to one that takes minutes.
const SECONDS: &[f64] = &[
    0.000_025, 0.000_1, 0.000_25, 0.000_5, 0.001, 0.002_5, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0,
    10.0, 30.0, 60.0, 300.0,
];
const COUNTS: &[f64] = &[1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0, 128.0, 256.0];
/// How often what was observed is put into its buckets, so that memory does not grow while nobody reads.
const UPKEEP: Duration = Duration::from_secs(5);

/// The one recorder of this process.
#[derive(Clone)]
pub struct Metrics(PrometheusHandle);

impl Metrics {
    /// Counting begins with the first call. `None`: something else in this process counts already.
    pub fn install() -> Option<Self> {
        static INSTALLED: OnceLock<Option<Metrics>> = OnceLock::new();
        INSTALLED.get_or_init(|| build().map(Self)).clone()
    }

    fn render(&self) -> String {
        self.0.render()
    }
}

fn build() -> Option<PrometheusHandle> {
    let builder = PrometheusBuilder::new()
        .set_buckets_for_metric(Matcher::Suffix("_seconds".to_owned()), SECONDS)
        .and_then(|builder| builder.set_buckets_for_metric(Matcher::Suffix("_operations".to_owned()), COUNTS));
    let handle = builder.ok()?.install_recorder().ok()?;
    describe();
    let upkeep = handle.clone();
    std::thread::Builder::new()
        .name("pleat-metrics".to_owned())
        .spawn(move || {
            loop {
                std::thread::sleep(UPKEEP);
                upkeep.run_upkeep();
            }
        })
        .ok()?;
    Some(handle)
}

/// On the control host: for who has the token, or the operator's key.
pub(crate) async fn show(State(app): State<App>, headers: HeaderMap) -> Result<Response, Problem> {
    if !has_token(&app, &headers) {
        let principal = app.engine.authenticate_platform(extract::bearer(&headers)?).await?;
        app.engine.may_operate(&principal)?;
    }
    text(&app)
}

/// For whoever has been let in.
pub(crate) fn text(app: &App) -> Result<Response, Problem> {
    let metrics = app.config.metrics.as_ref().ok_or_else(Problem::not_found)?;
    app.engine.measure();
    measure_process(app);
    Ok(([(CONTENT_TYPE, "text/plain; version=0.0.4; charset=utf-8")], metrics.render()).into_response())
}

/// Compared as hashes, so that how long it takes says nothing about the token.
fn has_token(app: &App, headers: &HeaderMap) -> bool {
    let Some(token) = app.config.metrics_token.as_deref().filter(|token| !token.is_empty()) else { return false };
    let shown = extract::bearer(headers).ok().flatten().unwrap_or_default();
    Sha256::digest(shown.as_bytes()) == Sha256::digest(token.as_bytes())
}

fn measure_process(app: &App) {
    metrics::gauge!("pleat_build_info", "version" => env!("CARGO_PKG_VERSION")).set(1.0);
    metrics::gauge!("pleat_uptime_seconds").set(app.started.elapsed().as_secs_f64());
    metrics::gauge!("pleat_body_bytes").set(app.bodies.held() as f64);
    metrics::gauge!("pleat_sse_streams").set(crate::sse::open() as f64);
    // `VmRSS:    12345 kB`; only Linux has this.
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let resident =
        status.lines().find_map(|line| line.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse::<f64>().ok());
    if let Some(kilobytes) = resident {
        metrics::gauge!("pleat_process_resident_bytes").set(kilobytes * 1024.0);
    }
}

fn describe() {
    let counters = [
        ("pleat_audit_failures_total", "Rows of the audit log that could not be written"),
        ("pleat_audit_denied_dropped_total", "Denied attempts that were not recorded, beyond the limit per principal"),
        ("pleat_http_requests_total", "Requests answered, by door and class of status"),
        ("pleat_invocations_total", "Turns of tasks that ended, by door and outcome"),
        ("pleat_task_changes_total", "Changes of tasks, by the state they went to"),
        ("pleat_code_evictions_total", "Compiled functions removed from disk to stay within the budget"),
        ("pleat_schema_checks_long_total", "Checks of inputs and results that took more than a moment"),
        ("pleat_recompiled_total", "Versions compiled again in the background, by result"),
        ("pleat_memory_refusals_total", "Memory that calls were refused, by the budget that had no room"),
        ("pleat_connections_refused_total", "Connections closed at once, by the limit that was reached"),
        ("pleat_connections_closed_total", "Connections closed by the server, by reason"),
        ("pleat_strangers_refused_total", "Requests refused because their address sent too many without a valid key"),
        ("pleat_streams_refused_total", "Event streams refused, by the limit that was reached"),
        ("pleat_accept_errors_total", "Connections that the system did not hand over"),
        ("pleat_push_deliveries_total", "Attempts to tell a receiver of an event, by outcome"),
    ];
    let gauges = [
        ("pleat_schema_cache_bytes", "Memory of the compiled schemas that are kept"),
        ("pleat_build_info", "Always 1; the version is a label"),
        ("pleat_uptime_seconds", "Since the server started"),
        ("pleat_process_resident_bytes", "Memory of this process"),
        ("pleat_connections", "Connections that are open"),
        ("pleat_body_bytes", "Bytes of request bodies that are held until their answers begin"),
        ("pleat_sse_streams", "Event streams that are open"),
        ("pleat_tasks_running", "Tasks that this node runs and has recorded"),
        ("pleat_push_receivers", "Receivers of push notifications that this node follows tasks for"),
        ("pleat_instances_in_use", "Calls inside the sandbox"),
        ("pleat_instances_capacity", "The most calls that can be inside the sandbox"),
        ("pleat_memory_budget_used_bytes", "Memory that calls hold of the node's budget"),
        ("pleat_memory_budget_bytes", "The node's budget for the memory of calls"),
        ("pleat_tenant_memory_bytes", "Memory that the calls of a tenant hold"),
        ("pleat_functions_loaded", "Functions that need not be loaded before their next call"),
        ("pleat_writer_queued", "Operations that wait for the writers"),
        ("pleat_writer_queued_bytes", "Their payload"),
        ("pleat_database_connections", "Connections of the pool for reads, by state"),
        ("pleat_compile_waiting", "Compilations that wait for their turn"),
        ("pleat_code_cache_bytes", "Compiled code on disk"),
        ("pleat_recompile_pending", "Versions that wait to be compiled again in the background"),
    ];
    let histograms = [
        ("pleat_http_request_seconds", Unit::Seconds, "From the request's head to the answer's, by door"),
        ("pleat_invocation_seconds", Unit::Seconds, "Wall time of a turn inside the sandbox, by door"),
        ("pleat_guest_cpu_seconds", Unit::Seconds, "CPU time of a turn inside the sandbox"),
        ("pleat_compile_seconds", Unit::Seconds, "Compilations, waiting for their turn included, by result"),
        ("pleat_push_seconds", Unit::Seconds, "One attempt to tell a receiver of an event"),
        ("pleat_commit_seconds", Unit::Seconds, "One group commit"),
        ("pleat_commit_operations", Unit::Count, "Operations in one group commit"),
    ];
    counters.into_iter().for_each(|(name, text)| describe_counter!(name, text));
    gauges.into_iter().for_each(|(name, text)| describe_gauge!(name, text));
    histograms.into_iter().for_each(|(name, unit, text)| describe_histogram!(name, unit, text));
}

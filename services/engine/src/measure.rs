//! What the engine counts, and what it knows about how this node does. The names are in docs/metrics.md.

use std::time::{Duration, Instant};

use metrics::{Counter, Histogram};
use pleat_domain::{Principal, Task, TaskState, Tenant};
use pleat_policy::Action;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::handles::Handles;

/// How long an answer of the database to a probe is believed.
const PING_AGE: Duration = Duration::from_secs(1);

/// The last answer of the database to a probe. Probes that come together wait for one question.
#[derive(Default)]
pub(crate) struct Ping(tokio::sync::Mutex<Option<(Instant, bool)>>);

/// What is counted with every call.
#[derive(Default)]
pub(crate) struct Measures {
    invocations: Handles<Counter>,
    seconds: Handles<Histogram>,
    changes: Handles<Counter>,
}

impl Measures {
    /// A task went to this state.
    pub(crate) fn change(&self, state: TaskState) {
        let state = state.as_str();
        let make = || metrics::counter!("pleat_task_changes_total", "state" => state);
        self.changes.of([state, ""], make).increment(1);
    }
}

impl Engine {
    /// Why no work should be sent here; empty if it may be.
    pub async fn unready(&self) -> Vec<&'static str> {
        let mut reasons = Vec::new();
        if self.inner.stopping.is_cancelled() {
            reasons.push("this node is stopping");
        }
        if !self.database_answers().await {
            reasons.push("the database does not answer");
        }
        if !self.inner.store.lease_is_fresh() {
            reasons.push("this node could not prove to the database that it lives");
        }
        reasons
    }

    async fn database_answers(&self) -> bool {
        let mut last = self.inner.ping.0.lock().await;
        if let Some((at, answered)) = *last
            && at.elapsed() < PING_AGE
        {
            return answered;
        }
        let answered = self.inner.store.ping().await.is_ok();
        *last = Some((Instant::now(), answered));
        answered
    }

    /// Tasks that run here and are recorded; calls that end within the grace time never are.
    pub fn running_tasks(&self) -> usize {
        self.inner.hub.len()
    }

    /// For what belongs to the platform and to no tenant.
    pub fn may_operate(&self, principal: &Principal) -> Result<(), EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)
    }

    /// Sets the gauges: what is not counted when it happens, but looked at when somebody asks.
    pub fn measure(&self) {
        let occupancy = self.inner.runtime.occupancy();
        metrics::gauge!("pleat_instances_in_use").set(occupancy.running as f64);
        metrics::gauge!("pleat_instances_capacity").set(occupancy.capacity as f64);
        metrics::gauge!("pleat_functions_loaded").set(occupancy.loaded as f64);
        metrics::gauge!("pleat_compile_waiting").set(occupancy.compile_waiting as f64);
        metrics::gauge!("pleat_tasks_running").set(self.running_tasks() as f64);
        metrics::gauge!("pleat_push_receivers").set(self.inner.pushes.followed() as f64);
        self.measure_memory();
        let load = self.inner.store.load();
        metrics::gauge!("pleat_writer_queued").set(load.queued as f64);
        metrics::gauge!("pleat_writer_queued_bytes").set(load.queued_bytes as f64);
        metrics::gauge!("pleat_database_connections", "state" => "idle").set(load.idle as f64);
        metrics::gauge!("pleat_database_connections", "state" => "used").set(load.used as f64);
    }

    fn measure_memory(&self) {
        let memory = self.inner.runtime.memory();
        let used = memory.used();
        metrics::gauge!("pleat_memory_budget_used_bytes").set(used.used as f64);
        metrics::gauge!("pleat_memory_budget_bytes").set(used.limit as f64);
        metrics::counter!("pleat_memory_refusals_total", "budget" => "tenant").absolute(used.refused_tenant);
        metrics::counter!("pleat_memory_refusals_total", "budget" => "node").absolute(used.refused_node);
        if self.inner.config.measure_tenants {
            for (tenant, bytes) in memory.by_tenant() {
                metrics::gauge!("pleat_tenant_memory_bytes", "tenant" => tenant).set(bytes as f64);
            }
        }
    }

    /// A turn has ended, as the task now says.
    pub(crate) fn count_end(&self, task: &Task, tenant: &Tenant, cpu: Duration, wall: Duration) {
        let (door, outcome) = (task.door.as_str(), outcome(task));
        if self.inner.config.measure_tenants {
            let tenant = tenant.slug.to_string();
            metrics::counter!("pleat_invocations_total", "door" => door, "outcome" => outcome, "tenant" => tenant)
                .increment(1);
        } else {
            let make = || metrics::counter!("pleat_invocations_total", "door" => door, "outcome" => outcome);
            self.inner.measures.invocations.of([door, outcome], make).increment(1);
        }
        let seconds = &self.inner.measures.seconds;
        let make = || metrics::histogram!("pleat_invocation_seconds", "door" => door);
        seconds.of([door, ""], make).record(wall.as_secs_f64());
        metrics::histogram!("pleat_guest_cpu_seconds").record(cpu.as_secs_f64());
        self.inner.measures.change(task.state);
    }
}

/// The state, or of a failed task the reason, which says more.
fn outcome(task: &Task) -> &'static str {
    match &task.failure {
        Some(failure) => failure.reason.as_str(),
        None => task.state.as_str(),
    }
}

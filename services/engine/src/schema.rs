//! JSON Schemas of functions: compiled once, shared by the catalogs that need them, asked on every call.
//!
//! A check that is quick is made where the call is. What takes more than a moment waits for its turn and has a thread of
//! its own, so that no thread that does I/O is blocked and no tenant takes all processors.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Raw, SkillName, TenantId, Usage};
use pleat_schemas::{Effort, Fault, Verdict};
use rustix::time::{ClockId, clock_gettime};
use serde_json::Value;
use sha2::{Digest, Sha256};
use tokio::sync::oneshot;

use crate::engine::Engine;
use crate::error::{EngineError, Violation};

/// How long a check waits for its turn.
const TURN_TIMEOUT: Duration = Duration::from_secs(5);
/// The share of the turns that one tenant may have, in percent.
const TENANT_SHARE: u8 = 50;

/// A compiled schema.
#[derive(Debug, Clone)]
pub(crate) enum Schema {
    Anything,
    Compiled(Arc<pleat_schemas::Schema>),
    /// It was deployed when more was allowed: nothing matches it.
    Refused(Arc<str>),
}

/// A check as far as it could be made in a moment.
pub(crate) enum Quick {
    Decided(Vec<Violation>),
    Later(Later),
}

/// The rest of a check.
pub(crate) struct Later {
    schema: Arc<pleat_schemas::Schema>,
    value: Value,
}

/// Compiled schemas by their text, as many as fit.
pub(crate) struct SchemaCache {
    compiled: moka::sync::Cache<[u8; 32], Schema>,
}

impl SchemaCache {
    pub(crate) fn new(bytes: u64) -> Self {
        let weigh = |_: &[u8; 32], schema: &Schema| u32::try_from(schema.bytes()).unwrap_or(u32::MAX);
        Self { compiled: moka::sync::Cache::builder().weigher(weigh).max_capacity(bytes).build() }
    }

    /// The compiled form of a stored schema. Not for threads that do I/O.
    pub(crate) fn get(&self, schema: Option<&Value>) -> Schema {
        let Some(schema) = constraining(schema) else { return Schema::Anything };
        let key: [u8; 32] = Sha256::digest(schema.to_string()).into();
        if let Some(known) = self.compiled.get(&key) {
            return known;
        }
        let compiled = match Schema::compile(Some(schema), Effort::FULL) {
            Ok(compiled) => compiled,
            Err(fault) => Schema::Refused(fault.into()),
        };
        if matches!(compiled, Schema::Compiled(_)) {
            self.compiled.insert(key, compiled.clone());
        }
        metrics::gauge!("pleat_schema_cache_bytes").set(self.compiled.weighted_size() as f64);
        compiled
    }
}

fn constraining(schema: Option<&Value>) -> Option<&Value> {
    schema.filter(|schema| **schema != Value::Bool(true))
}

impl Schema {
    /// Compiles a schema. With [`Effort::FULL`] not for threads that do I/O.
    pub(crate) fn compile(schema: Option<&Value>, effort: Effort) -> Result<Self, String> {
        let Some(schema) = constraining(schema) else { return Ok(Self::Anything) };
        let compiled = pleat_schemas::Schema::compile(schema, effort);
        compiled.map(|compiled| Self::Compiled(Arc::new(compiled))).map_err(|refused| refused.to_string())
    }

    /// About what it takes in memory.
    pub(crate) fn bytes(&self) -> usize {
        const LEAST: usize = 256;
        match self {
            Self::Compiled(schema) => LEAST.saturating_add(schema.bytes()),
            Self::Anything | Self::Refused(_) => LEAST,
        }
    }

    /// The faults of a payload, if a moment is enough to find them; empty when it is valid.
    pub(crate) fn quick(&self, payload: &Raw) -> Quick {
        let schema = match self {
            Self::Anything => return Quick::Decided(Vec::new()),
            Self::Refused(fault) => {
                let message = format!("the skill's schema is no longer allowed; deploy it again: {fault}");
                return Quick::Decided(vec![Violation { pointer: String::new(), message }]);
            }
            Self::Compiled(schema) => schema,
        };
        let value: Value = match serde_json::from_str(payload.get()) {
            Ok(value) => value,
            Err(error) => {
                return Quick::Decided(vec![Violation { pointer: String::new(), message: error.to_string() }]);
            }
        };
        match schema.check(&value, Effort::INLINE) {
            Ok(verdict) => Quick::Decided(violations(verdict)),
            Err(_) => Quick::Later(Later { schema: Arc::clone(schema), value }),
        }
    }
}

fn violations(verdict: Verdict) -> Vec<Violation> {
    let violation = |Fault { pointer, message }| Violation { pointer, message };
    match verdict {
        Verdict::Valid => Vec::new(),
        Verdict::Invalid(faults) => faults.into_iter().map(violation).collect(),
    }
}

impl Engine {
    /// The faults of a payload, however long it takes within the budget.
    pub(crate) async fn violations(
        &self,
        tenant: TenantId,
        schema: &Schema,
        payload: &Raw,
    ) -> Result<Vec<Violation>, EngineError> {
        match schema.quick(payload) {
            Quick::Decided(violations) => Ok(violations),
            Quick::Later(later) => Box::pin(self.check_later(tenant, later)).await,
        }
    }

    /// Makes the rest of a check. One that is too much work is a violation.
    pub(crate) async fn check_later(&self, tenant: TenantId, later: Later) -> Result<Vec<Violation>, EngineError> {
        metrics::counter!("pleat_schema_checks_long_total").increment(1);
        let Later { schema, value } = later;
        let verdict = self.with_schemas(tenant, move || schema.check(&value, Effort::FULL)).await?;
        Ok(match verdict {
            Ok(verdict) => violations(verdict),
            Err(spent) => vec![Violation { pointer: String::new(), message: spent.to_string() }],
        })
    }

    /// Works on schemas when it is the tenant's turn, on its account.
    pub(crate) async fn with_schemas<T: Send + 'static>(
        &self,
        tenant: TenantId,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, EngineError> {
        let turn = self.inner.schema_turns.take(tenant, 1, TENANT_SHARE, TURN_TIMEOUT).await;
        let turn = turn.map_err(|error| match error {
            EngineError::Busy(_) => EngineError::Busy("schema checks"),
            other => other,
        })?;
        let (result, time) = apart(move || {
            let result = work();
            drop(turn);
            (result, thread_time())
        })
        .await?;
        let usage = Usage { cpu_us: u64::try_from(time.as_micros()).unwrap_or(u64::MAX), ..Usage::default() };
        self.inner.books.spend(tenant, None, &SkillName::compiling(), usage);
        Ok(result)
    }
}

/// The CPU time of this thread so far.
fn thread_time() -> Duration {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    Duration::try_from(time).unwrap_or_default()
}

/// Works on a thread with the stack that schemas may need.
pub(crate) async fn apart<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Result<T, EngineError> {
    let (done, answer) = oneshot::channel();
    let thread = std::thread::Builder::new().name("pleat-schemas".to_owned()).stack_size(Effort::STACK);
    let spawned = thread.spawn(move || {
        let _ = done.send(work());
    });
    spawned.map_err(|error| EngineError::Internal(Box::new(error)))?;
    answer.await.map_err(|_| EngineError::Internal("a thread for schemas ended early".into()))
}

//! A pipeline as it is stored and run: parsed, in order, with one canonical form.

use std::time::Duration;

use pleat_domain::{SkillName, VersionHash};
use serde::{Serialize, Serializer};
use serde_json::{Map, Value, json};

use crate::condition::Condition;
use crate::duration;
use crate::limits;
use crate::mapping::Mapping;
use crate::reference::StepId;

#[derive(Debug, Clone, PartialEq)]
pub struct Definition {
    pub name: SkillName,
    pub description: String,
    pub input_schema: Option<Value>,
    /// One after the other.
    pub stages: Vec<Stage>,
    /// What the run answers; without one, what came last.
    pub output: Option<Mapping>,
    pub output_schema: Option<Value>,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Stage {
    /// Side by side.
    pub steps: Vec<Step>,
    /// A group passes on the answers of all its steps by their ids; what is none has one step, and passes on its answer.
    pub group: bool,
}

#[derive(Debug, Clone, PartialEq)]
pub struct Step {
    pub id: StepId,
    pub call: Call,
    pub when: Option<Condition>,
    pub for_each: Option<FanOut>,
    /// What the call is given; without one, what came before, or the item of a fan-out.
    pub input: Option<Mapping>,
    /// For one attempt; without one, the limits of what is called.
    pub timeout: Option<Duration>,
    pub retry: Retry,
}

/// What a step calls. The kinds for agents have their place and are refused until there are agents to call.
#[derive(Debug, Clone, PartialEq)]
pub enum Call {
    Function(SkillName),
    Pipeline(SkillName),
    AgentInvoke(Value),
    AgentDispatch(Value),
}

#[derive(Debug, Clone, PartialEq)]
pub struct FanOut {
    pub over: Mapping,
    /// Items that run at once.
    pub concurrency: u32,
    /// More than these are a failure of the step.
    pub max_items: u32,
    pub on_failure: OnFailure,
}

/// What the failure of one item, after its retries, means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum OnFailure {
    /// The step fails, and with it the run.
    Stop,
    /// The item's place in the result is `null`.
    Continue,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Retry {
    /// Tries in all, the first included.
    pub attempts: u32,
    /// Before the second try.
    pub backoff: Duration,
    /// How many times longer each further wait is.
    pub factor: u32,
    pub max_backoff: Duration,
    pub on: RetryOn,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetryOn {
    /// Failures that may pass: those that the function calls retryable, time-outs, and a platform that was busy.
    Retryable,
    Any,
}

impl Default for Retry {
    fn default() -> Self {
        Self {
            attempts: 1,
            backoff: Duration::from_secs(1),
            factor: 2,
            max_backoff: Duration::from_secs(60),
            on: RetryOn::Retryable,
        }
    }
}

impl Retry {
    /// The wait after so many failures.
    pub fn wait(&self, failures: u32) -> Duration {
        let factor = self.factor.saturating_pow(failures.saturating_sub(1));
        self.backoff.saturating_mul(factor).min(self.max_backoff)
    }
}

impl Call {
    /// The skill as callers name it; nothing for an agent.
    pub fn skill(&self) -> Option<String> {
        match self {
            Self::Function(name) => Some(name.to_string()),
            Self::Pipeline(name) => Some(format!("pipeline:{name}")),
            Self::AgentInvoke(_) | Self::AgentDispatch(_) => None,
        }
    }

    pub(crate) fn shown(&self) -> String {
        self.skill().unwrap_or_else(|| self.kind().to_owned())
    }

    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Function(_) => "function",
            Self::Pipeline(_) => "pipeline",
            Self::AgentInvoke(_) => "agent.invoke",
            Self::AgentDispatch(_) => "agent.dispatch",
        }
    }
}

impl Definition {
    pub fn steps(&self) -> impl Iterator<Item = &Step> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }

    /// The skills it calls, each once: what a run pins, and what a redeploy looks at again.
    pub fn calls(&self) -> Vec<&Call> {
        let mut calls: Vec<&Call> = Vec::new();
        for step in self.steps() {
            if !calls.contains(&&step.call) {
                calls.push(&step.call);
            }
        }
        calls
    }

    /// The one way to write it: fields in a fixed order, defaults left out, steps in the order they run in. Parsing
    /// it gives the same definition.
    pub fn canonical(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Of the canonical form.
    pub fn hash(&self) -> VersionHash {
        VersionHash::of("pipeline", self.canonical().as_bytes())
    }
}

impl Serialize for Definition {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut map = Map::new();
        map.insert("name".into(), self.name.as_str().into());
        if !self.description.is_empty() {
            map.insert("description".into(), self.description.as_str().into());
        }
        put(&mut map, "input_schema", self.input_schema.clone());
        map.insert("steps".into(), self.stages.iter().map(stage).collect());
        put(&mut map, "output", self.output.as_ref().map(Mapping::to_value));
        put(&mut map, "output_schema", self.output_schema.clone());
        map.serialize(serializer)
    }
}

fn put(map: &mut Map<String, Value>, key: &str, value: Option<Value>) {
    if let Some(value) = value {
        map.insert(key.to_owned(), value);
    }
}

fn stage(stage: &Stage) -> Value {
    match (stage.steps.as_slice(), stage.group) {
        ([one], false) => step(one),
        (steps, _) => json!({ "parallel": steps.iter().map(step).collect::<Vec<_>>() }),
    }
}

fn step(step: &Step) -> Value {
    let mut map = Map::new();
    map.insert("id".into(), step.id.as_str().into());
    match &step.call {
        Call::AgentInvoke(config) | Call::AgentDispatch(config) => {
            map.insert("kind".into(), step.call.kind().into());
            map.insert("config".into(), config.clone());
        }
        call => put(&mut map, "tool_name", call.skill().map(Value::from)),
    }
    put(&mut map, "when", step.when.as_ref().map(|when| when.to_string().into()));
    put(&mut map, "for_each", step.for_each.as_ref().map(fan_out));
    put(&mut map, "input_mapping", step.input.as_ref().map(Mapping::to_value));
    put(&mut map, "timeout", step.timeout.map(|timeout| duration::format(timeout).into()));
    put(&mut map, "retry", (step.retry != Retry::default()).then(|| retry(&step.retry)));
    map.into()
}

fn fan_out(fan: &FanOut) -> Value {
    let mut map = Map::new();
    map.insert("in".into(), fan.over.to_value());
    put(&mut map, "concurrency", (fan.concurrency != limits::CONCURRENCY).then(|| fan.concurrency.into()));
    put(&mut map, "max_items", (fan.max_items != limits::ITEMS).then(|| fan.max_items.into()));
    put(&mut map, "on_failure", (fan.on_failure == OnFailure::Continue).then(|| "continue".into()));
    map.into()
}

fn retry(retry: &Retry) -> Value {
    let plain = Retry::default();
    let mut map = Map::new();
    map.insert("attempts".into(), retry.attempts.into());
    put(&mut map, "backoff", (retry.backoff != plain.backoff).then(|| duration::format(retry.backoff).into()));
    put(&mut map, "factor", (retry.factor != plain.factor).then(|| retry.factor.into()));
    let most = retry.max_backoff;
    put(&mut map, "max_backoff", (most != plain.max_backoff).then(|| duration::format(most).into()));
    put(&mut map, "on", (retry.on == RetryOn::Any).then(|| "any".into()));
    map.into()
}

#[cfg(test)]
mod tests;

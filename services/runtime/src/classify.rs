//! Every way a call can end, as the one word callers know it by and a sentence that names the function and the limit.
//!
//! The sentence is fit for any caller: it must never carry the host's innards. What only the function's owner should
//! read goes into `detail`.

use pleat_bindings::types;
use pleat_domain::{CallLimits, Failure, Reason, limits};
use serde_json::Value;
use wasmtime::{PoolConcurrencyLimitError, Trap, WasmBacktrace};
use wasmtime_wasi::{I32Exit, ResourceTableError};

use crate::call::{Returned, Stop};
use crate::host::Excess;
use crate::host_calls::Unavailable;
use crate::memory::MemoryScope;
use crate::outcome::{Breach, Outcome};
use crate::state::{MemoryRefusal, State};
use crate::text;
use crate::traffic::Overdrawn;

/// How the guest's future ended.
pub(crate) enum Ended {
    Returned(wasmtime::Result<Result<Returned, types::Error>>),
    OutOfTime,
    Canceled,
}

impl Ended {
    /// The size of what was returned.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Returned(Ok(Ok(returned))) => returned.bytes(),
            Self::Returned(_) | Self::OutOfTime | Self::Canceled => 0,
        }
    }
}

#[expect(clippy::result_large_err, reason = "made once per call and moved into its report")]
pub(crate) fn result(name: &str, ended: Ended, state: &State, limits: &CallLimits) -> Result<Outcome, Stop> {
    let failure = match ended {
        Ended::Canceled => return Err(Stop::Canceled),
        Ended::Returned(Ok(Ok(returned))) => match returned.checked(limits) {
            Ok(outcome) => return Ok(outcome),
            Err(breach) => self::breach(name, breach, limits),
        },
        Ended::Returned(Ok(Err(error))) => reported(name, error, state, limits),
        Ended::Returned(Err(error)) => with_stderr(stopped(name, &error, state, limits), state),
        Ended::OutOfTime => {
            let message = format!("`{name}` took longer than {} ms", limits.wall_ms);
            with_stderr(Failure::new(Reason::WallLimit, message), state)
        }
    };
    Err(Stop::Failed(failure))
}

fn breach(name: &str, breach: Breach, limits: &CallLimits) -> Failure {
    match breach {
        Breach::TooLarge { size } => Failure::new(
            Reason::OutputLimit,
            format!("`{name}` returned {size} bytes; the most is {}", text::bytes(limits.output_bytes)),
        ),
        Breach::Invalid(what) => {
            Failure::new(Reason::BadOutput, format!("`{name}` did not keep to the contract: {}", text::cut(&what, 500)))
        }
    }
}

/// The function said itself that it failed. A `stack` among the details is for the owner only.
fn reported(name: &str, error: types::Error, state: &State, limits: &CallLimits) -> Failure {
    let message = text::escaped(text::cut(&error.message, limits::FAILURE_TEXT)).into_owned();
    // An interpreter that was refused memory raises an error of its own, or loses the job that needed it and waits.
    if let Some(refusal) = state.budget.memory_refused
        && (message.contains("out of memory") || error.code == "never_settled")
    {
        return memory(name, refusal, state, limits);
    }
    let details = error.details.filter(|details| details.len() <= 2 * limits::FAILURE_TEXT);
    let mut details = details.and_then(|details| serde_json::from_str::<Value>(&details).ok());
    let stack = details.as_mut().and_then(Value::as_object_mut).and_then(|map| map.shift_remove("stack"));
    if details.as_ref().is_some_and(|details| details.as_object().is_some_and(serde_json::Map::is_empty)) {
        details = None;
    }
    let mut failure = Failure::new(Reason::FunctionError, message);
    failure.code = Some(text::escaped(text::cut(&error.code, 128)).into_owned());
    failure.retryable = error.retryable;
    failure.details = details;
    match stack.as_ref().and_then(Value::as_str) {
        Some(stack) => failure.with_detail(text::escaped(text::cut(stack, limits::FAILURE_TEXT))),
        None => with_stderr(failure, state),
    }
}

/// The guest was stopped, or never started.
fn stopped(name: &str, error: &wasmtime::Error, state: &State, limits: &CallLimits) -> Failure {
    if let Some(trap) = error.downcast_ref::<Trap>() {
        return trapped(name, *trap, state, limits);
    }
    if error.is::<PoolConcurrencyLimitError>() {
        return Failure::new(Reason::Busy, format!("no instance is free to run `{name}`; try again in a moment"));
    }
    if error.is::<I32Exit>() {
        return Failure::new(Reason::Exit, format!("`{name}` ended its process instead of returning{}", said(state)));
    }
    if error.is::<Excess>() {
        let message = format!("`{name}` kept emitting after its {} events were used up", limits.events);
        return Failure::new(Reason::OutputLimit, message);
    }
    if let Some(overdrawn) = error.downcast_ref::<Overdrawn>() {
        return Failure::new(Reason::HostCallLimit, format!("`{name}` {}", overdrawn.said(limits)));
    }
    if let Some(scope) = error.downcast_ref::<MemoryScope>() {
        return memory(name, MemoryRefusal::Shared(*scope), state, limits);
    }
    if error.is::<Unavailable>() {
        return Failure::new(Reason::Busy, format!("a setting for `{name}` cannot be read now; try again in a moment"));
    }
    // The type behind this text is private to wasmtime; a test holds the text.
    if error.root_cause().to_string().contains("fuel allocated for hostcalls") {
        let most = text::bytes(limits.output_bytes);
        return Failure::new(Reason::OutputLimit, format!("`{name}` gave out more than {most} at once"));
    }
    if let Some(refusal) = state.budget.memory_refused {
        return memory(name, refusal, state, limits);
    }
    if state.budget.table_refused {
        return tables(name);
    }
    if error.is::<ResourceTableError>() {
        return Failure::new(Reason::MemoryLimit, format!("`{name}` holds too many open handles"));
    }
    let detail = format!("{error:#}");
    let detail = text::cut(&detail, limits::FAILURE_TEXT);
    // Errors that arise inside a call of the host carry the guest's stack.
    if error.is::<WasmBacktrace>() {
        return Failure::new(Reason::Trap, format!("`{name}` misused a call of the platform")).with_detail(detail);
    }
    // What is left are results that are no values of their type: text that is not UTF-8, places out of bounds.
    Failure::new(Reason::BadOutput, format!("`{name}` returned something that is not of its declared type"))
        .with_detail(detail)
}

fn trapped(name: &str, trap: Trap, state: &State, limits: &CallLimits) -> Failure {
    match trap {
        Trap::Interrupt => {
            Failure::new(Reason::CpuLimit, format!("`{name}` used more than {} ms of CPU time", limits.cpu_ms))
        }
        Trap::StackOverflow => {
            Failure::new(Reason::StackLimit, format!("`{name}` nested its calls too deep and used up its stack"))
        }
        Trap::UnreachableCodeReached => match state.budget.memory_refused {
            Some(refusal) => memory(name, refusal, state, limits),
            None if state.budget.table_refused => tables(name),
            None => Failure::new(Reason::Trap, format!("`{name}` stopped itself (panic or abort){}", said(state))),
        },
        Trap::MemoryOutOfBounds | Trap::HeapMisaligned => Failure::new(
            Reason::Trap,
            format!("`{name}` reached outside its memory; endless recursion does that too{}", said(state)),
        ),
        // Wasm's own words, as `integer divide by zero`.
        other => {
            let what = other.to_string();
            let what = what.strip_prefix("wasm trap: ").unwrap_or(&what);
            Failure::new(Reason::Trap, format!("`{name}` trapped: {what}{}", said(state)))
        }
    }
}

/// Names the budget. One that is shared has room again when other calls have ended.
fn memory(name: &str, refusal: MemoryRefusal, state: &State, limits: &CallLimits) -> Failure {
    let message = match refusal {
        MemoryRefusal::Call => {
            format!("`{name}` needed more than {} of memory", text::bytes(limits.memory_bytes))
        }
        MemoryRefusal::Shared(MemoryScope::Tenant) => format!(
            "`{name}` was refused memory: all calls of the tenant on this node share {} (`memory_bytes` of the plan)",
            text::bytes(state.memory.tenant_limit())
        ),
        MemoryRefusal::Shared(MemoryScope::Node) => format!(
            "`{name}` was refused memory: all calls on this node share {} (`runtime.memory_mib`)",
            text::bytes(state.memory.node_limit())
        ),
    };
    let mut failure = Failure::new(Reason::MemoryLimit, message);
    failure.retryable = matches!(refusal, MemoryRefusal::Shared(_));
    failure
}

fn tables(name: &str) -> Failure {
    let most = limits::TABLE_ELEMENTS;
    Failure::new(Reason::MemoryLimit, format!("`{name}` needed tables of more than {most} elements in total"))
}

fn with_stderr(failure: Failure, state: &State) -> Failure {
    if failure.detail.is_some() {
        return failure;
    }
    let stderr = state.stdio.error_tail();
    failure.with_detail(text::escaped(stderr.trim()))
}

/// A panic's message and place, as `: boom at src/lib.rs:3:9`: the function's own last words. The rest of stderr is
/// for the owner, and stays in the detail.
fn said(state: &State) -> String {
    let line = panic_line(&state.stdio.error_tail());
    line.map_or_else(String::new, |line| format!(": {}", text::escaped(text::cut(&line, 300))))
}

/// Rust writes `thread '…' panicked at src/lib.rs:3:9:` and the message on the next line.
fn panic_line(stderr: &str) -> Option<String> {
    let mut lines = stderr.lines();
    let place = lines.find_map(|line| line.split_once(" panicked at ").map(|(_, place)| place))?;
    let message = lines.next().unwrap_or_default();
    Some(format!("{message} at {}", place.trim_end_matches(':')))
}

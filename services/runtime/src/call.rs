//! One call: a fresh instance, entered once, metered, and thrown away whatever comes of it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use pleat_bindings::types;
use pleat_domain::{CallLimits, Failure, Raw};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use wasmtime::{Store, Trap, UpdateDeadline};

use crate::classify::{self, Ended};
use crate::function::Function;
use crate::gate::Party;
use crate::host_calls::HostCalls;
use crate::memory::CallMemory;
use crate::meter::Meter;
use crate::outcome::{self, Outcome};
use crate::pace::Pace;
use crate::state::State;

/// What the guest is told about the call: the record of the WIT contract.
pub type GuestContext = types::Context;

/// Resources a guest may define and hold inside itself.
const COMPONENT_HANDLES: usize = 10_000;
/// What may cross from the guest to the host in one call beyond the output.
const CROSSING_SLACK: usize = 1 << 20;
/// What a poll may use before a tick ends it. A call that has just begun goes on to the next tick: most are over by then.
const FIRST_SLICE: Duration = Duration::from_micros(500);
const SLICE: Duration = Duration::from_micros(100);

pub struct Call {
    /// Who shares the processor with whom is decided by this.
    pub party: Party,
    pub function: Arc<Function>,
    pub entry: Entry,
    pub context: GuestContext,
    pub limits: CallLimits,
    /// What the call holds of its tenant's and the node's memory budget.
    pub memory: Arc<CallMemory>,
    pub host: Box<dyn HostCalls>,
    /// Ends the call within a few milliseconds, wherever the guest is.
    pub cancel: CancellationToken,
}

/// Which export is called.
#[derive(Debug, Clone)]
pub enum Entry {
    Describe,
    Handle { input: Raw },
    ReadResource { uri: String },
    GetPrompt { name: String, arguments: Raw },
}

#[derive(Debug)]
pub struct CallReport {
    pub result: Result<Outcome, Stop>,
    /// Of the guest's thread while it worked on this call.
    pub cpu: Duration,
    /// From instantiation to the end, host calls and waiting included.
    pub wall: Duration,
    /// All memories of the guest together, at their largest.
    pub peak_memory: usize,
}

/// Why there is no outcome.
#[derive(Debug)]
pub enum Stop {
    Failed(Failure),
    Canceled,
}

impl CallReport {
    /// Nothing ran.
    pub(crate) fn not_run(stop: Stop) -> Self {
        Self { result: Err(stop), cpu: Duration::ZERO, wall: Duration::ZERO, peak_memory: 0 }
    }
}

/// Runs the call to its end. Must run on the guests' threads; `io` are the others.
pub(crate) async fn run(call: Call, mut pace: Pace, io: Handle) -> CallReport {
    let Call { party: _, function, entry, context, limits, memory, host, cancel } = call;
    let began = Instant::now();
    let meter = Arc::new(Meter::default());
    let mut store = store(&function, &limits, State::new(&limits, host, Arc::clone(&memory), io), Arc::clone(&meter));
    let ended = {
        let work = meter.measure(enter(&function, &mut store, entry, &context));
        let work = pace.keep(&meter, work);
        tokio::select! {
            biased;
            () = cancel.cancelled() => Ended::Canceled,
            done = tokio::time::timeout(limits.wall(), work) => done.map_or(Ended::OutOfTime, Ended::Returned),
        }
    };
    store.data_mut().finish();
    let name = if context.skill.is_empty() { "describe" } else { &context.skill };
    let returned = ended.bytes();
    let result = classify::result(name, ended, store.data(), &limits);
    let peak_memory = store.data().budget.memory_peak;
    drop(store);
    if result.is_ok() {
        // It was in the instance's memory, which is released now, and is kept until the call is recorded.
        memory.charge_beyond(returned);
    }
    CallReport { result, cpu: meter.used(), wall: began.elapsed(), peak_memory }
}

fn store(function: &Function, limits: &CallLimits, state: State, meter: Arc<Meter>) -> Store<State> {
    let mut store = Store::new(function.pre.engine(), state);
    store.limiter(|state| &mut state.budget);
    store.set_hostcall_fuel(limits.output_bytes.max(limits.event_bytes).saturating_add(CROSSING_SLACK));
    store.set_max_component_handles(COMPONENT_HANDLES);
    let most = limits.cpu();
    store.epoch_deadline_callback(move |mut context| {
        context.data_mut().take_printed();
        let tick = meter.tick();
        if tick.used > most {
            return Err(Trap::Interrupt.into());
        }
        if tick.poll < if tick.is_first { FIRST_SLICE } else { SLICE } {
            return Ok(UpdateDeadline::Continue(1));
        }
        meter.interrupt();
        Ok(UpdateDeadline::Yield(1))
    });
    store
}

/// What the guest's export gave back, not yet checked.
pub(crate) enum Returned {
    Outcome(types::Outcome),
    Text(String),
}

impl Returned {
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Outcome(outcome) => outcome::size(outcome),
            Self::Text(text) => text.len(),
        }
    }

    pub(crate) fn checked(self, limits: &CallLimits) -> Result<Outcome, outcome::Breach> {
        match self {
            Self::Outcome(outcome) => outcome::checked(outcome, limits),
            Self::Text(text) => outcome::text(text, limits),
        }
    }
}

/// Instantiates and calls: both under the same budget, because a start function is code like any other.
async fn enter(
    function: &Function,
    store: &mut Store<State>,
    entry: Entry,
    context: &GuestContext,
) -> wasmtime::Result<Result<Returned, types::Error>> {
    // Not before it is this call's turn: a tick while it waits would interrupt it as soon as it begins.
    store.set_epoch_deadline(1);
    let instance = function.pre.instantiate_async(&mut *store).await?;
    let handler = instance.pleat_function_handler();
    Ok(match entry {
        Entry::Describe => handler.call_describe(store).await?.map(Returned::Text),
        Entry::Handle { input } => handler.call_handle(store, &text(input), context).await?.map(Returned::Outcome),
        Entry::ReadResource { uri } => handler.call_read_resource(store, &uri, context).await?.map(Returned::Text),
        Entry::GetPrompt { name, arguments } => {
            handler.call_get_prompt(store, &name, &text(arguments), context).await?.map(Returned::Text)
        }
    })
}

/// The generated code wants a `String`; this is one without copying.
fn text(raw: Raw) -> String {
    String::from(Box::<str>::from(raw))
}

//! The budget of the validation that runs on this thread.
//!
//! The library has no way to stop. So whatever it reads of a value is counted here, and a run whose budget is spent is
//! left by unwinding: at once, from any depth, with all that it held given back.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::{Duration, Instant};

/// How much work a compilation or a validation may be.
#[derive(Debug, Clone, Copy)]
pub struct Effort {
    /// Values that are read, sixteen bytes of a text counting as one more.
    pub steps: u64,
    /// Bytes of stack below the caller.
    pub stack: usize,
    /// What no count sees, such as a slow pattern, ends here.
    pub time: Duration,
}

impl Effort {
    /// A moment: fit for a thread that does I/O.
    pub const INLINE: Self = Self { steps: 50_000, stack: 640 * 1024, time: Duration::from_millis(100) };
    /// The most that any schema may need for any value. Needs a thread with [`Self::STACK`].
    pub const FULL: Self = Self { steps: 2_000_000, stack: 56 * 1024 * 1024, time: Duration::from_secs(3) };
    /// The stack of a thread for [`Self::FULL`].
    pub const STACK: usize = 64 * 1024 * 1024;
}

/// Memory that details of faults may take, in values.
const DETAIL_VALUES: u64 = 20_000;
/// Every so many steps the clock is looked at.
const TIMED_STEPS: u32 = 12;

/// The payload that unwinds.
struct Stop;

thread_local! {
    static STEPS: Cell<u64> = const { Cell::new(u64::MAX) };
    static VALUES: Cell<u64> = const { Cell::new(u64::MAX) };
    /// Values that every fault copies from its schema.
    static FAULT_VALUES: Cell<u64> = const { Cell::new(0) };
    static FLOOR: Cell<usize> = const { Cell::new(0) };
    static UNTIL: Cell<Option<Instant>> = const { Cell::new(None) };
}

/// Puts the thread back to where nothing is counted.
struct Running;

impl Drop for Running {
    fn drop(&mut self) {
        STEPS.set(u64::MAX);
        VALUES.set(u64::MAX);
        FAULT_VALUES.set(0);
        FLOOR.set(0);
        UNTIL.set(None);
    }
}

/// Runs something of the library within a budget. `Err`: it is spent. `fault_values`: what each fault copies.
pub(crate) fn within<T>(effort: Effort, fault_values: u64, run: impl FnOnce() -> T) -> Result<T, Broken> {
    let _running = Running;
    STEPS.set(effort.steps);
    VALUES.set(DETAIL_VALUES);
    FAULT_VALUES.set(fault_values);
    FLOOR.set(here().saturating_sub(effort.stack));
    UNTIL.set(Instant::now().checked_add(effort.time));
    catch_unwind(AssertUnwindSafe(run)).map_err(|payload| Broken::of(payload.as_ref()))
}

/// Why a run did not come to its end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Broken {
    Spent,
    /// A defect of the library.
    Panicked,
}

impl Broken {
    fn of(payload: &(dyn Any + Send)) -> Self {
        if payload.is::<Stop>() { Self::Spent } else { Self::Panicked }
    }
}

/// Counts work; does not return when the budget is spent.
#[inline]
pub(crate) fn spend(steps: u64) {
    let before = STEPS.get();
    let Some(left) = before.checked_sub(steps) else { stop() };
    STEPS.set(left);
    if here() < FLOOR.get() {
        stop();
    }
    if (before ^ left) >> TIMED_STEPS != 0 && UNTIL.get().is_some_and(|until| Instant::now() > until) {
        stop();
    }
}

/// Counts values that a fault keeps.
pub(crate) fn keep(values: u64) {
    let needed = values.saturating_add(FAULT_VALUES.get());
    match VALUES.get().checked_sub(needed) {
        Some(left) => VALUES.set(left),
        None => stop(),
    }
}

/// About where the stack ends now.
#[inline]
fn here() -> usize {
    let place = 0_u8;
    std::ptr::from_ref(std::hint::black_box(&place)).addr()
}

/// No panic hook hears of it: nothing is wrong.
#[cold]
fn stop() -> ! {
    resume_unwind(Box::new(Stop))
}

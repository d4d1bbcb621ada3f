//! The event loop: promise jobs while there are any, then a turn of whatever else can happen, until the value is there.

use rquickjs::promise::PromiseState;
use rquickjs::{Ctx, Result, Value};

/// What became of a call into the script.
pub enum Settled<'js> {
    Value(Value<'js>),
    Thrown(Value<'js>),
    /// Nothing is left that could settle it.
    Never,
}

/// `turn` waits for the next timer or answer and lets it happen; it answers false when there is none.
pub fn settle<'js>(ctx: &Ctx<'js>, started: Result<Value<'js>>, turn: impl Fn() -> Result<bool>) -> Settled<'js> {
    let value = match started {
        Ok(value) => value,
        Err(_) => return Settled::Thrown(ctx.catch()),
    };
    let Some(promise) = value.as_promise() else { return Settled::Value(value) };
    while promise.state() == PromiseState::Pending {
        if ctx.execute_pending_job() {
            continue;
        }
        match turn() {
            Ok(true) => {}
            Ok(false) => return Settled::Never,
            // Thrown by a timer's callback, which nobody can catch.
            Err(_) => return Settled::Thrown(ctx.catch()),
        }
    }
    match promise.result::<Value<'js>>() {
        Some(Ok(value)) => Settled::Value(value),
        _ => Settled::Thrown(ctx.catch()),
    }
}

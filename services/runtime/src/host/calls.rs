//! `call`: another skill of the same tenant.

use std::sync::Arc;

use pleat_bindings::call::{self, CallError, PendingCall};
use pleat_bindings::types;
use pleat_domain::json;
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;

use crate::state::State;

type Answer = Result<String, CallError>;

impl call::Host for State {
    fn start(&mut self, skill: String, input: String) -> wasmtime::Result<Result<Resource<PendingCall>, CallError>> {
        self.cross(skill.len() + input.len())?;
        if self.holds_too_many() {
            return Ok(Err(CallError::Unavailable));
        }
        let input = match json::checked(input) {
            Ok(input) => input,
            Err(fault) => return Ok(Err(failed("invalid_input", format!("the input is {fault}")))),
        };
        // Its input is charged with the call that it becomes.
        let work = match self.host.call(skill, input) {
            Ok(work) => work,
            Err(refused) => return Ok(Err(refused)),
        };
        let (traffic, memory) = (Arc::clone(&self.traffic), Arc::clone(&self.memory));
        let answer = async move {
            let value = match work.await {
                Ok(value) => value,
                Err(error) => return (Err(error), None),
            };
            if traffic.carry(value.get().len()).is_err() {
                let text = "the answer is more than this call may still receive".to_owned();
                return (Err(failed("host_call_limit", text)), None);
            }
            match memory.hold(value.get().len()) {
                Ok(charge) => (Ok(String::from(Box::<str>::from(value))), Some(charge)),
                Err(scope) => (Err(failed("memory_limit", scope.to_string())), None),
            }
        };
        self.pend(answer, || Err(CallError::Unavailable)).map(Ok)
    }
}

impl call::HostPendingCall for State {
    fn subscribe(&mut self, pending: Resource<PendingCall>) -> wasmtime::Result<Resource<DynPollable>> {
        self.pollable::<Answer, _>(&pending)
    }

    fn take(&mut self, pending: Resource<PendingCall>) -> wasmtime::Result<Option<Answer>> {
        self.taken(&pending)
    }

    fn drop(&mut self, pending: Resource<PendingCall>) -> wasmtime::Result<()> {
        self.forget::<Answer, _>(&pending)
    }
}

fn failed(code: &str, message: String) -> CallError {
    CallError::Failed(types::Error { code: code.to_owned(), message, retryable: false, details: None })
}

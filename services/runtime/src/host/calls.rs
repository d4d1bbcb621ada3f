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
        let work = match self.host.call(skill, input) {
            Ok(work) => work,
            Err(refused) => return Ok(Err(refused)),
        };
        let traffic = Arc::clone(&self.traffic);
        let answer = async move {
            let value = work.await?;
            let too_much = |_| failed("host_call_limit", "the answer is more than this call may still receive".into());
            traffic.carry(value.get().len()).map_err(too_much)?;
            Ok(String::from(Box::<str>::from(value)))
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

//! `http`: what may be reached, and how, is decided where it is sent from; here it is counted.

use std::sync::Arc;

use pleat_bindings::http::{self, Header, HttpError, PendingResponse, Request, Response};
use wasmtime::component::Resource;
use wasmtime_wasi::p2::DynPollable;

use crate::state::State;

type Answer = Result<Response, HttpError>;

impl http::Host for State {
    fn send(&mut self, request: Request) -> wasmtime::Result<Result<Resource<PendingResponse>, HttpError>> {
        let body = request.body.as_ref().map_or(0, Vec::len);
        let sent = request.method.len() + request.url.len() + size(&request.headers) + body;
        self.cross(sent)?;
        if self.holds_too_many() {
            return Ok(Err(HttpError::Failed("too many requests are pending; take and drop some first".to_owned())));
        }
        let sending = match self.memory.hold(sent) {
            Ok(charge) => charge,
            Err(scope) => return Ok(Err(HttpError::Failed(scope.to_string()))),
        };
        let work = match self.host.http(request) {
            Ok(work) => work,
            Err(refused) => return Ok(Err(refused)),
        };
        let (traffic, memory) = (Arc::clone(&self.traffic), Arc::clone(&self.memory));
        let answer = async move {
            let answer = work.await;
            drop(sending);
            let response = match answer {
                Ok(response) => response,
                Err(error) => return (Err(error), None),
            };
            let size = response.url.len() + size(&response.headers) + response.body.len();
            if traffic.carry(size).is_err() {
                return (Err(HttpError::TooLarge), None);
            }
            match memory.hold(size) {
                Ok(charge) => (Ok(response), Some(charge)),
                Err(scope) => (Err(HttpError::Failed(scope.to_string())), None),
            }
        };
        self.pend(answer, || Err(HttpError::Failed("the platform is stopping".to_owned()))).map(Ok)
    }
}

impl http::HostPendingResponse for State {
    fn subscribe(&mut self, pending: Resource<PendingResponse>) -> wasmtime::Result<Resource<DynPollable>> {
        self.pollable::<Answer, _>(&pending)
    }

    fn take(&mut self, pending: Resource<PendingResponse>) -> wasmtime::Result<Option<Answer>> {
        self.taken(&pending)
    }

    fn drop(&mut self, pending: Resource<PendingResponse>) -> wasmtime::Result<()> {
        self.forget::<Answer, _>(&pending)
    }
}

fn size(headers: &[Header]) -> usize {
    headers.iter().map(|header| header.name.len() + header.value.len()).sum()
}

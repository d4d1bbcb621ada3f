//! What the host is working on for the script, and waiting for it: HTTP requests, calls of other skills, time.
//!
//! Everything is started at once and waited for together, so that what runs side by side in JavaScript does so in fact.

use std::cell::RefCell;
use std::collections::BTreeMap;

use rquickjs::{Array, Ctx, Function, IntoJs, Object, Result, TypedArray, Value};

use crate::bindings::pleat::function::call::{self, CallError, PendingCall};
use crate::bindings::pleat::function::http::{self, Header, HttpError, PendingResponse, Request, Response};
use crate::bindings::wasi::clocks::monotonic_clock;
use crate::bindings::wasi::io::poll::{self, Pollable};
use crate::native;

const NANOS_PER_MILLI: u64 = 1_000_000;

thread_local! {
    static WORK: RefCell<Work> = const { RefCell::new(Work { last: 0, running: BTreeMap::new() }) };
}

struct Work {
    last: u32,
    running: BTreeMap<u32, Running>,
}

struct Running {
    /// Declared first, because it must be dropped before what it was made from.
    pollable: Pollable,
    kind: Kind,
}

enum Kind {
    Response(PendingResponse),
    Call(PendingCall),
}

pub fn add<'js>(ctx: &Ctx<'js>, native: &Object<'js>) -> Result<()> {
    native.set("now", Function::new(ctx.clone(), now)?)?;
    native.set("wait", Function::new(ctx.clone(), wait)?)?;
    native.set("abandon", Function::new(ctx.clone(), abandon)?)?;
    native.set("send", Function::new(ctx.clone(), send)?)?;
    native.set("takeResponse", Function::new(ctx.clone(), take_response)?)?;
    native.set("call", Function::new(ctx.clone(), start_call)?)?;
    native.set("takeCall", Function::new(ctx.clone(), take_call)?)
}

/// Milliseconds since the call began.
fn now() -> f64 {
    (monotonic_clock::now() / NANOS_PER_MILLI) as f64
}

/// Sleeps until something is ready, at most `delay` milliseconds, and answers with the ids of what is.
fn wait(delay: Option<f64>) -> Vec<u32> {
    WORK.with_borrow(|work| {
        let timer = delay.map(|delay| monotonic_clock::subscribe_duration((delay.max(0.0) as u64) * NANOS_PER_MILLI));
        let ids: Vec<u32> = work.running.keys().copied().collect();
        let mut pollables: Vec<&Pollable> = work.running.values().map(|running| &running.pollable).collect();
        pollables.extend(&timer);
        if pollables.is_empty() {
            return Vec::new();
        }
        let ready = poll::poll(&pollables);
        ready.into_iter().filter_map(|index| ids.get(index as usize).copied()).collect()
    })
}

/// Dropping it tells the host that nobody waits any more.
fn abandon(id: u32) {
    WORK.with_borrow_mut(|work| work.running.remove(&id));
}

fn keep(pollable: Pollable, kind: Kind) -> u32 {
    WORK.with_borrow_mut(|work| {
        work.last += 1;
        work.running.insert(work.last, Running { pollable, kind });
        work.last
    })
}

fn taken(id: u32) -> Option<Kind> {
    let running = WORK.with_borrow_mut(|work| work.running.remove(&id))?;
    Some(running.kind)
}

/// The id of the request, or `[code, detail]`. Headers are names and values in turn, in Latin-1.
fn send<'js>(
    ctx: Ctx<'js>,
    method: String,
    url: String,
    headers: Vec<String>,
    body: Option<TypedArray<'js, u8>>,
    follow_redirects: bool,
) -> Result<Value<'js>> {
    let headers = headers.chunks_exact(2).filter_map(|pair| match pair {
        [name, value] => Some(Header { name: name.clone(), value: value.chars().map(|unit| unit as u8).collect() }),
        _ => None,
    });
    let headers = headers.collect();
    let body = body.map(|body| native::bytes(&body));
    match http::send(&Request { method, url, headers, body, timeout_ms: None, follow_redirects }) {
        Ok(pending) => keep(pending.subscribe(), Kind::Response(pending)).into_js(&ctx),
        Err(error) => http_fault(error).into_js(&ctx),
    }
}

/// `[status, url, headers, body]`, or `[code, detail]`.
fn take_response<'js>(ctx: Ctx<'js>, id: u32) -> Result<Value<'js>> {
    let answer = match taken(id) {
        Some(Kind::Response(pending)) => pending.take(),
        _ => None,
    };
    match answer {
        Some(Ok(response)) => answered(&ctx, response),
        Some(Err(error)) => http_fault(error).into_js(&ctx),
        None => http_fault(HttpError::Failed("the answer was lost".to_owned())).into_js(&ctx),
    }
}

fn answered<'js>(ctx: &Ctx<'js>, response: Response) -> Result<Value<'js>> {
    let mut headers = Vec::with_capacity(response.headers.len() * 2);
    for header in response.headers {
        headers.push(header.name);
        headers.push(header.value.into_iter().map(char::from).collect());
    }
    let fields = Array::new(ctx.clone())?;
    fields.set(0, response.status)?;
    fields.set(1, response.url)?;
    fields.set(2, headers)?;
    fields.set(3, TypedArray::new(ctx.clone(), response.body)?)?;
    Ok(fields.into_value())
}

fn http_fault(error: HttpError) -> Vec<String> {
    let (code, detail) = match error {
        HttpError::NotGranted(host) => ("not_granted", host),
        HttpError::InvalidRequest(why) => ("invalid_request", why),
        HttpError::DeniedAddress => ("denied_address", String::new()),
        HttpError::Timeout => ("timeout", String::new()),
        HttpError::TooLarge => ("too_large", String::new()),
        HttpError::Failed(why) => ("failed", why),
    };
    vec![code.to_owned(), detail]
}

/// The id of the call, or `[code, detail]`.
fn start_call<'js>(ctx: Ctx<'js>, skill: String, input: String) -> Result<Value<'js>> {
    match call::start(&skill, &input) {
        Ok(pending) => keep(pending.subscribe(), Kind::Call(pending)).into_js(&ctx),
        Err(error) => Ok(call_fault(&ctx, error)?.into_value()),
    }
}

/// `['ok', json]`, or `[code, detail]`.
fn take_call<'js>(ctx: Ctx<'js>, id: u32) -> Result<Array<'js>> {
    let answer = match taken(id) {
        Some(Kind::Call(pending)) => pending.take(),
        _ => None,
    };
    match answer {
        Some(Ok(json)) => {
            let fields = Array::new(ctx)?;
            fields.set(0, "ok")?;
            fields.set(1, json)?;
            Ok(fields)
        }
        Some(Err(error)) => call_fault(&ctx, error),
        None => call_fault(&ctx, CallError::Unavailable),
    }
}

fn call_fault<'js>(ctx: &Ctx<'js>, error: CallError) -> Result<Array<'js>> {
    let fields = Array::new(ctx.clone())?;
    let code = match error {
        CallError::NotGranted => "not_granted",
        CallError::UnknownSkill => "unknown_skill",
        CallError::TooDeep => "too_deep",
        CallError::Unavailable => "unavailable",
        CallError::Failed(error) => {
            let fault = Array::new(ctx.clone())?;
            fault.set(0, error.code)?;
            fault.set(1, error.message)?;
            fault.set(2, error.retryable)?;
            fault.set(3, error.details)?;
            fields.set(1, fault)?;
            "failed"
        }
    };
    fields.set(0, code)?;
    Ok(fields)
}

//! What the receiver of a push notification is told, in the dialect in which it was registered.
//!
//! A notification that would be larger than its cap goes without artifacts, history and long texts. It is still a task or
//! an event of its dialect, and its metadata says where the rest is.

use std::io;

use pleat_a2a::legacy;
use pleat_a2a::messages::{self, Events, Show, TaskView};
use pleat_domain::{Block, Dialect, Event, EventBody, Raw, Task, limits};
use pleat_engine::{Notice, ToTell};
use serde::Serialize;
use serde_json::{Map, Value, json};

const JSON: &str = "application/json";
const A2A_JSON: &str = "application/a2a+json";
/// What is kept of a long question.
const PROMPT: usize = limits::KIB;
/// Stands for the parts of an artifact that is too large.
const LEFT_OUT: &str = "This artifact is too large for a notification. Get the task to read it.";

/// `None`: there is nothing in it that a caller may see. 1.0 tells the event, earlier versions the whole task. `address`:
/// of the tenant's A2A endpoint, where it is known.
pub(crate) fn of(told: &ToTell<'_>, address: Option<&str>) -> Option<Notice> {
    let content_type = if told.dialect == Dialect::A2a10 { A2A_JSON } else { JSON };
    let least = large_parts(told);
    // What cannot fit is not written to find that out.
    let (bytes, body) = match least > told.most_bytes {
        true => (least, None),
        false => {
            let body = written(told.dialect, told.task, told.event)?;
            (body.len(), Some(body))
        }
    };
    let body = match body.filter(|body| body.len() <= told.most_bytes) {
        Some(body) => body,
        None => serde_json::to_vec(&shortened(told, bytes, address)?).ok()?,
    };
    Some(Notice { content_type, body: body.into() })
}

fn written(dialect: Dialect, task: &Task, event: &Event) -> Option<Vec<u8>> {
    let body = match dialect {
        Dialect::A2a01 => serde_json::to_vec(&legacy::task_json(task, None)),
        Dialect::A2a03 => serde_json::to_vec(&TaskView::new(messages::Dialect::V03, task, Show::whole(None))),
        Dialect::A2a10 => serde_json::to_vec(&Events::new(messages::Dialect::V1, task).event(event)?),
    };
    body.ok()
}

/// At least so many bytes of what is told may be long.
fn large_parts(told: &ToTell<'_>) -> usize {
    match (&told.event.body, told.dialect) {
        (EventBody::Artifact(chunk), Dialect::A2a10) => size(&chunk.artifact),
        (_, Dialect::A2a10) => 0,
        _ => size(&told.task.artifacts),
    }
}

fn size(value: &impl Serialize) -> usize {
    let mut counter = Counter(0);
    serde_json::to_writer(&mut counter, value).map_or(0, |()| counter.0)
}

/// Counts what is written.
struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn shortened(told: &ToTell<'_>, bytes: usize, address: Option<&str>) -> Option<Value> {
    let mut task = Task { artifacts: Vec::new(), history: Vec::new(), input: Raw::default(), ..told.task.clone() };
    let mut event = told.event.clone();
    shorten(&mut task.ask);
    match &mut event.body {
        EventBody::Artifact(chunk) => {
            chunk.artifact.value = None;
            chunk.artifact.blocks = vec![Block::text(LEFT_OUT)];
        }
        EventBody::Status(change) => shorten(&mut change.ask),
        EventBody::Progress(_) | EventBody::Step(_) => {}
    }
    let mut body: Value = serde_json::from_slice(&written(told.dialect, &task, &event)?).ok()?;
    let whole = match told.dialect {
        Dialect::A2a10 => body.as_object_mut()?.values_mut().next()?,
        Dialect::A2a01 | Dialect::A2a03 => &mut body,
    };
    let metadata = whole.as_object_mut()?.entry("metadata").or_insert_with(|| Value::Object(Map::new()));
    metadata.as_object_mut()?.insert("notification".to_owned(), pointer(told, bytes, address));
    Some(body)
}

/// The address of the complete task.
fn pointer(told: &ToTell<'_>, bytes: usize, address: Option<&str>) -> Value {
    let method = if told.dialect == Dialect::A2a10 { "GetTask" } else { "tasks/get" };
    let id = told.task.alias.clone().filter(|_| told.dialect == Dialect::A2a01);
    let mut get = json!({ "method": method, "id": id.unwrap_or_else(|| told.task.id.to_string()) });
    if let (Some(address), Some(get)) = (address, get.as_object_mut()) {
        get.insert("url".to_owned(), Value::from(address));
    }
    json!({ "truncated": true, "bytes": bytes, "limit": told.most_bytes, "get": get })
}

fn shorten(ask: &mut Option<pleat_domain::task::Ask>) {
    let Some(ask) = ask else { return };
    if ask.prompt.len() > PROMPT {
        let end = ask.prompt.floor_char_boundary(PROMPT);
        ask.prompt.truncate(end);
        ask.prompt.push('…');
    }
    ask.schema = None;
    ask.state = None;
}

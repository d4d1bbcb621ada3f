//! A message that was read is written and read again: nothing is lost or added on the wire, nor where it is kept.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_a2a::Input;
use pleat_a2a::legacy::{SendParams, task_json};
use pleat_a2a::messages::{Call, Dialect, Show, TaskView};
use pleat_a2a::method::Operation;
use pleat_domain::principal::Caller;
use pleat_domain::{ContextId, Door, Message, SkillName, Task, TaskId, TaskState, json};
use serde_json::value::RawValue;
use serde_json::{Value, json};
use time::macros::datetime;

fuzz_target!(|bytes: &[u8]| {
    if json::check(bytes).is_err() {
        return;
    }
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    later(text);
    let Some(message) = read(text) else { return };

    let kept = serde_json::to_string(&message).expect("a message can be kept");
    let found: Message = serde_json::from_str(&kept).expect("what is kept can be read");
    same(&message, &found);

    let task = Task { history: vec![message.clone()], ..task() };
    let view = serde_json::to_value(task_json(&task, Some(1))).expect("a task can be written");
    let Some(shown) = view["history"].get(0) else { panic!("a message of a caller is shown: {message:?}") };
    let again = read(&shown.to_string()).expect("what is written can be read");
    same(&message, &again);
});

/// The same in the families that have nothing but messages: each reads what it has written itself, and what the other
/// one writes of it says the same there.
fn later(text: &str) {
    for dialect in [Dialect::V03, Dialect::V1] {
        let Some(message) = read_in(dialect, text) else { continue };
        let kept = serde_json::to_string(&message).expect("a message can be kept");
        same(&message, &serde_json::from_str(&kept).expect("what is kept can be read"));
        let task = Task { history: vec![message.clone()], ..task() };
        for other in [Dialect::V03, Dialect::V1] {
            let view =
                serde_json::to_value(TaskView::new(other, &task, Show::whole(None))).expect("a task can be written");
            let Some(shown) = view["history"].get(0) else { panic!("a message of a caller is shown: {message:?}") };
            let again = read_in(other, &shown.to_string()).expect("what is written can be read");
            if other == dialect {
                same(&message, &again);
            }
        }
    }
}

fn read_in(dialect: Dialect, text: &str) -> Option<Message> {
    let message = RawValue::from_string(text.trim().to_owned()).ok()?;
    let params = RawValue::from_string(format!("{{\"message\":{}}}", message.get())).ok()?;
    match Call::read(dialect, Operation::Send, Some(&params)).ok()? {
        Call::Send(params) => match params.input {
            Input::Message { message, .. } => Some(message),
            Input::Value(_) => None,
        },
        _ => None,
    }
}

/// `text` as the message of a request.
fn read(text: &str) -> Option<Message> {
    let message = RawValue::from_string(text.trim().to_owned()).ok()?;
    let params = json::raw(&json!({ "skill": "x" }));
    let params = format!("{},\"message\":{}}}", params.get().trim_end_matches('}'), message.get());
    let params = RawValue::from_string(params).ok()?;
    match SendParams::parse(Some(&params)).ok()?.input {
        Input::Message { message, .. } => Some(message),
        Input::Value(_) => None,
    }
}

fn same(one: &Message, other: &Message) {
    let (one, other) = (json!(one), json!(other));
    assert!(equal(&one, &other), "{one}\n{other}");
}

/// The last digit of a fraction may be rounded when it is read.
fn equal(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Number(one), Value::Number(other)) => {
            let (one, other) = (one.as_f64().unwrap_or(f64::NAN), other.as_f64().unwrap_or(f64::NAN));
            one == other || ((one - other) / one).abs() < 1e-12
        }
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len() && one.iter().zip(other).all(|(one, other)| equal(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one.iter().all(|(key, value)| other.get(key).is_some_and(|other| equal(value, other)))
        }
        (one, other) => one == other,
    }
}

fn task() -> Task {
    Task {
        id: TaskId::new(),
        skill: SkillName::parse("x").ok(),
        version: 1,
        context: ContextId::try_from("context".to_owned()).expect("a context"),
        parent: None,
        step: None,
        run: None,
        guard: None,
        caller: Caller::anonymous(),
        door: Door::A2a01,
        alias: None,
        state: TaskState::Completed,
        failure: None,
        ask: None,
        input: json::raw(&Value::Null),
        history: Vec::new(),
        artifacts: Vec::new(),
        attempt: 1,
        turn: 1,
        last_seq: 0,
        cpu_us: 0,
        wall_us: 0,
        created_at: datetime!(2026-11-16 10:00 UTC),
        updated_at: datetime!(2026-11-16 10:00 UTC),
    }
}

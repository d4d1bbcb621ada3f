//! Takes out of an answer what differs from run to run, after checking that it has the right form.

use serde_json::Value;
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

/// Ids become `task_#` and `ctx_#`, times `#`.
pub fn redacted(mut answer: Value) -> Value {
    redact(&mut answer);
    answer
}

fn redact(value: &mut Value) {
    match value {
        Value::String(text) => *text = without_ids(text),
        Value::Array(items) => items.iter_mut().for_each(redact),
        Value::Object(fields) => {
            for (name, value) in fields.iter_mut() {
                match (name.as_str(), &*value) {
                    ("timestamp" | "at", Value::String(text)) => *value = Value::from(time_of(text)),
                    ("messageId", Value::String(text)) => *value = Value::from(without_number(&without_ids(text))),
                    _ => redact(value),
                }
            }
        }
        _ => {}
    }
}

fn without_ids(text: &str) -> String {
    ["task_", "ctx_"].into_iter().fold(text.to_owned(), |text, prefix| {
        let mut parts = text.split(prefix);
        let first = parts.next().unwrap_or_default().to_owned();
        parts.fold(first, |before, part| {
            let digits = part.bytes().take_while(u8::is_ascii_hexdigit).count();
            let rest = if digits == 32 { format!("#{}", &part[32..]) } else { part.to_owned() };
            format!("{before}{prefix}{rest}")
        })
    })
}

/// Messages of ours are named by their task and a number.
fn without_number(text: &str) -> String {
    match text.rsplit_once('-') {
        Some((before, number)) if number.parse::<u64>().is_ok() => format!("{before}-#"),
        _ if text.len() == 32 && text.bytes().all(|byte| byte.is_ascii_hexdigit()) => "#".to_owned(),
        _ => text.to_owned(),
    }
}

/// Milliseconds, UTC, and of today.
fn time_of(text: &str) -> &'static str {
    let time = OffsetDateTime::parse(text, &Rfc3339).unwrap_or_else(|error| panic!("`{text}` is no time: {error}"));
    assert!(text.ends_with('Z') && text.len() == "2026-01-01T00:00:00.000Z".len(), "`{text}` is not in milliseconds");
    let age = OffsetDateTime::now_utc() - time;
    assert!(age.abs() < time::Duration::hours(1), "`{text}` is not now");
    "#"
}

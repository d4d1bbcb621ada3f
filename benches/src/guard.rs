//! Guardrails: all checks together on messages of several scripts, in CPU time of this thread, beside what reading the same
//! JSON costs.

use std::time::Instant;

use anyhow::Context as _;
use pleat_guardrails::{Guard, Policy, Session, Side};
use serde_json::{Value, json};

use crate::options::Options;
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const ALL: &str = r#"{"action": "warn", "checks": [
    {"type": "pii"}, {"type": "secrets"}, {"type": "prompt-injection"}, {"type": "toxicity"},
    {"type": "regex", "config": {"pattern": "PRJ-[0-9]{4,8}"}},
    {"type": "denylist", "config": {"terms": ["project titan", "acme internal"]}},
    {"type": "url", "config": {"deny": ["evil.test"]}}, {"type": "max-tokens"},
    {"type": "max-size", "config": {"limit": 1000000}}, {"type": "unicode"}]}"#;

const ENGLISH: &str = "The quarterly report was sent to the team on Monday, and Jane asked for 3 changes to page 12. ";
const RUSSIAN: &str =
    "Квартальный отчёт был отправлен команде в понедельник, и Анна попросила внести три изменения на странице 12. ";
const CHINESE: &str = "季度报告已于星期一发送给团队，安娜要求在第十二页进行三处修改。会议将在下周三举行。";

#[derive(Default)]
struct Found {
    read: Series,
    ascii: Series,
    russian: Series,
    chinese: Series,
    small: Series,
    idle: Series,
}

pub fn measure(options: &Options) -> anyhow::Result<Vec<Row>> {
    say("guardrails");
    let guard = Guard::new(&Policy::parse(ALL).context("the policy")?);
    let idle = Guard::new(&Policy::none());
    let ascii = message(ENGLISH, 10_000);
    let text = ascii.to_string();
    let mut found = Found::default();
    for _ in 0..options.rounds() {
        let reading = seconds(300, |_| drop(std::hint::black_box(serde_json::from_str::<Value>(&text))));
        found.read.push(text.len() as f64 / reading / 1e6);
        found.ascii.push(rate(&guard, &ascii));
        found.russian.push(rate(&guard, &message(RUSSIAN, 10_000)));
        found.chinese.push(rate(&guard, &message(CHINESE, 10_000)));
        found.small.push(each(&guard, &message(ENGLISH, 900)) * 1e6);
        found.idle.push(each(&idle, &ascii) * 1e6);
    }
    Ok(vec![
        Row::shown("guard.read", "reading 10 kB of the same JSON, to compare with", "MB/s", found.read),
        Row::shown("guard.ascii", "all checks, a message of 10 kB", "MB/s", found.ascii)
            .demanded(Demand::AtLeast(50.0)),
        Row::shown("guard.russian", "the same in Cyrillic", "MB/s", found.russian).demanded(Demand::AtLeast(20.0)),
        Row::shown("guard.chinese", "the same in Chinese", "MB/s", found.chinese).demanded(Demand::AtLeast(20.0)),
        Row::shown("guard.small", "a message of 1 kB", "µs", found.small).demanded(Demand::AtMost(30.0)),
        Row::shown("guard.idle", "10 kB where there is nothing to check", "µs", found.idle),
    ])
}

/// Megabytes a second.
fn rate(guard: &Guard, value: &Value) -> f64 {
    value.to_string().len() as f64 / each(guard, value) / 1e6
}

fn each(guard: &Guard, value: &Value) -> f64 {
    let mut session = Session::new(b"key");
    let rounds = 3_000_000 / value.to_string().len() + 1;
    let mut copies: Vec<Value> = (0..rounds).map(|_| value.clone()).collect();
    seconds(rounds, |at| {
        if let Some(copy) = copies.get_mut(at) {
            std::hint::black_box(guard.inspect(Side::Input, copy, &mut session));
        }
    })
}

/// For one of so many.
fn seconds(count: usize, mut work: impl FnMut(usize)) -> f64 {
    let began = on_cpu();
    (0..count).for_each(&mut work);
    (on_cpu() - began) / count as f64
}

/// Seconds that this thread has run. Where that is not told, those of a clock.
fn on_cpu() -> f64 {
    static START: std::sync::LazyLock<Instant> = std::sync::LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next().and_then(|first| first.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |time| time / 1e9)
}

/// A message of many parts, about as long as this, with as much to be found as in an ordinary letter.
fn message(text: &str, size: usize) -> Value {
    let mut parts = Vec::new();
    let mut length = 0;
    while length < size {
        let part = json!({ "kind": "text", "text": text, "metadata": { "page": 12, "lang": "x" } });
        length += part.to_string().len();
        parts.push(part);
    }
    parts.push(json!({ "kind": "text", "text": "Write to jane@example.com or call +44 20 7946 0958." }));
    json!({ "role": "user", "messageId": "0198c5f2", "parts": parts })
}

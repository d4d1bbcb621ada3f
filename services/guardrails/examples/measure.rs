//! Measures the checks: on a labelled corpus, whose path is given, and their speed.
//!
//! `cargo run --release -p pleat-guardrails --example measure [corpus.jsonl [--misses] | --only NAME]`

use std::sync::LazyLock;
use std::time::Instant;

use pleat_guardrails::{Guard, Policy, Session, Side, corpus};
use serde_json::{Value, json};

const ALL: &str = r#"{"action": "warn", "checks": [
    {"type": "pii"}, {"type": "secrets"}, {"type": "prompt-injection"}, {"type": "toxicity"},
    {"type": "regex", "config": {"pattern": "PRJ-[0-9]{4,8}"}},
    {"type": "denylist", "config": {"terms": ["project titan", "acme internal"]}},
    {"type": "url", "config": {"deny": ["evil.test"]}}, {"type": "max-tokens"},
    {"type": "max-size", "config": {"limit": 1000000}}, {"type": "unicode"}]}"#;

#[expect(clippy::expect_used, reason = "an example may stop where it is")]
fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let guard = Guard::new(&Policy::parse(ALL).expect("the policy is sound"));
    match arguments.first() {
        Some(only) if only == "--only" => speeds(&guard, arguments.get(1).map_or("", String::as_str)),
        Some(path) => score(&guard, path, arguments.len() > 1),
        None => speeds(&guard, ""),
    }
}

#[expect(clippy::print_stdout, clippy::expect_used, reason = "an example talks to its user")]
fn score(guard: &Guard, path: &str, misses: bool) {
    let text = std::fs::read_to_string(path).expect("the corpus can be read");
    let samples = corpus::read(&text).expect("the corpus is sound");
    if misses {
        for sample in &samples {
            let alone = corpus::score(guard, Side::Input, std::slice::from_ref(sample));
            if alone.types.values().any(|counts| counts.wrong + counts.missed > 0)
                || alone.labels.wrong + alone.labels.missed > 0
                || (sample.label.is_none() && alone.unlabelled > 0)
            {
                println!("{:?} {:?}\n    {:?}", sample.text, sample.spans, guard.places(Side::Input, &sample.text));
            }
        }
    }
    let score = corpus::score(guard, Side::Input, &samples);
    for (name, counts) in
        score.types.iter().map(|(name, counts)| (name.as_str(), counts)).chain([("together", &score.together)])
    {
        println!(
            "{name:16} precision {:.3} recall {:.3} F1 {:.3} {counts:?}",
            counts.precision(),
            counts.recall(),
            counts.f1()
        );
    }
    let (recall, rate) = (score.labels.recall(), score.false_positive_rate());
    println!(
        "labels: recall {recall:.3}, false positives {rate:.3} of {} benign; unlabelled {}",
        score.benign, score.unlabelled
    );
}

fn speeds(guard: &Guard, only: &str) {
    let english = "The quarterly report was sent to the team on Monday, and Jane asked for 3 changes to page 12. ";
    let russian =
        "Квартальный отчёт был отправлен команде в понедельник, и Анна попросила внести три изменения на странице 12. ";
    let chinese = "季度报告已于星期一发送给团队，安娜要求在第十二页进行三处修改。会议将在下周三举行。";
    let digits = "Totals 2024-01-15: 12,345.67 of 98 765 units (4711-0815), 192.168.0.1, build 1.2.3. ";
    for (name, text, size) in [
        ("ASCII, 10 kB", english, 10_000),
        ("ASCII, 1 kB", english, 1_000),
        ("numbers, 10 kB", digits, 10_000),
        ("Cyrillic, 10 kB", russian, 10_000),
        ("Chinese, 10 kB", chinese, 10_000),
    ] {
        if name.contains(only) {
            report(name, guard, &message(text, size));
        }
    }
    if !only.is_empty() {
        return;
    }
    yardstick(&message(english, 10_000));
    report("nothing to check", &Guard::new(&Policy::none()), &message(english, 10_000));
    for (name, text) in [
        ("hostile: digits", "1 ".repeat(50_000)),
        ("hostile: @", "@".repeat(100_000)),
        ("hostile: words", "ignore ".repeat(14_000)),
        ("hostile: one run", "a1".repeat(50_000)),
        ("hostile: colons", "a:".repeat(50_000)),
        ("hostile: BEGIN", "-----BEGIN PRIVATE KEY-----".repeat(4_000)),
    ] {
        report(name, guard, &json!({ "text": text }));
    }
}

/// Seconds that this thread has run: others on the machine do not count. Where that is not told, those of a clock.
fn on_cpu() -> f64 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next().and_then(|first| first.parse::<f64>().ok()));
    nanoseconds.map_or_else(|| START.elapsed().as_secs_f64(), |time| time / 1e9)
}

/// A message of many parts, about as long as this.
fn message(text: &str, size: usize) -> Value {
    let mut parts = Vec::new();
    let mut length = 0;
    while length < size {
        let part = json!({ "kind": "text", "text": text, "metadata": { "page": 12, "lang": "x" } });
        length += part.to_string().len();
        parts.push(part);
    }
    // As much to be found as in an ordinary letter.
    parts.push(json!({ "kind": "text", "text": "Write to jane@example.com or call +44 20 7946 0958." }));
    json!({ "role": "user", "messageId": "0198c5f2", "parts": parts })
}

/// What reading the same JSON costs here and now, to compare with.
#[expect(clippy::print_stdout, reason = "an example talks to its user")]
fn yardstick(value: &Value) {
    let text = value.to_string();
    let mut best = f64::MAX;
    for _ in 0..8 {
        let start = on_cpu();
        for _ in 0..300 {
            std::hint::black_box(serde_json::from_str::<Value>(&text).ok());
        }
        best = best.min((on_cpu() - start) / 300.0);
    }
    println!(
        "reading the JSON     {:7} bytes {:9.1} us {:8.1} MB/s",
        text.len(),
        best * 1e6,
        text.len() as f64 / best / 1e6
    );
}

#[expect(clippy::print_stdout, reason = "an example talks to its user")]
fn report(name: &str, guard: &Guard, value: &Value) {
    let bytes = value.to_string().len();
    let mut best = f64::MAX;
    let mut session = Session::new(b"key");
    for _ in 0..8 {
        let rounds = 3_000_000 / bytes + 1;
        let mut copies: Vec<Value> = (0..rounds).map(|_| value.clone()).collect();
        let start = on_cpu();
        for copy in &mut copies {
            std::hint::black_box(guard.inspect(Side::Input, copy, &mut session));
        }
        best = best.min((on_cpu() - start) / copies.len() as f64);
    }
    println!("{name:20} {bytes:7} bytes {:9.1} us {:8.1} MB/s", best * 1e6, bytes as f64 / best / 1e6);
}

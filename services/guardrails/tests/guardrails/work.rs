//! What a tenant's patterns may cost: bounded for each byte, in findings and in work, whatever the pattern and the text.

use std::time::{Duration, Instant};

use pleat_guardrails::{Action, Guard, Policy, Session, Side};
use serde_json::{Value, json};

fn guard(check: &Value, on_error: &str) -> Guard {
    let policy = json!({ "on_error": on_error, "checks": [check] });
    Guard::new(&Policy::parse(&policy.to_string()).unwrap())
}

fn pattern(pattern: &str, action: &str) -> Value {
    json!({ "type": "regex", "action": action, "config": { "pattern": pattern } })
}

/// A pattern that looks at the rest of the text for each letter of it.
fn hostile() -> Value {
    pattern(".*[^A-Z]|[A-Z]", "redact")
}

#[test]
fn findings_are_not_as_many_as_letters() {
    let guard = guard(&pattern("[a-z]", "log"), "fail_closed");
    let mut value = json!("lower case words ".repeat(50_000));
    let verdict = guard.inspect(Side::Input, &mut value, &mut Session::new(b"k"));
    assert_eq!((verdict.findings.len(), verdict.action), (1_000, Some(Action::Log)));
}

#[test]
fn the_finding_that_blocks_is_listed_behind_any_number_of_others() {
    let policy = json!({ "checks": [pattern("[a-z]", "log"), pattern("Z{3}", "block")] });
    let guard = Guard::new(&Policy::parse(&policy.to_string()).unwrap());
    let text = "ab ".repeat(5_000) + "ZZZ" + &" ab".repeat(5_000);
    let (_, verdict) = guard.inspect_text(Side::Input, &text, &mut Session::new(b"k"));
    assert_eq!((verdict.blocked_by(), verdict.findings.len()), (Some("regex"), 1_001));
}

#[test]
fn too_much_work_ends_as_the_check_says() {
    let long = "A".repeat(400_000);
    let (closed, open) = (guard(&hostile(), "fail_closed"), guard(&hostile(), "fail_open"));
    let (_, verdict) = closed.inspect_text(Side::Input, &long, &mut Session::new(b"k"));
    assert_eq!((verdict.action, verdict.blocked_by()), (Some(Action::Block), Some("regex")));
    assert!(verdict.findings.iter().any(|finding| finding.rule == "regex.unfinished"));
    let (_, verdict) = open.inspect_text(Side::Input, &long, &mut Session::new(b"k"));
    assert_eq!(verdict.action, Some(Action::Redact), "what was found before counts");
    // A short text is never too much, and neither is an ordinary pattern.
    let (text, verdict) = closed.inspect_text(Side::Input, "ABC", &mut Session::new(b"k"));
    assert_eq!((text.as_str(), verdict.action), ("[PATTERN_1]", Some(Action::Redact)));
    for ordinary in [r"\w+", r"\d", r"[a-z]+ [a-z]+", r"\b\S+ly\b"] {
        let guard = guard(&pattern(ordinary, "log"), "fail_closed");
        let prose = "nearly all of it is quickly said in 12 words, slowly ".repeat(20_000);
        let (_, verdict) = guard.inspect_text(Side::Input, &prose, &mut Session::new(b"k"));
        assert_eq!(verdict.action, Some(Action::Log), "{ordinary}");
    }
}

#[test]
fn many_terms_that_begin_alike_are_bounded_too() {
    let terms: Vec<String> = (0..5_000).map(|number| format!("a x{number}")).collect();
    let check = json!({ "type": "denylist", "action": "log", "config": { "terms": terms } });
    let (_, verdict) =
        guard(&check, "fail_closed").inspect_text(Side::Input, &"a ".repeat(200_000), &mut Session::new(b"k"));
    assert_eq!(verdict.blocked_by(), Some("denylist"));
}

#[test]
fn a_stream_ends_where_its_pattern_gives_up() {
    let guard = guard(&hostile(), "fail_closed");
    let mut session = Session::new(b"k");
    let mut stream = guard.stream(Side::Output);
    let mut out = String::new();
    for _ in 0..400 {
        out.push_str(&stream.push(&"A".repeat(1_000), &mut session));
    }
    let (rest, verdict) = stream.finish(&mut session);
    assert_eq!((verdict.action, rest.as_str()), (Some(Action::Block), ""));
    assert!(!out.contains('A') || !out.contains("AA"), "nothing of it leaves as it was");
}

/// Twice the text is twice the time, and not four times.
#[test]
fn time_grows_with_the_text_and_no_faster() {
    let guard = guard(&hostile(), "fail_open");
    let time = |length: usize| {
        let text = "A".repeat(length);
        let took = |_| {
            let begun = Instant::now();
            guard.inspect_text(Side::Input, &text, &mut Session::new(b"k"));
            begun.elapsed()
        };
        (0..3).map(took).min().unwrap_or(Duration::MAX)
    };
    let (short, long) = (time(500_000), time(4_000_000));
    assert!(long < short * 24, "{short:?} for one, {long:?} for eight times as much");
}

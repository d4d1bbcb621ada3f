//! Values: every string, key and number is looked at, and what is redacted stays valid and of its type.

use pleat_guardrails::{Action, Guard, Mode, Policy, Session, Side, Verdict};
use serde_json::{Value, json};

fn guard(policy: &str) -> Guard {
    Guard::new(&Policy::parse(policy).unwrap())
}

fn redacted(value: Value) -> (Value, Verdict) {
    let guard = guard(r#"{"action":"redact","checks":[{"type":"pii"},{"type":"secrets"}]}"#);
    let mut value = value;
    let verdict = guard.inspect(Side::Input, &mut value, &mut Session::new(b"key"));
    (value, verdict)
}

#[test]
fn strings_keys_and_numbers_are_redacted_at_every_depth() {
    let (value, verdict) = redacted(json!({
        "a": [{"b": {"c": "to jane@example.com and joe@example.com"}}],
        "jane@example.com": {"card": 4_111_111_111_111_111_u64, "text": "4111 1111 1111 1111"},
        "float": 4_111_111_111_111_111.0,
        "n": 12, "yes": true, "none": null,
    }));
    assert_eq!(
        value,
        json!({
            "a": [{"b": {"c": "to [EMAIL_1] and [EMAIL_2]"}}],
            "[EMAIL_1]": {"card": 0, "text": "[CARD_1]"},
            "float": 0,
            "n": 12, "yes": true, "none": null,
        })
    );
    let pointers: Vec<&str> = verdict.findings.iter().map(|finding| finding.pointer.as_str()).collect();
    assert_eq!(pointers, ["/a/0/b/c", "/a/0/b/c", "/[EMAIL]", "/[EMAIL]/card", "/[EMAIL]/text", "/float"]);
    let keys: Vec<&String> = value.as_object().unwrap().keys().collect();
    assert_eq!(keys, ["a", "[EMAIL_1]", "float", "n", "yes", "none"], "the order of the members stays");
}

#[test]
fn findings_never_carry_the_value() {
    let (_, verdict) = redacted(json!({"x": "jane@example.com", "password": "hunter2x", "ssn": "536220001"}));
    let written = serde_json::to_string(&verdict).unwrap();
    for value in ["jane", "hunter2x", "536220001"] {
        assert!(!written.contains(value), "{written}");
    }
    assert_eq!(verdict.findings.len(), 3);
    assert!(verdict.findings.iter().all(|finding| finding.hash.len() == 32));
}

/// A key is text of the caller's, wherever a pointer goes through it and whatever is done about it.
#[test]
fn pointers_do_not_carry_what_was_found_in_a_key() {
    for action in ["redact", "block", "warn", "log"] {
        let guard = guard(&format!(
            r#"{{"checks":[{{"type":"pii","action":"{action}"}},{{"type":"json-schema","action":"log","config":{{"schema":
                {{"additionalProperties":{{"additionalProperties":{{"type":"string"}}}}}}}}}}]}}"#
        ));
        let mut value = json!({"to jane@example.com/joe": {"a~b": "joe@example.com", "jim@example.com": 7}, "x": {}});
        let verdict = guard.inspect(Side::Input, &mut value, &mut Session::new(b"key"));
        let mut pointers: Vec<&str> = verdict.findings.iter().map(|finding| finding.pointer.as_str()).collect();
        pointers.sort_unstable();
        let key = "/to [EMAIL]~1joe";
        let below = [format!("{key}/[EMAIL]"), format!("{key}/[EMAIL]"), format!("{key}/a~0b")];
        assert_eq!(pointers, [key, &below[0], &below[1], &below[2]], "{action}");
        assert_eq!(guard.shown(Side::Input, "for joe@example.com"), "for [EMAIL]");
    }
}

#[test]
fn placeholders_are_the_same_within_a_session() {
    let guard = guard(r#"{"action":"redact","checks":[{"type":"pii"}]}"#);
    let mut session = Session::new(b"key");
    let (first, _) = guard.inspect_text(Side::Input, "a@x.org b@x.org", &mut session);
    let (second, _) = guard.inspect_text(Side::Output, "b@x.org A@X.ORG c@x.org", &mut session);
    assert_eq!((first.as_str(), second.as_str()), ("[EMAIL_1] [EMAIL_2]", "[EMAIL_2] [EMAIL_1] [EMAIL_3]"));
}

#[test]
fn names_of_members_say_what_their_values_are() {
    let (value, _) = redacted(
        json!({"phone": "785 8949", "homePhone": 5_551_234_567_u64, "password": "correct-horse-1", "count": 5_551_234_567_u64}),
    );
    assert_eq!(
        value,
        json!({"phone": "[PHONE_1]", "homePhone": 0, "password": "[PASSWORD_1]", "count": 5_551_234_567_u64})
    );
}

#[test]
fn what_overlaps_becomes_one() {
    let guard = guard(
        r#"{"action":"redact","checks":[{"type":"pii"},{"type":"regex","config":{"pattern":"mail \\S+"}},{"type":"secrets"}]}"#,
    );
    let (text, verdict) = guard.inspect_text(Side::Input, "e-mail jane@example.com now", &mut Session::new(b"k"));
    assert_eq!(text, "e-[EMAIL_1] now");
    assert_eq!(verdict.findings.len(), 1);
    let key = "AKIAIOSFODNN7EXAMPLE";
    let (text, verdict) = guard.inspect_text(Side::Input, key, &mut Session::new(b"k"));
    assert_eq!((text.as_str(), verdict.findings.len()), ("[API_KEY_1]", 1));
}

#[test]
fn a_block_leaves_the_value_as_it_was() {
    let guard = guard(r#"{"checks":[{"type":"pii","action":"redact"},{"type":"secrets","action":"block"}]}"#);
    let before = json!({"a": "jane@example.com", "b": "password: hunter2x"});
    let mut value = before.clone();
    let verdict = guard.inspect(Side::Input, &mut value, &mut Session::new(b"k"));
    assert_eq!((verdict.action, verdict.blocked_by(), &value), (Some(Action::Block), Some("secrets"), &before));
    assert!(verdict.findings.iter().all(|finding| finding.placeholder.is_none()));
}

#[test]
fn shadow_checks_record_and_do_nothing() {
    let guard = guard(r#"{"checks":[{"type":"pii","action":"block","mode":"shadow"}]}"#);
    let (text, verdict) = guard.inspect_text(Side::Input, "jane@example.com", &mut Session::new(b"k"));
    assert_eq!((text.as_str(), verdict.action), ("jane@example.com", None));
    assert_eq!((verdict.findings[0].action, verdict.findings[0].mode), (Action::Block, Mode::Shadow));
    assert!(!guard.holds(Side::Output));
}

#[test]
fn each_side_has_its_checks() {
    let guard = guard(
        r#"{"action":"warn","checks":[{"type":"pii","target":"output"},{"type":"max-size","target":"input","config":{"limit":4}}]}"#,
    );
    let rules = |side| -> Vec<String> {
        let (_, verdict) = guard.inspect_text(side, "jane@example.com", &mut Session::new(b"k"));
        verdict.warnings().into_iter().map(str::to_owned).collect()
    };
    assert_eq!(rules(Side::Input), ["max-size"]);
    assert_eq!(rules(Side::Output), ["pii.email"]);
    assert!(Guard::new(&Policy::none()).is_idle(Side::Input));
}

#[test]
fn a_taken_name_gets_a_number() {
    let (value, _) = redacted(json!({"[EMAIL_1]": 1, "a@b.co": 2}));
    assert_eq!(value, json!({"[EMAIL_1]": 1, "[EMAIL_1]_2": 2}));
}

#[test]
fn schemas_tokens_and_sizes_are_measured() {
    let guard = guard(
        r#"{"action":"block","checks":[{"type":"json-schema","config":{"schema":{"required":["a"]}}},
            {"type":"max-tokens","config":{"limit":2}},{"type":"max-size","config":{"limit":20}}]}"#,
    );
    let rules = |value: Value| {
        let mut value = value;
        let verdict = guard.inspect(Side::Input, &mut value, &mut Session::new(b"k"));
        verdict.findings.into_iter().map(|finding| finding.rule).collect::<Vec<_>>()
    };
    assert_eq!(rules(json!({"a": "b c"})), Vec::<String>::new());
    assert_eq!(rules(json!({"b": "c d e"})), ["json-schema", "max-tokens"]);
    assert_eq!(rules(json!({"a": "a long text without spaces".replace(' ', "-")})), ["max-size"]);
}

#[test]
fn a_value_that_is_too_deep_is_blocked_by_checks_that_fail_closed() {
    let mut value = json!("jane@example.com");
    for _ in 0..1_000 {
        value = json!([value]);
    }
    let closed = guard(r#"{"action":"log","checks":[{"type":"pii"}]}"#);
    assert_eq!(closed.inspect(Side::Input, &mut value, &mut Session::new(b"k")).action, Some(Action::Block));
    let open = guard(r#"{"action":"log","checks":[{"type":"pii","on_error":"fail_open"}]}"#);
    assert_eq!(open.inspect(Side::Input, &mut value, &mut Session::new(b"k")).action, None);
}

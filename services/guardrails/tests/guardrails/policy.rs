//! What policies may say, and how the faults of those that say something else are told.

use pleat_guardrails::{Action, CheckType, Faults, Guard, Policy, Session, Severity, Side, Target};
use serde_json::json;

fn faults(text: &str) -> Vec<String> {
    Policy::parse(text)
        .err()
        .map(|faults: Faults| faults.list().iter().map(ToString::to_string).collect())
        .unwrap_or_default()
}

#[test]
fn the_documented_policy_works_as_it_is() {
    let policy = Policy::parse(
        r#"{ "enabled": true,
             "checks": [ {"type":"pii","target":"both"}, {"type":"prompt-injection","target":"input"},
                         {"type":"max-tokens","target":"output","config":{"limit":5000}} ],
             "action": "warn" }"#,
    )
    .unwrap();
    let found: Vec<_> =
        policy.checks().iter().map(|one| (one.check(), one.target(), one.action(), one.severity())).collect();
    assert_eq!(
        found,
        [
            (CheckType::Pii, Target::Both, Action::Warn, Severity::High),
            (CheckType::PromptInjection, Target::Input, Action::Warn, Severity::High),
            (CheckType::MaxTokens, Target::Output, Action::Warn, Severity::Low),
        ]
    );
}

#[test]
fn a_check_has_an_action_of_its_own_and_the_strictest_wins() {
    let policy = r#"{"action": "warn", "checks": [{"type": "pii", "action": "redact"}, {"type": "regex", "config": {"pattern": "x+y"}}]}"#;
    let guard = Guard::new(&Policy::parse(policy).unwrap());
    let verdict = |text: &str| guard.inspect(Side::Input, &mut json!(text), &mut Session::new(b"k")).action;
    assert_eq!(verdict("nothing"), None);
    assert_eq!(verdict("xxy"), Some(Action::Warn));
    assert_eq!(verdict("xxy of jane@example.com"), Some(Action::Redact));
}

#[test]
fn all_faults_are_told_at_once_with_their_places() {
    let text = "{\n  \"enabled\": \"yes\",\n  \"colour\": 1,\n  \"checks\": [\n    {\"type\": \"pii\", \"action\": \"explode\"},\n    \
                {\"type\": \"ouija\", \"action\": \"log\"},\n    {\"type\": \"regex\", \"action\": \"warn\", \"config\": {\"pattern\": \"(a+)+$\"}},\n    \
                {\"type\": \"max-size\", \"action\": \"redact\", \"config\": {\"limit\": -1}},\n    7\n  ]\n}";
    insta::assert_snapshot!(faults(text).join("\n"), @r"
    3:13: the field `colour` is unknown: a policy has `enabled`, `inherit`, `checks`, `action`, `mode`, `on_error`, `name`, `description` (`/colour`)
    2:14: `enabled` is true or false, not a string (`/enabled`)
    5:31: `action` is one of `block`, `redact`, `warn`, `log` (`/checks/0/action`)
    6:14: no such type of check: use `pii`, `secrets`, `prompt-injection`, `toxicity`, `regex`, `denylist`, `url`, `json-schema`, `max-tokens`, `max-size`, `unicode` (`/checks/1/type`)
    7:63: the pattern repeats what is repeated already, as `(a+)+` does: one repetition says the same (`/checks/2/config/pattern`)
    8:66: `limit` is a whole number from 0 (`/checks/3/config/limit`)
    8:36: `max-size` has nothing to redact: use `block`, `warn` or `log` (`/checks/3/action`)
    9:5: a check is an object, not a number (`/checks/4`)
    ");
}

#[test]
fn broken_json_says_where() {
    for (text, start) in [
        ("", "1:1: not valid JSON"),
        ("{\"checks\": [}", "1:13: not valid JSON"),
        ("{\"checks\": []} x", "1:16: not valid JSON"),
        ("{\n \"checks\": [1e999]}", "2:13: not valid JSON"),
        ("{\"checks\": [], \"checks\": []}", "1:16: the key `checks` occurs twice"),
        ("[]", "1:1: a policy is an object, not an array"),
        ("{}", "1:1: a policy has `checks`"),
    ] {
        let faults = faults(text);
        assert!(faults.first().is_some_and(|fault| fault.starts_with(start)), "{text}: {faults:?}");
    }
}

#[test]
fn huge_and_deep_policies_are_refused() {
    let huge = format!("{{\"checks\": [{}]}}", "1,".repeat(200_000));
    assert!(faults(&huge)[0].contains("longer than 256 KiB"));
    let deep = format!("{{\"checks\": {}{}}}", "[".repeat(100_000), "]".repeat(100_000));
    assert!(faults(&deep)[0].contains("nested more than 32 deep"));
    let many = format!(r#"{{"action": "log", "checks": [{}]}}"#, vec![r#"{"type":"pii"}"#; 65].join(","));
    assert_eq!(faults(&many).len(), 1);
    let wrong = format!(r#"{{"checks": [{}]}}"#, vec!["7"; 5_000].join(","));
    assert_eq!(faults(&wrong).len(), 100, "the list of faults has an end");
}

#[test]
fn each_configuration_is_checked() {
    for (config, part) in [
        (r#"{"type":"pii","config":{"types":["email","soul"]}}"#, "knows no such type: use `api-key`, `card`"),
        (r#"{"type":"pii","config":{"types":"email"}}"#, "is an array of names, not a string"),
        (r#"{"type":"pii","config":{"limit":3}}"#, "the field `limit` is unknown"),
        (r#"{"type":"prompt-injection","config":{"threshold":9}}"#, "between 0.1 and 3"),
        (r#"{"type":"regex"}"#, "needs `config.pattern`"),
        (r#"{"type":"regex","config":{"pattern":"(a|"}}"#, "the pattern is not understood"),
        (r#"{"type":"regex","config":{"pattern":"a{900}{900}"}}"#, "the pattern"),
        (r#"{"type":"regex","config":{"pattern":"a*"}}"#, "matches the empty text"),
        (r#"{"type":"denylist","config":{"terms":[]}}"#, "`terms` is empty"),
        (r#"{"type":"denylist","config":{"terms":["a",""," ",3]}}"#, "blank"),
        (r#"{"type":"json-schema","config":{"schema":{"type":"colour"}}}"#, "the schema is not valid"),
        (r#"{"type":"json-schema","action":"redact","config":{"schema":true}}"#, "has nothing to redact"),
        (r#"{"type":"max-size"}"#, "needs `config.limit`"),
        (r#"{"type":"max-tokens","config":{"limit":"many"}}"#, "a whole number from 0"),
        (r#"{"type":"url","config":{"allow":"example.com"}}"#, "expected an array of strings"),
        (r#"{"type":"unicode","config":{"types":["email"]}}"#, "use `invisible`, `bidi`, `confusable`"),
    ] {
        let faults = faults(&format!(r#"{{"action":"log","checks":[{config}]}}"#));
        assert!(faults.iter().any(|fault| fault.contains(part)), "{config}: {faults:?}");
    }
    assert!(faults(r#"{"checks":[{"type":"pii"}]}"#)[0].contains("no `action`"));
}

#[test]
fn a_skill_replaces_the_types_that_it_names() {
    let policy = |text: &str| Policy::parse(text).unwrap();
    let default =
        policy(r#"{"action":"block","checks":[{"type":"pii"},{"type":"pii","action":"log"},{"type":"secrets"}]}"#);
    let actions = |policy: &Policy| policy.checks().iter().map(|one| (one.check(), one.action())).collect::<Vec<_>>();
    let skill = policy(r#"{"action":"warn","checks":[{"type":"pii"},{"type":"unicode"}]}"#);
    assert_eq!(
        actions(&skill.over(&default)),
        [(CheckType::Secrets, Action::Block), (CheckType::Pii, Action::Warn), (CheckType::Unicode, Action::Warn)]
    );
    let alone = policy(r#"{"inherit":false,"action":"warn","checks":[{"type":"pii"}]}"#);
    assert_eq!(actions(&alone.over(&default)), [(CheckType::Pii, Action::Warn)]);
    let off = policy(r#"{"enabled":false,"checks":[]}"#);
    assert!(off.over(&default).checks().is_empty());
    let switched_off = policy(r#"{"enabled":false,"action":"block","checks":[{"type":"secrets"}]}"#);
    assert_eq!(
        actions(&skill.over(&switched_off)),
        [(CheckType::Pii, Action::Warn), (CheckType::Unicode, Action::Warn)]
    );
}

#[test]
fn the_name_of_a_check_fits_into_a_header() {
    let named = |name: &str| {
        faults(&json!({ "checks": [{ "type": "pii", "action": "warn", "name": name }] }).to_string()).len()
    };
    for good in ["projects", "Project X", "a.b_c:d-1", &"x".repeat(64)] {
        assert_eq!(named(good), 0, "{good}");
    }
    for bad in ["", " x", "größe", "a, b", "a\nb", "\u{200b}", &"x".repeat(65)] {
        assert_eq!(named(bad), 1, "{bad}");
    }
}

#[test]
fn a_policy_may_be_the_only_member() {
    let inner = r#"{"action": "log", "checks": [{"type": "pii"}]}"#;
    let wrapped = format!("{{\n  \"policy\": {inner}\n}}");
    assert_eq!(Policy::parse(&wrapped).unwrap().checks().len(), 1);
    assert_eq!((Policy::source(&wrapped), Policy::source(inner)), (inner, inner));
    let bad = wrapped.replace("pii", "pi");
    let told = faults(&bad);
    assert!(told[0].starts_with("2:51: ") && told[0].contains("/checks/0/type"), "where it was written: {told:?}");
    assert_eq!(faults(r#"{"policy": 1}"#).len(), 2, "the member is unknown, and there are no checks");
}

#[test]
fn a_draft_can_be_tried_on_both_sides_at_once() {
    let policy = Policy::parse(r#"{"action": "log", "checks": [{"type": "pii", "target": "output"}]}"#)
        .unwrap()
        .for_both_sides();
    let guard = Guard::new(&policy);
    assert!(!guard.is_idle(Side::Input) && !guard.is_idle(Side::Output));
}

/// What is shown to people is what holds.
#[test]
fn the_effective_policy_says_what_holds() {
    let pii = json!({ "action": "warn", "mode": "shadow", "checks": [{ "type": "pii" }, { "type": "secrets", "action": "block" }] });
    let off = json!({ "enabled": false, "action": "log", "checks": [{ "type": "pii" }] });
    let own = json!({ "action": "redact", "checks": [{ "type": "pii" }] });
    let alone = json!({ "inherit": false, "action": "redact", "checks": [{ "type": "url" }] });
    let held = |policy: &Policy| -> Vec<_> {
        policy.checks().iter().map(|one| (one.check(), one.action(), one.mode())).collect()
    };
    let read = |value: &serde_json::Value| Policy::parse(&value.to_string()).unwrap();
    for default in [&pii, &off] {
        for own in [&pii, &off, &own, &alone] {
            let shown = Policy::effective(Some(own), Some(default));
            assert_eq!(held(&read(&shown)), held(&read(own).over(&read(default))), "{shown}");
        }
        assert_eq!(held(&read(&Policy::effective(None, Some(default)))), held(&read(default)));
    }
    assert_eq!(Policy::effective(None, None), json!({ "checks": [] }));
    assert_eq!(Policy::effective(Some(&own), None)["checks"][0]["action"], "redact");
}

#[test]
fn all_faults_of_a_schema_are_told_where_they_are() {
    let policy = |schema: serde_json::Value| {
        json!({ "checks": [{ "type": "json-schema", "action": "log", "config": { "schema": schema } }] }).to_string()
    };
    let told =
        faults(&policy(json!({ "type": "objekt", "properties": { "a": { "minLength": -1 } }, "required": "a" })));
    let schema = "/checks/0/config/schema";
    for place in ["/type", "/properties/a/minLength", "/required"] {
        assert!(told.iter().any(|fault| fault.ends_with(&format!("(`{schema}{place}`)"))), "{place}: {told:#?}");
    }
    let huge = r"(?:[\p{L}\p{N}]{200}){200}";
    for schema in [json!({ "pattern": huge }), json!({ "patternProperties": { huge: true } })] {
        assert_eq!(faults(&policy(schema)).len(), 1, "as large as a pattern may be");
    }
    assert_eq!(faults(&policy(json!({ "$schema": "https://schemas.example/own", "type": 1 }))).len(), 1);
    assert_eq!(faults(&policy(json!({ "pattern": "^[a-z]+$" }))).len(), 0);
}

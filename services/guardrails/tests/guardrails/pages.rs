//! The examples on the pages of the checks: each finds what its page says.

use pleat_guardrails::{Guard, Policy, Session, Side};
use serde_json::{Value, json};

const PAGES: &[&str] = &[
    "pii",
    "secrets",
    "prompt-injection",
    "toxicity",
    "regex",
    "denylist",
    "url",
    "json-schema",
    "unicode",
    "max-size",
    "max-tokens",
];

/// The rows of the table under `Examples`: a text, and what is found in it.
fn examples(page: &str) -> Vec<(&str, &str)> {
    let rows = page.split("## Examples").nth(1).unwrap().lines().skip_while(|line| !line.starts_with('|')).skip(2);
    rows.take_while(|line| line.starts_with('|'))
        .map(|line| line.trim_matches('|').rsplit_once(" | ").unwrap())
        .map(|(text, found)| (text.split('`').nth(1).unwrap(), found.trim()))
        .collect()
}

#[test]
fn the_examples_on_the_pages_are_true() {
    for name in PAGES {
        let path = format!("{}/../../docs/guardrails/{name}.md", env!("CARGO_MANIFEST_DIR"));
        let page = std::fs::read_to_string(path).unwrap();
        let check: Value = serde_json::from_str(page.split("```").nth(1).unwrap().trim_start_matches("json")).unwrap();
        let side = if check["target"] == "output" { Side::Output } else { Side::Input };
        let guard = Guard::new(&Policy::parse(&json!({ "checks": [check] }).to_string()).unwrap());
        for (text, expected) in examples(&page) {
            let mut value = serde_json::from_str(text).unwrap_or_else(|_| json!(text));
            let verdict = guard.inspect(side, &mut value, &mut Session::new(b"key"));
            let found: Vec<&str> = verdict.findings.iter().map(|finding| finding.rule.as_str()).collect();
            match expected.strip_prefix('`').and_then(|rest| rest.split('`').next()) {
                Some(rule) => assert!(found.contains(&rule), "{name}: {text}: {found:?}"),
                None => assert!(found.is_empty() && expected.starts_with("nothing"), "{name}: {text}: {found:?}"),
            }
        }
    }
}

//! What is beside something that is redacted, in forms that go through here as they were written.

#![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

use std::sync::Arc;

use pleat_domain::json;
use pleat_guardrails::{Guard, Policy};

use super::Watch;

#[test]
fn an_answer_keeps_the_numbers_beside_what_is_redacted() {
    let policy = Policy::parse(r#"{"action":"redact","checks":[{"type":"pii"}]}"#).unwrap();
    let mut watch = Watch::new(&Arc::new(Guard::new(&policy)), b"key", None);
    let big = "123456789012345678901234567890";
    let mut reply = json::checked(format!(r#"{{"to": "jane@example.com", "sum": {big}, "rate": 1.10}}"#)).unwrap();
    assert!(watch.reply(&mut reply).is_ok());
    assert_eq!(reply.get(), format!(r#"{{"to":"[EMAIL_1]","sum":{big},"rate":1.10}}"#));
}

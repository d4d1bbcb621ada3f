//! A policy is read or refused. One that looks for everything redacts any text, and the same text however it is cut.
#![no_main]

use std::sync::LazyLock;

use libfuzzer_sys::fuzz_target;
use pleat_guardrails::{Guard, Policy, Session, Side};
use serde_json::Value;

static ALL: LazyLock<Guard> = LazyLock::new(|| {
    let policy = r#"{"action": "redact", "checks": [{"type": "pii"}, {"type": "secrets"}, {"type": "toxicity"},
        {"type": "regex", "config": {"pattern": "PRJ-[0-9]{4,8}"}}, {"type": "url", "config": {"deny": ["evil.test"]}},
        {"type": "unicode"}]}"#;
    Guard::new(&Policy::parse(policy).expect("a policy"))
});

fuzz_target!(|bytes: &[u8]| {
    let Some((cut, bytes)) = bytes.split_first() else { return };
    let Ok(text) = std::str::from_utf8(bytes) else { return };
    if let Ok(policy) = Policy::parse(text) {
        let _ = Guard::new(&policy).inspect_text(Side::Input, "jane@example.com 4111 1111 1111 1111", &mut session());
    }
    if let Ok(mut value) = serde_json::from_str::<Value>(text) {
        let _ = ALL.inspect(Side::Input, &mut value, &mut session());
        serde_json::to_string(&value).expect("it is still JSON");
    }
    let size = usize::from(*cut).max(1);
    let characters: Vec<char> = text.chars().collect();
    let pieces: Vec<String> = characters.chunks(size).map(|piece| piece.iter().collect()).collect();
    assert_eq!(streamed(&[text.to_owned()]), streamed(&pieces), "in pieces of {size}");
});

fn session() -> Session {
    Session::new(b"key")
}

fn streamed(pieces: &[String]) -> String {
    let (mut stream, mut session) = (ALL.stream(Side::Output), session());
    let mut out: String = pieces.iter().map(|piece| stream.push(piece, &mut session)).collect();
    out.push_str(&stream.finish(&mut session).0);
    out
}

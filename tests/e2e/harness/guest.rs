//! Guests made to measure, in component text: they compile in milliseconds and say of themselves what a test wants.

use serde_json::Value;

use super::fixture;

/// Where the two texts are put in the guest's one page, above what its arguments need.
const MANIFEST: usize = 40 * 1024;
const RESULT: usize = 56 * 1024;

/// A guest with this manifest that answers every call with this JSON.
pub fn answering(manifest: &Value, result: &str) -> Vec<u8> {
    crafted(manifest, result, "")
}

/// A guest with this manifest that never returns.
pub fn spinning(manifest: &Value) -> Vec<u8> {
    crafted(manifest, "null", "(loop $forever (br $forever))")
}

/// A guest with this manifest that calls itself until its stack is used up.
pub fn recursing(manifest: &Value) -> Vec<u8> {
    let text = String::from_utf8(crafted(manifest, "null", "(call $deeper)")).expect("UTF-8");
    text.replace("    ;;; functions", "    (func $deeper (call $deeper) (call $deeper))").into_bytes()
}

/// A guest with this manifest that runs `handle`, and answers with this JSON if it returns. The other places of
/// minimal.wat are left to be filled.
pub fn crafted(manifest: &Value, result: &str, handle: &str) -> Vec<u8> {
    let manifest = manifest.to_string();
    assert!(manifest.len() <= RESULT - MANIFEST && result.len() <= 8 * 1024, "the texts fit their places");
    let data = format!("{} {}", segment(MANIFEST, &manifest), segment(RESULT, result));
    let describe = format!("(return (call $text (i32.const {MANIFEST}) (i32.const {})))", manifest.len());
    let text = String::from_utf8(fixture("minimal.wat")).expect("UTF-8");
    [
        ("    ;;; memory", data.as_str()),
        ("      ;;; describe", describe.as_str()),
        ("      ;;; handle", handle),
        ("(i32.store (i32.const 136) (i32.const 64))", &format!("(i32.store (i32.const 136) (i32.const {RESULT}))")),
        (
            "(i32.store (i32.const 140) (i32.const 4))",
            &format!("(i32.store (i32.const 140) (i32.const {}))", result.len()),
        ),
    ]
    .into_iter()
    .fold(text, |text, (place, with)| {
        assert_eq!(text.matches(place).count(), 1, "minimal.wat has one `{place}`");
        text.replace(place, with)
    })
    .into_bytes()
}

fn segment(at: usize, text: &str) -> String {
    let escaped: String = text.bytes().map(|byte| format!("\\{byte:02x}")).collect();
    format!("(data (i32.const {at}) \"{escaped}\")")
}

//! Texts that are fine, broken, or made to hurt.

use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::*;
use crate::fault::Faults;

fn value(text: &str) -> Value {
    let mut report = Report::default();
    let node = read(text, &mut report);
    report.finish().unwrap_or_else(|faults| panic!("{text}: {faults}"));
    node.unwrap().to_value()
}

fn faults(text: &str) -> Faults {
    let mut report = Report::default();
    let _ = read(text, &mut report);
    report.finish().expect_err(text)
}

fn first(text: &str) -> (u32, u32, String) {
    let fault = faults(text).faults.remove(0);
    (fault.position.line, fault.position.column, fault.message)
}

#[test]
fn yaml_and_json_say_the_same() {
    let yaml = "name: a\nlist:\n  - 1\n  - -2.5\n  - 0x1F\n  - yes\n  - ~\n  - 'x'\nflag: true\n";
    let json = r#"{"name":"a","list":[1,-2.5,31,"yes",null,"x"],"flag":true}"#;
    assert_eq!(value(yaml), value(json));
    assert_eq!(value(r#"{"a":"\ud83d\ude00\/\u0041"}"#), json!({"a": "😀/A"}));
    assert_eq!(value("{a: [b, c], d: {e: 1}}"), json!({"a": ["b", "c"], "d": {"e": 1}}), "flow style is YAML");
}

#[test]
fn numbers_of_yaml_are_numbers_of_json() {
    for (text, number) in [("1e3", json!(1000.0)), ("+12", json!(12)), (".5", json!(0.5)), ("0o17", json!(15))] {
        assert_eq!(value(&format!("a: {text}")), json!({ "a": number }));
    }
    for text in ["1.2.3", "1e", "e5", ".", "0x", "12a", "1_000"] {
        assert_eq!(value(&format!("a: {text}")), json!({ "a": text }));
    }
}

#[test]
fn positions_count_lines_and_characters_from_one() {
    let mut report = Report::default();
    let node = read("a: 1\nblüte:\n  - x: 'é'\n    y: 2\n", &mut report).unwrap();
    assert_eq!(node.position("/blüte/0/y"), Position { line: 4, column: 8 });
    let node = read("{\"é\": [1,\n  {\"b\": 2}]}", &mut report).unwrap();
    assert_eq!(node.position("/é/1/b"), Position { line: 2, column: 9 });
    assert_eq!(node.position("/é/1/c/d"), Position { line: 2, column: 3 }, "the nearest above");
}

#[test]
fn equal_keys_are_refused_with_every_place() {
    let found = faults("a: 1\nb:\n  c: 1\n  c: 2\na: 3\n");
    let places: Vec<_> = found.faults.iter().map(|fault| (fault.position.line, fault.pointer.as_str())).collect();
    assert_eq!(places, [(4, "/b/c"), (5, "/a")]);
    assert_eq!(first(r#"{"x":1,"\u0078":2}"#).1, 8, "however they are spelled");
}

#[test]
fn broken_text_says_where() {
    assert_eq!(first("{\"a\": 1,\n \"b\" 2}").0, 2);
    assert!(first("{\"a\": 1").2.contains("the text ends"));
    assert_eq!(first("a: 1\nb: ]").0, 2);
    for bad in ["", "# nothing\n", "a: 1\n---\nb: 2", "a: !!int 1", "? [a]\n: b", "a: .nan", "a: *x", "a: &x [*x]"] {
        assert!(!faults(bad).faults.is_empty(), "{bad}");
    }
}

#[test]
fn aliases_are_what_they_stand_for() {
    assert_eq!(value("a: &x {b: 1}\nc: *x"), json!({"a": {"b": 1}, "c": {"b": 1}}));
}

#[test]
fn hostile_texts_are_refused_quickly() {
    let laughs: String = (1..30).map(|n| format!("a{n}: &a{n} [*a{0},*a{0},*a{0},*a{0},*a{0}]\n", n - 1)).collect();
    let tower: String =
        (1..9).map(|n| format!("a{n}: &a{n} {}*a{}{}\n", "[".repeat(20), n - 1, "]".repeat(20))).collect();
    let hostile = [
        "[".repeat(200_000),
        "{\"a\":".repeat(40_000),
        format!("{{\"a\":{}", "[".repeat(200_000)),
        "- ".repeat(100_000),
        "? ".repeat(100_000),
        "a: ".repeat(60_000),
        format!("{{\"a\":[{}0]}}", "0,".repeat(limits::VALUES)),
        format!("a0: &a0 [x,x,x]\n{laughs}"),
        format!("a0: &a0 [x]\n{tower}"),
        "x".repeat(limits::TEXT + 1),
        "\"".repeat(100_001),
        "&a ".repeat(80_000),
        "{a: ".repeat(60_000),
        "a:\n".repeat(80_000),
        "!".repeat(200_000),
    ];
    for text in hostile {
        let started = Instant::now();
        let _ = faults(&text);
        let took = started.elapsed();
        let head: String = text.chars().take(40).collect();
        assert!(took < Duration::from_secs(2), "{head}: {took:?}");
    }
}

/// Cut and altered texts may be refused, never more than that.
#[test]
fn nothing_panics() {
    let seed =
        "name: &n a\nsteps:\n  - {id: 'x', list: [1, \"\\u00e9\", *n]}\n  - |\n    text\n  - >-\n    more\n# end\n";
    let bytes = seed.as_bytes();
    for cut in 0..=bytes.len() {
        let _ = read(&String::from_utf8_lossy(&bytes[..cut]), &mut Report::default());
        for other in b"{}[]:,&*!|>'\"%@`#-? \n\t\0" {
            let mut changed = bytes.to_vec();
            changed.insert(cut, *other);
            let _ = read(&String::from_utf8_lossy(&changed), &mut Report::default());
        }
    }
}

//! What mappings make of what is there and of what is not.

use std::collections::BTreeMap;

use pleat_domain::json::raw;
use serde_json::json;

use super::*;
use crate::datum::Datum;
use crate::reference::StepId;

fn made(mapping: &Mapping, input: &Value) -> Result<String, TooLarge> {
    let one = r#"{"big":123456789012345678901234567890,"s":"x"}"#;
    let one = Datum::new(RawValue::from_string(one.into()).unwrap());
    let answers = BTreeMap::from([(StepId::parse("one").unwrap(), one)]);
    let (input, item) = (Datum::new(raw(input)), Datum::new(raw(&json!({"t": [1, 2]}))));
    let made = mapping.evaluate(&Scope { input: &input, answers: &answers, item: Some((&item, 7)) });
    made.map(|made| made.get().to_owned())
}

fn text(text: &str) -> Mapping {
    Mapping::of_text(text).unwrap()
}

#[test]
fn references_literals_objects_and_lists() {
    let mapping = Mapping::Object(vec![
        ("a".into(), text("$input.x.y")),
        ("b".into(), text("literal:$input.x")),
        ("c".into(), Mapping::Array(vec![text("$item.t[1]"), text("$index"), text("$steps.one.s"), text("$input.no")])),
        ("gone".into(), text("$steps.skipped.a")),
        ("d".into(), Mapping::Literal(json!(null))),
        ("e\"".into(), Mapping::Object(vec![("gone".into(), text("$input.no"))])),
    ]);
    let made = made(&mapping, &json!({"x": {"y": {"z": 1}}})).unwrap();
    let made: Value = serde_json::from_str(&made).unwrap();
    assert_eq!(made, json!({"a": {"z": 1}, "b": "$input.x", "c": [2, 7, "x", null], "d": null, "e\"": {}}));
}

#[test]
fn a_whole_payload_is_passed_on_as_the_text_it_is() {
    let whole = made(&text("$steps.one"), &json!(1)).unwrap();
    assert_eq!(whole, r#"{"big":123456789012345678901234567890,"s":"x"}"#);
    assert_eq!(made(&text("$steps.skipped"), &json!(1)).unwrap(), "null");
}

#[test]
fn copies_of_something_large_do_not_add_up_without_end() {
    let large = json!("x".repeat(limits::MAPPED / 3));
    assert!(made(&Mapping::Array(vec![text("$input"); 2]), &large).is_ok());
    assert_eq!(made(&Mapping::Array(vec![text("$input"); 3]), &large), Err(TooLarge));
}

#[test]
fn strings_that_mean_nothing_are_refused_with_what_to_write() {
    for (bad, hint) in [("es", "literal:es"), ("{{ nodes.a }}", "$input"), ("$inptu.a", "literal:$inptu.a")] {
        let (_, said) = Mapping::of_text(bad).expect_err(bad);
        assert!(said.contains(hint), "{said}");
    }
}

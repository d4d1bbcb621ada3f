//! What mappings make of what is there and of what is not.

use pleat_domain::json::raw;
use serde_json::json;

use super::*;
use crate::datum::Datum;
use crate::reference::StepId;

struct Some3 {
    input: Datum,
    step: Datum,
    item: Datum,
}

impl Scope for Some3 {
    fn input(&self) -> &Datum {
        &self.input
    }

    fn step(&self, id: &StepId) -> Option<&Datum> {
        (id.as_str() == "one").then_some(&self.step)
    }

    fn item(&self) -> Option<(&Datum, u32)> {
        Some((&self.item, 7))
    }
}

fn scope(input: Value) -> Some3 {
    Some3 {
        input: Datum::new(raw(&input)),
        step: Datum::new(RawValue::from_string(r#"{"big":123456789012345678901234567890,"s":"x"}"#.into()).unwrap()),
        item: Datum::new(raw(&json!({"t": [1, 2]}))),
    }
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
    let made = mapping.evaluate(&scope(json!({"x": {"y": {"z": 1}}}))).unwrap();
    let made: Value = serde_json::from_str(made.get()).unwrap();
    assert_eq!(made, json!({"a": {"z": 1}, "b": "$input.x", "c": [2, 7, "x", null], "d": null, "e\"": {}}));
}

#[test]
fn a_whole_payload_is_passed_on_as_the_text_it_is() {
    let made = text("$steps.one").evaluate(&scope(json!(1))).unwrap();
    assert_eq!(made.get(), r#"{"big":123456789012345678901234567890,"s":"x"}"#);
    assert_eq!(text("$steps.skipped").evaluate(&scope(json!(1))).unwrap().get(), "null");
}

#[test]
fn copies_of_something_large_do_not_add_up_without_end() {
    let scope = scope(json!("x".repeat(limits::MAPPED / 3)));
    assert!(Mapping::Array(vec![text("$input"); 2]).evaluate(&scope).is_ok());
    assert_eq!(Mapping::Array(vec![text("$input"); 3]).evaluate(&scope).err(), Some(TooLarge));
}

#[test]
fn strings_that_mean_nothing_are_refused_with_what_to_write() {
    for (bad, hint) in [("es", "literal:es"), ("{{ nodes.a }}", "$input"), ("$inptu.a", "literal:$inptu.a")] {
        let (_, said) = Mapping::of_text(bad).expect_err(bad);
        assert!(said.contains(hint), "{said}");
    }
}

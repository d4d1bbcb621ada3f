//! The contract between messages and values, row by row.

use serde_json::json;

use super::*;

fn message(content: Vec<Block>) -> Message {
    Message::user("m", content)
}

fn input(content: Vec<Block>, schema: Option<&Value>) -> Result<String, String> {
    let raw = input_from_message(&message(content), schema);
    raw.map(|raw| raw.get().to_owned()).map_err(|error| error.to_string())
}

fn image() -> Block {
    serde_json::from_value(json!({"type": "image", "data": "AA==", "mimeType": "image/png"})).unwrap()
}

fn city() -> Value {
    json!({"type": "object", "properties": {"city": {"type": "string"}, "days": {"type": "integer"}}})
}

#[test]
fn one_data_part_is_the_input_whatever_is_around_it() {
    let data = || Block::data(json::raw(&json!({"b": 1, "a": [2]})));
    assert_eq!(input(vec![data()], None).unwrap(), r#"{"b":1,"a":[2]}"#);
    assert_eq!(input(vec![Block::text("look"), data(), image()], Some(&city())).unwrap(), r#"{"b":1,"a":[2]}"#);
    let fault = input(vec![data(), data()], None).unwrap_err();
    assert_eq!(fault, "the message has 2 data parts, and the input is one value; put them into one data part");
}

#[test]
fn texts_are_joined_by_lines() {
    assert_eq!(input(vec![Block::text("a"), image(), Block::text("b")], None).unwrap(), r#""a\nb""#);
    assert_eq!(input(vec![Block::text("{}")], Some(&json!({"type": "string"}))).unwrap(), r#""{}""#);
    assert_eq!(input(vec![Block::text("{}")], Some(&json!({"type": ["object", "string"]}))).unwrap(), r#""{}""#);
}

#[test]
fn a_text_becomes_the_object_that_the_schema_wants() {
    let text = |text: &str, schema: Value| input(vec![Block::text(text)], Some(&schema));
    assert_eq!(text(r#" {"city": "Rome"}"#, city()).unwrap(), r#"{"city": "Rome"}"#);
    assert_eq!(text("Rome", city()).unwrap(), r#"{"city":"Rome"}"#);
    assert_eq!(text("{Rome", city()).unwrap(), r#"{"city":"{Rome"}"#);
    assert_eq!(text("[1]", city()).unwrap(), r#"{"city":"[1]"}"#);
    let referred = json!({"$ref": "#/$defs/City", "$defs": {"City": city()}});
    assert_eq!(text("Rome", referred).unwrap(), r#"{"city":"Rome"}"#);
    let untyped = json!({"properties": {"city": {"type": "string"}}});
    assert_eq!(text("Rome", untyped).unwrap(), r#"{"city":"Rome"}"#);
}

#[test]
fn a_text_that_cannot_be_the_object_says_what_to_send() {
    let two = json!({"type": "object", "properties": {"a": {"type": "string"}, "b": {"type": "string"}}});
    let text = |text: &str| input(vec![Block::text(text)], Some(&two)).unwrap_err();
    assert_eq!(
        text("Rome"),
        "this skill takes an object; send it as a data part, or as a text part that is a JSON object"
    );
    assert_eq!(
        text(r#"{"a":1,"a":2}"#),
        "the text is read as the JSON input, but the key `a` occurs twice in one object"
    );
    assert!(text("{").starts_with("the text is read as the JSON input, but not valid JSON"));
}

#[test]
fn files_alone_leave_the_input_empty() {
    assert_eq!(input(vec![image()], None).unwrap(), "null");
    assert_eq!(input(vec![image()], Some(&city())).unwrap(), "{}");
}

#[test]
fn a_reference_that_leads_round_in_circles_wants_nothing() {
    assert_eq!(input(vec![Block::text("x")], Some(&json!({"$ref": "#"}))).unwrap(), r#""x""#);
    assert_eq!(input(vec![Block::text("x")], Some(&json!({"$ref": "https://a.example/s"}))).unwrap(), r#""x""#);
}

#[test]
fn a_string_is_its_own_text_and_other_values_stay_as_written() {
    let text = |json: &str| text_of(&RawValue::from_string(json.to_owned()).unwrap()).into_owned();
    assert_eq!(text(r#""a\n\"b\"""#), "a\n\"b\"");
    assert_eq!(text(r#"{"temp": 62.0}"#), r#"{"temp": 62.0}"#);
    assert_eq!(text("null"), "null");
}

#[test]
fn text_is_accepted_where_it_can_become_the_input() {
    assert!(accepts_text(None));
    assert!(accepts_text(Some(&json!({"type": "string"}))));
    assert!(accepts_text(Some(&city())));
    assert!(!accepts_text(Some(&json!({"type": "object"}))));
}

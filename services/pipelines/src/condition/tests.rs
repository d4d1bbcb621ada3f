//! Conditions read, print and hold as documented.

use std::collections::BTreeMap;

use pleat_domain::json;
use serde_json::json;

use super::*;
use crate::datum::Datum;

fn holds(text: &str) -> bool {
    let input =
        json!({"n": 3, "big": u64::MAX, "text": "b", "flag": true, "none": null, "list": [1, {"x": "y"}], "half": 0.5});
    let condition = Condition::parse(text).unwrap_or_else(|error| panic!("{text}: {error:?}"));
    let printed = condition.to_string();
    assert_eq!(Condition::parse(&printed), Ok(condition.clone()), "{text} printed as {printed}");
    condition.holds(&Scope { input: &Datum::new(json::raw(&input)), answers: &BTreeMap::new(), item: None })
}

#[test]
fn what_holds() {
    for text in [
        "true",
        "$input.flag",
        "$input.n == 3",
        "$input.n == 3.0",
        "$input.n >= 3 and $input.n < 4",
        "$input.big > 1",
        "$input.half <= 0.5",
        "$input.text == \"b\" and $input.text != 'c'",
        "$input.text > 'a'",
        "'it''s' == \"it's\"",
        "not false",
        "not ($input.n == 1 or $input.n == 2)",
        "false or not false and true",
        "exists $input.none",
        "not exists $input.missing",
        "$input.missing == null",
        "$input.none == null",
        "$input.list[1].x == 'y'",
        "$input.list == $input.list",
        "not exists $steps.skipped",
        "-1 < 0 and 1e2 == 100",
    ] {
        assert!(holds(text), "{text}");
    }
}

#[test]
fn what_does_not_hold() {
    for text in [
        "false",
        "$input.n",
        "$input.missing",
        "$input.n == '3'",
        "$input.text < 3",
        "$input.text >= 3",
        "$input.none < 1",
        "$input.list < $input.list",
        "exists $input.n.x",
        "true and false or false",
        "(true or true) and false",
    ] {
        assert!(!holds(text), "{text}");
    }
}

#[test]
fn faults_say_where_and_what() {
    let after = |text: &str| Condition::parse(text).expect_err(text);
    assert_eq!(after("$input.a && true").message, "`&&` is written `and` here");
    assert_eq!(after("$input.a = 1").message, "`=` is written `==` here");
    assert_eq!(after("!true").message, "`!` is written `not` here");
    assert_eq!(after("true and $nothing.a").after, 9);
    for text in
        ["", "and", "1", "'x'", "1 <", "(true", "true)", "$input.", "'x", "\"x", "exists 1", "tru", "1 < 2 < 3", "notx"]
    {
        assert!(Condition::parse(text).is_err(), "{text}");
    }
    assert!(after(&"(".repeat(2_000)).message.contains("deep"));
    assert!(after(&"not ".repeat(500)).message.contains("deep"));
    assert!(after(&"x".repeat(5_000)).message.contains("longer"));
}

#[test]
fn constants_are_seen() {
    for (text, constant) in [
        ("false", Some(false)),
        ("1 == 2 or false", Some(false)),
        ("$input.a and false", Some(false)),
        ("$input.a or true", Some(true)),
        ("not (1 == 1)", Some(false)),
        ("$input.a and true", None),
    ] {
        assert_eq!(Condition::parse(text).unwrap().constant(), constant, "{text}");
    }
}

//! The library's words for ordinary schemas, and an end for hostile ones.

use serde_json::{Value, json};

use crate::{Effort, Schema, Verdict};

fn verdict(schema: &Value, value: &Value) -> Verdict {
    Schema::compile(schema, Effort::FULL).unwrap().check(value, Effort::FULL).unwrap()
}

fn apart<T: Send>(work: impl FnOnce() -> T + Send) -> T {
    std::thread::scope(|scope| {
        std::thread::Builder::new().stack_size(Effort::STACK).spawn_scoped(scope, work).unwrap().join().unwrap()
    })
}

#[test]
fn ordinary_schemas_say_what_the_library_says() {
    let tree = json!({ "type": "object", "properties": { "name": { "type": "string", "minLength": 1 },
        "children": { "type": "array", "items": { "$ref": "#" } } }, "required": ["name"], "additionalProperties": false });
    let named = json!({ "$defs": { "a": { "$anchor": "it", "enum": ["x", 1, null, [1]] }, "never": false },
        "oneOf": [{ "$ref": "#it" }, { "type": "number", "multipleOf": 3 }, { "$ref": "#/$defs/never" }] });
    let places = json!({ "components": { "a/b": { "type": "integer", "maximum": 9 } }, "$ref": "#/components/a~1b" });
    let draft4 = json!({ "$schema": "http://json-schema.org/draft-04/schema#", "id": "http://a.b/c", "definitions":
        { "x": { "type": "integer", "minimum": 3, "exclusiveMinimum": true } }, "items": [{ "$ref": "#/definitions/x" }],
        "additionalItems": false });
    let draft7 = json!({ "$schema": "http://json-schema.org/draft-07/schema#", "if": { "required": ["a"] },
        "then": { "required": ["b"] }, "else": false, "dependencies": { "b": ["c"], "c": { "required": ["a"] } },
        "propertyNames": { "pattern": "^[a-z]$" } });
    let draft2019 = json!({ "$schema": "https://json-schema.org/draft/2019-09/schema", "$recursiveAnchor": true,
        "properties": { "x": { "$recursiveRef": "#" } }, "unevaluatedProperties": false });
    let latest = json!({ "$schema": "https://json-schema.org/draft/2020-12/schema", "$dynamicAnchor": "node",
        "properties": { "x": { "$dynamicRef": "#node" }, "l": { "prefixItems": [{ "const": 1 }], "items": false,
        "uniqueItems": true, "contains": { "type": "integer" } } }, "anyOf": [{ "required": ["x"] }, { "required": ["l"] }],
        "dependentSchemas": { "x": { "minProperties": 2 } }, "not": { "required": ["no"] }, "unevaluatedProperties": false });
    let embedded = json!({ "$id": "https://a.b/root.json", "$defs": { "one": { "$id": "one.json", "$defs": { "s": { "type": "string" } },
        "properties": { "s": { "$ref": "#/$defs/s" } } } }, "properties": { "one": { "$ref": "one.json" } },
        "allOf": [{ "$ref": "one.json#/$defs/s" }] });
    let values = [
        json!(1),
        json!(4),
        json!(10),
        json!("x"),
        json!(null),
        json!([1]),
        json!([1, 2]),
        json!([4]),
        json!({}),
        json!({ "name": "", "children": [{ "name": "a" }, { "nam": 1 }] }),
        json!({ "name": "a", "children": [] }),
        json!({ "a": 1, "b": 2 }),
        json!({ "a": 1, "b": 2, "c": 3 }),
        json!({ "A": 1 }),
        json!({ "x": {} }),
        json!({ "x": { "x": 3 }, "y": 1 }),
        json!({ "x": { "l": [1] }, "l": [1] }),
        json!({ "l": [1, 1] }),
        json!({ "x": { "l": [] }, "l": [1], "no": 1 }),
        json!({ "one": { "s": 1 } }),
    ];
    for schema in [tree, named, places, draft4, draft7, draft2019, latest, embedded] {
        let library =
            jsonschema::options().with_pattern_options(jsonschema::PatternOptions::regex()).build(&schema).unwrap();
        for value in &values {
            let expected: Vec<_> =
                library.iter_errors(value).take(8).map(|e| (e.instance_path().to_string(), e.to_string())).collect();
            let told = match verdict(&schema, value) {
                Verdict::Valid => Vec::new(),
                Verdict::Invalid(faults) => faults.into_iter().map(|fault| (fault.pointer, fault.message)).collect(),
            };
            assert_eq!(told, expected, "{schema} {value}");
        }
    }
}

#[test]
fn recursive_alternatives_end_within_their_budget() {
    let schema = json!({ "anyOf": [{ "properties": { "x": { "$ref": "#" } }, "type": "object" },
        { "additionalProperties": { "$ref": "#" }, "type": "object" }, { "type": "string" }] });
    let deep = (0..60).fold(json!(1), |inner, _| json!({ "x": inner }));
    let schema = Schema::compile(&schema, Effort::INLINE).unwrap();
    let verdict = apart(|| schema.check(&deep, Effort::FULL));
    assert!(!matches!(verdict, Ok(Verdict::Valid)), "{verdict:?}");
    if let Ok(Verdict::Invalid(faults)) = verdict {
        assert!(faults.len() <= 8);
    }
}

/// A recursive schema of the applicators that multiply work.
fn hostile(seed: &mut u64) -> Value {
    let mut below = |most: u64| {
        *seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (*seed >> 33) % most
    };
    let again = || json!({ "$ref": "#" });
    let branches: Vec<Value> = (0..2 + below(4))
        .map(|_| match below(6) {
            0 => json!({ "properties": { "x": again() }, "required": ["x"] }),
            1 => json!({ "additionalProperties": again(), "type": "object" }),
            2 => json!({ "items": again(), "contains": again(), "uniqueItems": true }),
            3 => json!({ "patternProperties": { "^x": again() }, "minProperties": 1 }),
            4 => json!({ "prefixItems": [again(), again()], "unevaluatedItems": again() }),
            _ => json!({ "type": "integer", "minimum": 9 }),
        })
        .collect();
    match below(8) {
        0 => json!({ "anyOf": branches }),
        1 => json!({ "oneOf": branches }),
        2 => json!({ "allOf": branches, "anyOf": branches }),
        3 => json!({ "not": { "anyOf": branches } }),
        4 => json!({ "if": branches[0], "then": branches[1], "else": { "anyOf": branches } }),
        5 => json!({ "dependentSchemas": { "x": { "oneOf": branches } }, "properties": { "x": again() } }),
        6 => json!({ "anyOf": branches, "unevaluatedProperties": again() }),
        _ => json!({ "$dynamicAnchor": "n", "oneOf": [
            { "properties": { "x": { "$dynamicRef": "#n" } }, "required": ["x"] },
            { "additionalProperties": { "$dynamicRef": "#n" } }] }),
    }
}

#[test]
fn generated_hostile_schemas_are_decided_or_given_up() {
    let effort = Effort { steps: 30_000, ..Effort::FULL };
    let nested = (0..60).fold(json!(1), |inner, _| json!({ "x": inner }));
    let listed = (0..60).fold(json!(1), |inner, _| json!([inner, 1]));
    let wide: serde_json::Map<String, Value> = (0..200).map(|at| (format!("x{at}"), json!({ "x": 1 }))).collect();
    let values = [nested, listed, Value::Object(wide), json!(vec![json!({ "x": { "x": 1 } }); 300])];
    apart(|| {
        let mut seed = 0x5eed;
        for _ in 0..120 {
            let schema = hostile(&mut seed);
            let schema = Schema::compile(&schema, Effort::FULL).unwrap_or_else(|refused| panic!("{refused}: {schema}"));
            for value in &values {
                if let Ok(Verdict::Invalid(faults)) = schema.check(value, effort) {
                    assert!(!faults.is_empty() && faults.len() <= 8);
                }
            }
        }
    });
}

#[test]
fn references_that_double_end_within_their_budget() {
    for leaf in [json!({ "type": "null" }), json!(false), json!(true), json!({})] {
        let mut definitions: serde_json::Map<String, Value> = (0..40)
            .map(|at| {
                let next = json!({ "$ref": format!("#/$defs/d{}", at + 1) });
                (
                    format!("d{at}"),
                    json!({ "anyOf": [{ "allOf": [next, next, false] }, { "allOf": [next, next, false] }] }),
                )
            })
            .collect();
        definitions.insert("d40".into(), leaf);
        let schema = json!({ "$defs": definitions, "$ref": "#/$defs/d0" });
        let schema = Schema::compile_apart(&schema).unwrap();
        let small = Effort { steps: 20_000, ..Effort::INLINE };
        assert!(!matches!(schema.check(&json!({}), small), Ok(Verdict::Valid)));
    }
}

#[test]
fn schemas_that_lead_to_themselves_are_refused_with_their_place() {
    for (schema, place) in [
        (json!({ "anyOf": [{ "$ref": "#" }, { "type": "null" }] }), ""),
        (json!({ "properties": { "a": { "$anchor": "a", "not": { "$ref": "#a" } } } }), "/properties/a"),
        (json!({ "$dynamicAnchor": "n", "allOf": [{ "$dynamicRef": "#n" }] }), ""),
        (
            json!({ "properties": { "x": { "enum": [{ "not": {} }] } }, "$ref": "#/properties/x/enum/0" }),
            "/properties/x/enum/0",
        ),
    ] {
        assert_eq!(Schema::compile(&schema, Effort::INLINE).unwrap_err().pointer, place, "{schema}");
    }
    let chain: serde_json::Map<String, Value> =
        (0..300).map(|at| (format!("d{at}"), json!({ "$ref": format!("#/$defs/d{}", at + 1) }))).collect();
    let mut chain = json!({ "$defs": chain, "$ref": "#/$defs/d0" });
    chain["$defs"]["d300"] = json!({});
    assert!(Schema::compile(&chain, Effort::INLINE).unwrap_err().message.contains("128"));
}

#[test]
fn patterns_that_expand_are_refused() {
    let many: serde_json::Map<String, Value> =
        (0..40).map(|at| (format!("f{at}"), json!({ "pattern": format!(r"\p{{L}}{{100}}{at}") }))).collect();
    for schema in [json!({ "properties": many }), json!({ "pattern": r"[\p{L}\p{N}]{900}" })] {
        assert!(Schema::compile(&schema, Effort::INLINE).is_err(), "{schema}");
    }
    assert!(Schema::compile(&json!({ "pattern": r"^[\w.-]+@[\w-]+\.[a-z]{2,10}$" }), Effort::INLINE).is_ok());
}

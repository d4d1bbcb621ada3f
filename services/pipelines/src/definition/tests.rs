//! One definition, one form, one hash.

use crate::parse;

const EVERYTHING: &str = "\
name: everything
description: All fields at once
input_schema: {type: object}
steps:
  - id: first
    tool_name: fetch
    function_id: fn_1
    timeout: 90000ms
    retry: 3
  - parallel:
      - {id: left, tool_name: a, when: '($input.n >= 2) and not exists $steps.first.error'}
      - id: right
        kind: pipeline
        tool_name: inner
        retry: {attempts: 4, backoff: 2m, factor: 1, on: any}
  - id: fan
    tool_name: pipeline:inner
    for_each: {in: '$steps.left[\"a b\"][0]', concurrency: 2, max_items: 1000, on_failure: continue}
    input_mapping: {item: $item, index: $index, text: 'literal:$x', n: 1.5, list: [~, true, {deep: $input}]}
output: {done: $steps.fan}
output_schema: true
";

#[test]
fn the_canonical_form_is_fixed() {
    insta::assert_snapshot!(parse(EVERYTHING).unwrap().canonical(), @r#"{"name":"everything","description":"All fields at once","input_schema":{"type":"object"},"steps":[{"id":"first","tool_name":"fetch","timeout":"90s","retry":{"attempts":3}},{"parallel":[{"id":"left","tool_name":"a","when":"$input.n >= 2 and not exists $steps.first.error"},{"id":"right","tool_name":"pipeline:inner","retry":{"attempts":4,"backoff":"2m","factor":1,"max_backoff":"2m","on":"any"}}]},{"id":"fan","tool_name":"pipeline:inner","for_each":{"in":"$steps.left[\"a b\"][0]","concurrency":2,"max_items":1000,"on_failure":"continue"},"input_mapping":{"item":"$item","index":"$index","text":"literal:$x","n":1.5,"list":[null,true,{"deep":"$input"}]}}],"output":{"done":"$steps.fan"},"output_schema":true}"#);
}

#[test]
fn the_canonical_form_reads_back_as_the_same() {
    let definition = parse(EVERYTHING).unwrap();
    let again = parse(&definition.canonical()).unwrap();
    assert_eq!(again, definition);
    assert_eq!(again.hash(), definition.hash());
}

#[test]
fn the_hash_is_of_the_meaning_not_of_the_writing() {
    let yaml = "name: a\nsteps:\n  - {id: x, tool_name: f, position: 1, timeout: 60s, function_id: fn_1}\n  - {id: y, tool_name: g, position: 2}\n";
    let json = r#"{"steps":[{"tool_name":"f","timeout":"1m","id":"x"},{"id":"y","kind":"function","tool_name":"g"}],"name":"a"}"#;
    assert_eq!(parse(yaml).unwrap().hash(), parse(json).unwrap().hash());
    assert_ne!(parse(yaml).unwrap().hash(), parse(&yaml.replace("60s", "61s")).unwrap().hash());
}

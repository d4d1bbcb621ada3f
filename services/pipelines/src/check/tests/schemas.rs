//! Mappings against the schemas of what is called.

use super::*;

/// One step that calls `tool`, with these further lines.
fn step(tool: &str, lines: &str) -> String {
    let schema = "{type: object, required: [text], additionalProperties: false, properties: {text: {type: string}, count: {type: integer}, tags: {type: array, items: {type: string}}}}";
    let lines = lines.replace('\n', "\n    ");
    format!("name: a\ninput_schema: {schema}\nsteps:\n  - id: one\n    tool_name: {tool}\n    {lines}\n")
}

#[test]
fn what_fits_is_let_through() {
    clean(&step("summarize", "input_mapping: {text: $input.text, words: 5}"));
    clean(&step("summarize", "input_mapping: {text: 'literal:5', words: $input.count}"));
    clean(&step("summarize", "for_each: $input.tags\ninput_mapping: {text: $item, words: $index}"));
    clean(&step("translate", "input_mapping: {text: '$input.tags[0]', target_language: 'literal:fr'}"));
    clean(&step("anything", "input_mapping: {free: [1, {a: $input}], x: ~}"));
    clean(&step("summarize", "input_mapping: {text: $input.text}\n").replace("steps:", "output: {s: $steps.one.summary}\noutput_schema: {type: object, properties: {s: {type: string}}, required: [s]}\nsteps:"));
    clean("name: a\nsteps: [{id: one, tool_name: summarize}]");
}

#[test]
fn what_can_never_fit_is_refused() {
    let cases = [
        ("missing", step("summarize", "input_mapping: {words: 1}")),
        ("wrong literal type", step("summarize", "input_mapping: {text: 5}")),
        ("number as text", step("summarize", "input_mapping: {text: $input.text, words: 'literal:5'}")),
        ("literal out of range", step("summarize", "input_mapping: {text: $input.text, words: 0}")),
        ("not one of the values", step("translate", "input_mapping: {text: $input.text, target_language: 'literal:de'}")),
        ("through a reference", step("translate", "input_mapping: {text: 'literal:', target_language: 'literal:es'}")),
        ("unknown property", step("summarize", "input_mapping: {text: $input.text, wrods: 3}")),
        ("wrong source type", step("summarize", "input_mapping: {text: $input.count}")),
        ("the whole of it", step("summarize", "input_mapping: $input.text")),
        ("never there", step("summarize", "input_mapping: {text: $input.txt}")),
        ("inside of text", step("summarize", "input_mapping: {text: $input.text.length}")),
        ("no array", step("summarize", "for_each: $input.text\ninput_mapping: {text: $item}")),
        ("items of another type", step("summarize", "for_each: $input.tags")),
        ("never there, and nobody asks", step("anything", "input_mapping: {text: $input.txt}")),
        ("whole input lacks it", step("translate", "timeout: 1s")),
        ("whole input is too much", step("summarize", "timeout: 1s").replace("required: [text]", "required: [text, count]")),
        ("output", step("summarize", "input_mapping: {text: $input.text}\n").replace("steps:", "output: {s: $steps.one.length}\noutput_schema: {type: object, properties: {s: {type: string}}}\nsteps:")),
    ];
    let said: Vec<String> = cases.iter().map(|(case, text)| format!("{case}: {}", faults(text))).collect();
    insta::assert_snapshot!(said.join("\n"), @r#"
    missing: 6:20: `summarize` needs `text`, which is not mapped; map it, for example `text: $input.text` (at /steps/0/input_mapping)
    wrong literal type: 6:27: `summarize` wants `text` as string, and this is integer; map something of that type (at /steps/0/input_mapping/text)
    number as text: 6:47: `summarize` wants `words` as integer, and this is string; write numbers, true, false and null without `literal:` (at /steps/0/input_mapping/words)
    literal out of range: 6:47: `summarize` does not accept `words`: 0 is less than the minimum of 1; write a value that its schema allows (at /steps/0/input_mapping/words)
    not one of the values: 6:57: `translate` does not accept `target_language`: "de" is not one of "es" or "fr"; write a value that its schema allows (at /steps/0/input_mapping/target_language)
    through a reference: 6:27: `translate` does not accept `text`: "" is shorter than 1 character; write a value that its schema allows (at /steps/0/input_mapping/text)
    unknown property: 6:47: `summarize` takes no `wrods`; did you mean `words`? (at /steps/0/input_mapping/wrods)
    wrong source type: 6:27: `summarize` wants `text` as string, and this is integer; map something of that type (at /steps/0/input_mapping/text)
    the whole of it: 6:20: `summarize` wants its input as object, and this is string; map something of that type (at /steps/0/input_mapping)
    never there: 6:27: `$input` never has `txt`; did you mean `$input.text`? (at /steps/0/input_mapping/text)
    inside of text: 6:27: `$input.text` never has `length`; look at the schema of where it comes from (at /steps/0/input_mapping/text)
    no array: 6:15: the items of a fan-out are an array, and this is string; refer to an array (at /steps/0/for_each)
    items of another type: 5:16: `summarize` wants its input as object, and this is string; map something of that type (at /steps/0/tool_name)
    never there, and nobody asks: 6:27: `$input` never has `txt`; did you mean `$input.text`? (at /steps/0/input_mapping/text)
    whole input lacks it: 5:16: `translate` needs `target_language`, and what it is given never has that; map it: `input_mapping: {target_language: …}` (at /steps/0/tool_name)
    whole input is too much: 5:16: `summarize` takes no `count`, and what it is given always has that; map only what it takes (at /steps/0/tool_name)
    output: 3:13: `output_schema` wants `s` as string, and this is integer; map something of that type (at /output/s)
    "#);
}

#[test]
fn what_is_passed_on_by_default_is_looked_at() {
    let text = "\
name: a
steps:
  - {id: one, tool_name: translate, input_mapping: {text: $input.a, target_language: 'literal:es'}}
  - {id: two, tool_name: summarize}
  - parallel:
      - {id: left, tool_name: summarize, input_mapping: {text: $input.a}}
      - {id: right, tool_name: anything}
  - {id: three, tool_name: summarize}
output_schema: {type: array}
";
    insta::assert_snapshot!(faults(text), @"
    4:26: `summarize` wants its input as object, and this is string; map something of that type (at /steps/1/tool_name)
    8:28: `summarize` needs `text`, which is not mapped; map it, for example `text: $input.text` (at /steps/3/tool_name)
    8:28: `summarize` takes no `left`; take it out (at /steps/3/tool_name)
    8:28: `summarize` takes no `right`; take it out (at /steps/3/tool_name)
    9:16: `output_schema` wants the output as array, and this is object; map something of that type (at /output_schema)
    ");
}

#[test]
fn what_is_not_promised_is_a_warning() {
    let text = "\
name: a
steps:
  - {id: one, tool_name: summarize, input_mapping: {text: $input.a}}
  - {id: two, tool_name: anything, input_mapping: {x: $steps.one.sumary}}
  - {id: three, tool_name: summarize, input_mapping: {text: $input.a}}
  - {id: four, tool_name: translate}
";
    insta::assert_snapshot!(warnings(text), @"
    4:55: the schema of `$steps.one` does not speak of `sumary`; did you mean `$steps.one.summary`? (at /steps/1/input_mapping/x)
    6:27: `translate` needs `text`, and what it is given does not promise that; map it: `input_mapping: {text: …}` (at /steps/3/tool_name)
    6:27: `translate` needs `target_language`, and what it is given does not promise that; map it: `input_mapping: {target_language: …}` (at /steps/3/tool_name)
    ");
}

#[test]
fn a_step_that_may_be_skipped_promises_nothing_to_the_next() {
    clean(
        "name: a\nsteps:\n  - {id: one, tool_name: translate, when: $input.a, input_mapping: {text: $input.a, target_language: 'literal:es'}}\n  - {id: two, tool_name: summarize}\n",
    );
}

/// Schemas come from tenants: a few lines that refer to each other can stand for any number of comparisons.
#[test]
fn schemas_that_stand_for_very_much_are_compared_in_bounds() {
    let keys: Vec<String> = (0..200).map(|n| format!("k{n}")).collect();
    let properties: serde_json::Map<String, Value> =
        keys.iter().map(|key| (key.clone(), json!({"$ref": "#"}))).collect();
    let bushy = json!({"type": "object", "required": keys, "properties": properties});
    let many: Vec<Value> = vec![json!({"$ref": "#/$defs/a"}); 200];
    let tangled = json!({"$ref": "#/$defs/a", "$defs": {"a": {"anyOf": many}}});
    let large = json!({"$defs": {"a": {"enum": (0..10_000).collect::<Vec<_>>()}},
        "additionalProperties": {"anyOf": [{"$ref": "#/$defs/a"}, {"type": "string"}]}});
    let mut catalog = Catalog::default();
    for (function, schema) in [("bushy", &bushy), ("tangled", &tangled), ("large", &large)] {
        catalog.function(&name(function), Some(schema), Some(schema));
    }
    let literals: String = (0..2_000).map(|n| format!("x{n}: 1, ")).collect();
    let started = std::time::Instant::now();
    for (tool, mapping) in
        [("bushy", String::new()), ("tangled", String::new()), ("large", format!(", input_mapping: {{{literals}}}"))]
    {
        let text = format!("name: a\nsteps: [{{id: x, tool_name: {tool}}}, {{id: y, tool_name: {tool}{mapping}}}]");
        let _ = read(&text, &catalog);
    }
    assert!(started.elapsed() < std::time::Duration::from_secs(10), "{:?}", started.elapsed());
}

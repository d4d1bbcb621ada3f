//! Fields, names, order and nesting.

use super::*;
use crate::parse;

#[test]
fn the_documented_format_is_taken_as_it_is() {
    clean(
        r#"{"name":"summarize-and-translate","description":"Both","steps":[
        {"id":"step_1","tool_name":"summarize","function_id":"fn_abc","position":0,"input_mapping":{"text":"$input.text"}},
        {"id":"step_2","tool_name":"translate","function_id":"fn_def","position":1,
         "input_mapping":{"text":"$steps.step_1.summary","target_language":"literal:es"}}],
        "input_schema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}"#,
    );
}

#[test]
fn all_faults_are_reported_at_once_with_their_places() {
    let text = "\
name: Two Words
colour: red
steps:
  - id: one
    tool_name: sumarize
    input_maping: {}
    timeout: 30
    retry: {attempts: 0, backof: 1s}
  - id: one
    tool_name: translate
    when: $input.a && $input.b
    input_mapping:
      text: $steps.three.summary
      target_language: es
  - id: -x
    kind: robot
    for_each: {in: $input.list, concurrency: 99, on_failure: retry}
  - parallel: []
  - 7
output: {a: $steps.two, b: $item}
input_schema: {type: objekt}
";
    insta::assert_snapshot!(faults(text), @r#"
    1:7: `Two Words` cannot name a pipeline; use 1 to 63 of a-z, 0-9, `-` and `_`, begin with a letter or a digit, and avoid reserved words (at /name)
    2:1: the field `colour` is not known; take it out; there are `name`, `description`, `input_schema`, `output_schema`, `output`, `steps` (at /colour)
    5:16: there is no skill `sumarize`; did you mean `summarize`? (at /steps/0/tool_name)
    6:5: the field `input_maping` is not known; did you mean `input_mapping`? (at /steps/0/input_maping)
    7:14: this is a length of time up to 15m; write a whole number with a unit: `500ms`, `30s`, `5m` or `1h` (at /steps/0/timeout)
    8:23: this is a whole number from 1 to 10; write such a number, without quotes (at /steps/0/retry/attempts)
    8:26: the field `backof` is not known; did you mean `backoff`? (at /steps/0/retry/backof)
    9:9: a step `one` is there already; give each step its own id (at /steps/1/id)
    11:11: the condition cannot be read at character 10: `&&` is written `and` here; write, for example, `$input.count > 3 and exists $steps.a.b` (at /steps/1/when)
    13:13: there is no step `three`; refer to the id of an earlier step (at /steps/1/input_mapping/text)
    14:24: `es` is neither a reference nor a literal; write `literal:es` for the text itself, or a reference such as `$input.es` (at /steps/1/input_mapping/target_language)
    15:9: `-x` cannot be an id; a step id has 1 to 63 of A-Z, a-z, 0-9, `_` and `-`, and does not begin with `-` (at /steps/2/id)
    16:11: `robot` is no kind of step; use `function` or `pipeline` (at /steps/2/kind)
    17:46: this is a whole number from 1 to 16; write such a number, without quotes (at /steps/2/for_each/concurrency)
    17:62: this is one of `stop`, `continue`; write one of these words (at /steps/2/for_each/on_failure)
    18:5: the parallel group is empty; put steps into it, or take it out (at /steps/3)
    19:5: a step is an object, this is a number; write it as `key: value` pairs (at /steps/4)
    20:13: there is no step `two`; refer to the id of an earlier step (at /output/a)
    20:28: there is no item here; use it in the `input_mapping` of a step with `for_each` (at /output/b)
    21:15: this is no usable JSON Schema: "objekt" is not valid under any of the schemas listed in the 'anyOf' keyword (at `/type` of the schema); correct the schema (at /input_schema)
    "#);
}

#[test]
fn what_is_no_pipeline_at_all_is_refused() {
    for text in ["", "[]", "just text", "steps: 1", "{\"name\": \"a\"}", "name: a\nsteps: []", "name: a\nsteps: {}"] {
        assert!(checked(text).is_err(), "{text}");
    }
}

#[test]
fn references_lead_to_what_has_run_by_then() {
    let text = "\
name: a
steps:
  - id: first
    tool_name: anything
    input_mapping: {x: $steps.second, y: $steps.first, z: $item.a}
    when: exists $steps.second
  - parallel:
      - {id: left, tool_name: anything, input_mapping: $steps.right.a}
      - {id: right, tool_name: anything, input_mapping: $steps.first.a}
  - id: second
    tool_name: anything
    for_each: $steps.firs
    input_mapping: [$item, $index]
";
    insta::assert_snapshot!(faults(text), @"
    5:24: `second` runs later than this step; move that step up, or refer to an earlier one (at /steps/0/input_mapping/x)
    5:42: the step refers to its own answer; refer to an earlier step (at /steps/0/input_mapping/y)
    5:59: there is no item here; use it in the `input_mapping` of a step with `for_each` (at /steps/0/input_mapping/z)
    6:11: `second` runs later than this step; move that step up, or refer to an earlier one (at /steps/0/when)
    8:56: `right` runs side by side with this step; refer to a step before the group, or take one of the two out of it (at /steps/1/parallel/0/input_mapping)
    12:15: there is no step `firs`; did you mean `$steps.first`? (at /steps/2/for_each)
    ");
}

#[test]
fn steps_that_can_never_run_are_refused() {
    let text = "\
name: a
steps:
  - {id: one, tool_name: anything, when: false}
  - {id: two, tool_name: anything, when: '$input.a and 1 > 2'}
  - {id: three, tool_name: anything, for_each: []}
";
    insta::assert_snapshot!(faults(text), @"
    3:42: the step can never run: its condition is always false; change the condition, or take the step out (at /steps/0/when)
    4:42: the step can never run: its condition is always false; change the condition, or take the step out (at /steps/1/when)
    5:48: the step can never run: there are no items; refer to an array, or take the step out (at /steps/2/for_each)
    ");
}

#[test]
fn agents_have_their_place_and_are_refused() {
    let text = "\
name: a
steps:
  - id: run-code-review
    type: action
    nodeId: agent.invoke
    config:
      agentCardId: '{{ nodes.agent-ref.agentCardId }}'
      skillId: review
      args: {prUrl: '{{ $trigger.prUrl }}'}
  - {id: qa, kind: agent.dispatch, config: {workType: qa, requiredSkills: [typescript]}}
  - {id: no, tool_name: anything, input_mapping: {a: '{{ nodes.a }}'}}
";
    insta::assert_snapshot!(faults(text), @"
    5:13: steps of the kind `agent.invoke` are not supported yet; call a function or a pipeline (`tool_name`) (at /steps/0/nodeId)
    10:20: steps of the kind `agent.dispatch` are not supported yet; call a function or a pipeline (`tool_name`) (at /steps/1/kind)
    11:54: `{{ nodes.a }}` is a template, which this step does not take; use `$input.…` or `$steps.<id>.…`; templates come with steps that call agents (at /steps/2/input_mapping/a)
    ");
}

#[test]
fn positions_are_for_all_or_for_none() {
    let order = |text: &str| -> Vec<Vec<String>> {
        let definition = checked(text).unwrap().definition;
        definition.stages.iter().map(|stage| stage.steps.iter().map(|step| step.id.to_string()).collect()).collect()
    };
    let text = "\
name: a
steps:
  - {id: last, tool_name: anything, position: 9}
  - {id: left, tool_name: anything, position: 2}
  - {id: first, tool_name: anything, position: 0}
  - {id: right, tool_name: anything, position: 2}
";
    assert_eq!(order(text), [vec!["first"], vec!["left", "right"], vec!["last"]]);
    insta::assert_snapshot!(faults(&text.replace(", position: 0", "")), @"5:5: some steps have a `position`, this one has none; give it to all or to none (at /steps/2)");
}

fn pipeline(name: &str, calls: &str) -> Definition {
    parse(&format!("name: {name}\nsteps: [{{id: a, tool_name: '{calls}'}}]")).unwrap()
}

#[test]
fn pipelines_do_not_call_each_other_in_a_circle() {
    let others = [pipeline("b", "pipeline:c"), pipeline("c", "pipeline:a"), pipeline("d", "anything")];
    let text = "name: a\nsteps:\n  - {id: x, tool_name: 'pipeline:d'}\n  - {id: y, tool_name: 'pipeline:b'}\n  - {id: z, kind: pipeline, tool_name: a}\n";
    insta::assert_snapshot!(checked_with(text, &others).unwrap_err(), @"
    4:24: the pipelines call each other in a circle: `a` → `b` → `c` → `a`; let one of them call functions only (at /steps/1/tool_name)
    5:40: the pipelines call each other in a circle: `a` → `a`; let one of them call functions only (at /steps/2/tool_name)
    ");
}

#[test]
fn pipelines_nest_eight_deep_counted_from_above_too() {
    let mut chain = vec![pipeline("p7", "anything")];
    chain.extend((1..7).map(|n| pipeline(&format!("p{n}"), &format!("pipeline:p{}", n + 1))));
    let text = |callee: &str| format!("name: top\nsteps: [{{id: a, tool_name: 'pipeline:{callee}'}}]");
    assert!(checked_with(&text("p1"), &chain).is_ok(), "eight");
    chain.push(pipeline("p0", "pipeline:p1"));
    insta::assert_snapshot!(checked_with(&text("p0"), &chain).unwrap_err(), @"2:28: pipelines within pipelines are 9 deep; the most is 8; let it call the inner steps itself (at /steps/0/tool_name)");
    chain.push(pipeline("caller", "pipeline:top"));
    insta::assert_snapshot!(checked_with(&text("p1"), &chain).unwrap_err(), @"2:28: pipelines within pipelines are 9 deep, counted with the pipelines that call this one; the most is 8; let it call the inner steps itself (at /steps/0/tool_name)");
}

#[test]
fn too_much_of_anything_is_refused() {
    let steps =
        |count: usize| (0..count).map(|n| format!("{{id: s{n}, tool_name: anything}}")).collect::<Vec<_>>().join(", ");
    assert!(checked(&format!("name: a\nsteps: [{}]", steps(100))).is_ok());
    assert!(faults(&format!("name: a\nsteps: [{}]", steps(101))).contains("101 steps"));
    assert!(checked(&format!("name: a\nsteps: [{{parallel: [{}]}}]", steps(16))).is_ok());
    assert!(faults(&format!("name: a\nsteps: [{{parallel: [{}]}}]", steps(17))).contains("side by side"));
    let many = (0..300).map(|n| format!("x{n}: 1\n")).collect::<String>();
    assert!(faults(&format!("name: a\nsteps: []\n{many}")).ends_with("and 201 more"));
}

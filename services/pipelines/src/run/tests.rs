//! Runs driven by hand.

mod property;
mod resume;

use pleat_domain::Reason;
use pleat_domain::json::raw;
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;
use crate::parse;

const NOW: OffsetDateTime = datetime!(2026-11-16 12:00 UTC);

fn plan(steps: &str) -> Arc<Plan> {
    Arc::new(parse(&format!("name: p\n{steps}")).unwrap_or_else(|faults| panic!("{faults}")).into())
}

fn run(steps: &str, input: &Value) -> Run {
    Run::new(plan(steps), raw(input))
}

fn failure(reason: Reason, retryable: bool) -> Failure {
    Failure { retryable, ..Failure::new(reason, "no") }
}

/// What starts now, as `step[item]#attempt <- input`.
fn starts(run: &mut Run) -> Vec<String> {
    run.take_ready().iter().map(shown).collect()
}

fn shown(start: &StepStart) -> String {
    let Attempt { step, item, number } = &start.attempt;
    let item = item.map(|item| format!("[{item}]")).unwrap_or_default();
    let wait = start.not_before.map(|at| format!(" after {}", at - NOW)).unwrap_or_default();
    format!("{step}{item}#{number} <- {}{wait}", start.input)
}

fn attempt(label: &str) -> Attempt {
    let attempt: Attempt = label.parse().unwrap();
    assert_eq!(attempt.label(), label);
    attempt
}

fn ok(run: &mut Run, which: &str, output: &Value) {
    run.finish(&attempt(which), Ok(raw(output)), NOW).unwrap();
}

fn fails(run: &mut Run, which: &str, failure: Failure) {
    run.finish(&attempt(which), Err(failure), NOW).unwrap();
}

fn output(run: &Run) -> Value {
    match run.end() {
        Some(End::Output(output)) => serde_json::from_str(output.get()).unwrap(),
        other => panic!("{other:?}"),
    }
}

fn failed(run: &Run) -> String {
    match run.end() {
        Some(End::Failed(RunFailure { step, item, failure })) => {
            let code = failure.code.as_deref().unwrap_or(failure.reason.as_str());
            format!("{} {item:?} {code}", step.as_ref().map_or("-", |step| step.as_str()))
        }
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_label_is_one_attempt() {
    for bad in ["", "a", "a#", "#1", "a[#1", "a[0#1", "a[x]#1", "a#-1", "a b#1", "a[0]"] {
        assert!(bad.parse::<Attempt>().is_err(), "{bad}");
    }
}

#[test]
fn the_whole_answer_goes_from_step_to_step() {
    let mut run = run("steps: [{id: a, tool_name: f}, {id: b, tool_name: g}]", &json!({"x": 1}));
    assert_eq!(starts(&mut run), [r#"a#1 <- {"x":1}"#]);
    assert!(starts(&mut run).is_empty(), "each is handed out once");
    ok(&mut run, "a#1", &json!("one"));
    assert_eq!(starts(&mut run), [r#"b#1 <- "one""#]);
    ok(&mut run, "b#1", &json!([2]));
    assert_eq!(output(&run), json!([2]));
    assert!(starts(&mut run).is_empty());
}

#[test]
fn groups_run_side_by_side_and_pass_on_all_their_answers() {
    let mut run = run(
        "steps: [{parallel: [{id: a, tool_name: f}, {id: b, tool_name: g, when: $input.b}]}, {id: c, tool_name: h}]\noutput: {a: $steps.a.n, b: $steps.b, c: $steps.c}",
        &json!({"b": true}),
    );
    assert_eq!(starts(&mut run), [r#"a#1 <- {"b":true}"#, r#"b#1 <- {"b":true}"#]);
    ok(&mut run, "b#1", &json!(2));
    assert!(starts(&mut run).is_empty());
    ok(&mut run, "a#1", &json!({"n": 1}));
    assert_eq!(starts(&mut run), [r#"c#1 <- {"a":{"n":1},"b":2}"#]);
    ok(&mut run, "c#1", &json!(3));
    assert_eq!(output(&run), json!({"a": 1, "b": 2, "c": 3}));
}

#[test]
fn skipped_steps_are_recorded_and_passed_by() {
    let mut run = run(
        "steps: [{id: a, tool_name: f}, {id: b, tool_name: g, when: $steps.a.go}, {parallel: [{id: c, tool_name: g, when: exists $steps.b}]}, {id: d, tool_name: h}]",
        &json!(0),
    );
    starts(&mut run);
    ok(&mut run, "a#1", &json!({"go": false}));
    let journal: Vec<String> = run.take_journal().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    assert_eq!(
        journal,
        [
            r#"{"step":"a","attempt":1,"event":{"finished":{"go":false}}}"#,
            r#"{"step":"b","attempt":0,"event":"skipped"}"#,
            r#"{"step":"c","attempt":0,"event":"skipped"}"#,
        ]
    );
    assert_eq!(starts(&mut run), [r#"d#1 <- {"go":false}"#]);
}

#[test]
fn items_run_bounded_and_answer_in_order() {
    let mut run = run(
        "steps: [{id: a, tool_name: f, for_each: {in: $input, concurrency: 2}, input_mapping: {v: $item.v, i: $index}}]",
        &json!([{"v": 1}, {"v": 2}, {"v": 3}]),
    );
    assert_eq!(starts(&mut run), [r#"a[0]#1 <- {"v":1,"i":0}"#, r#"a[1]#1 <- {"v":2,"i":1}"#]);
    assert!(starts(&mut run).is_empty());
    ok(&mut run, "a[1]#1", &json!("second"));
    assert_eq!(starts(&mut run), [r#"a[2]#1 <- {"v":3,"i":2}"#]);
    ok(&mut run, "a[2]#1", &json!("third"));
    ok(&mut run, "a[0]#1", &json!("first"));
    assert_eq!(output(&run), json!(["first", "second", "third"]));
}

#[test]
fn no_items_are_no_calls() {
    let run = run("steps: [{id: a, tool_name: f, for_each: $input}]", &json!([]));
    assert_eq!(output(&run), json!([]));
}

#[test]
fn items_that_are_no_array_or_too_many_fail_the_step() {
    assert_eq!(failed(&run("steps: [{id: a, tool_name: f, for_each: $input.x}]", &json!({}))), "a None not_an_array");
    let many = run("steps: [{id: a, tool_name: f, for_each: {in: $input, max_items: 2}}]", &json!([1, 2, 3]));
    assert_eq!(failed(&many), "a None too_many_items");
}

#[test]
fn the_failure_of_an_item_stops_the_run_or_leaves_a_gap() {
    let text = "steps: [{id: a, tool_name: f, for_each: {in: $input, on_failure: stop}}]";
    let mut stopping = run(text, &json!([1, 2]));
    starts(&mut stopping);
    fails(&mut stopping, "a[1]#1", failure(Reason::Trap, false));
    assert_eq!(failed(&stopping), "a Some(1) trap");
    assert_eq!(stopping.running(), [attempt("a[0]#1")], "is the driver's to stop");
    ok(&mut stopping, "a[0]#1", &json!(1));
    assert_eq!(failed(&stopping), "a Some(1) trap", "what comes late changes nothing");
    assert_eq!(stopping.take_journal().len(), 2, "and is journaled");

    let mut going = run(&text.replace("stop", "continue"), &json!([1, 2]));
    starts(&mut going);
    fails(&mut going, "a[1]#1", failure(Reason::Trap, false));
    ok(&mut going, "a[0]#1", &json!("x"));
    assert_eq!(output(&going), json!(["x", null]));
}

#[test]
fn retries_wait_longer_each_time_and_are_counted() {
    let mut run = run(
        "steps: [{id: a, tool_name: f, retry: {attempts: 4, backoff: 10s, factor: 3, max_backoff: 40s}}]",
        &json!(1),
    );
    let mut seen = Vec::new();
    for number in 1..=4 {
        seen.extend(starts(&mut run));
        fails(&mut run, &format!("a#{number}"), failure(Reason::WallLimit, false));
    }
    assert_eq!(seen, ["a#1 <- 1", "a#2 <- 1 after 10s", "a#3 <- 1 after 30s", "a#4 <- 1 after 40s"]);
    assert_eq!(failed(&run), "a None wall_limit");
}

#[test]
fn only_what_may_pass_is_retried_unless_all_is() {
    for (on, reason, retryable, again) in [
        ("retryable", Reason::FunctionError, false, false),
        ("retryable", Reason::FunctionError, true, true),
        ("retryable", Reason::Busy, false, true),
        ("retryable", Reason::Blocked, false, false),
        ("any", Reason::Trap, false, true),
    ] {
        let mut run = run(&format!("steps: [{{id: a, tool_name: f, retry: {{attempts: 2, on: {on}}}}}]"), &json!(1));
        starts(&mut run);
        fails(&mut run, "a#1", failure(reason, retryable));
        assert_eq!(run.end().is_none(), again, "{on} {reason:?} {retryable}");
    }
}

#[test]
fn a_call_that_was_lost_is_tried_again_without_retries_but_not_for_ever() {
    let mut run = run("steps: [{id: a, tool_name: f}]", &json!(1));
    for number in 1..=2 {
        assert_eq!(starts(&mut run), [format!("a#{number} <- 1")]);
        fails(&mut run, &format!("a#{number}"), failure(Reason::NodeLost, true));
    }
    starts(&mut run);
    fails(&mut run, "a#3", failure(Reason::NodeLost, true));
    assert_eq!(failed(&run), "a None node_lost");
}

#[test]
fn cancel_names_what_still_runs() {
    let mut run = run("steps: [{parallel: [{id: a, tool_name: f}, {id: b, tool_name: f}]}]", &json!(1));
    starts(&mut run);
    ok(&mut run, "b#1", &json!(1));
    assert_eq!(run.cancel(), [attempt("a#1")]);
    assert!(matches!(run.end(), Some(End::Canceled)));
    assert!(starts(&mut run).is_empty());
}

#[test]
fn what_does_not_run_cannot_finish() {
    let mut run = run("steps: [{id: a, tool_name: f}, {id: b, tool_name: f, for_each: $input}]", &json!([1]));
    for which in ["a#1", "b#1"] {
        assert!(run.finish(&attempt(which), Ok(raw(&1)), NOW).is_err(), "{which} was not handed out");
    }
    starts(&mut run);
    for which in ["a#2", "a[0]#1", "b[0]#1", "c#1"] {
        assert!(run.finish(&attempt(which), Ok(raw(&1)), NOW).is_err(), "{which}");
    }
    ok(&mut run, "a#1", &json!([1]));
    assert!(run.finish(&attempt("a#1"), Ok(raw(&1)), NOW).is_err(), "twice");
}

#[test]
fn inputs_and_outputs_have_a_most() {
    let large = json!("x".repeat(crate::limits::MAPPED / 2));
    let twice = run("steps: [{id: a, tool_name: f, when: exists $input.x}]\noutput: [$input, $input]", &large);
    assert_eq!(failed(&twice), "- None too_large");
    let mut step = run("steps: [{id: a, tool_name: f, input_mapping: [$input, $input]}]", &large);
    assert!(starts(&mut step).is_empty());
    assert_eq!(failed(&step), "a None too_large");
    let mut beside = run(
        "steps: [{parallel: [{id: a, tool_name: f}, {id: b, tool_name: f, input_mapping: [$input, $input]}]}]",
        &large,
    );
    assert!(starts(&mut beside).is_empty());
    assert_eq!(failed(&beside), "b None too_large");
    assert!(beside.running().is_empty(), "nothing was handed out");
    let mut items = run("steps: [{id: a, tool_name: f, for_each: [1, 2, 3]}]", &json!(1));
    starts(&mut items);
    for item in 0..3 {
        ok(&mut items, &format!("a[{item}]#1"), &large);
    }
    assert_eq!(failed(&items), "a None too_large");
}

#[test]
fn progress_counts_the_steps_that_are_over_or_skipped() {
    let mut run = run(
        "steps: [{id: a, tool_name: f, for_each: $input}, {id: b, tool_name: f, when: $input == 1}, {id: c, tool_name: f}]",
        &json!([1, 2]),
    );
    starts(&mut run);
    ok(&mut run, "a[0]#1", &json!(1));
    assert_eq!(run.progress(), (0, 3));
    ok(&mut run, "a[1]#1", &json!(1));
    assert_eq!(run.progress(), (2, 3));
}

#[test]
fn the_last_step_streams_where_its_answer_is_the_runs() {
    let is_final = |text: &str, id: &str| plan(text).is_final(&StepId::parse(id).unwrap());
    let two = "steps: [{id: a, tool_name: f}, {id: b, tool_name: f}]";
    assert!(is_final(two, "b") && !is_final(two, "a"));
    assert!(is_final(&format!("{two}\noutput: $steps.b"), "b"));
    assert!(is_final(&two.replace("id: b,", "id: b, when: $input.x,"), "b"), "where it is not skipped");
    for text in [
        format!("{two}\noutput: {{x: $steps.b}}"),
        two.replace("id: b,", "id: b, for_each: $input,"),
        "steps: [{parallel: [{id: b, tool_name: f}]}]".into(),
    ] {
        assert!(!is_final(&text, "b"), "{text}");
    }
}

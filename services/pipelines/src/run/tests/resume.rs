//! From a journal: behind what is in it, and again from a chosen step.

use super::*;

const STEPS: &str = "steps: [{id: a, tool_name: f}, {parallel: [{id: b, tool_name: f}, {id: c, tool_name: f}]}, {id: d, tool_name: f, for_each: [1, 2]}]\noutput: [$steps.a, $steps.b, $steps.c, $steps.d]";

/// All entries of a run that went well: each answers its own name.
fn finished() -> Vec<Entry> {
    let mut run = run(STEPS, &json!(0));
    let mut journal = Vec::new();
    while run.end().is_none() {
        let starts = run.take_ready();
        assert!(!starts.is_empty(), "the run stands still");
        for start in starts {
            let answer = raw(&start.attempt.step);
            run.finish(&start.attempt, Ok(answer), NOW).unwrap();
        }
        journal.extend(run.take_journal());
    }
    journal
}

fn entry(text: &str, event: Event) -> Entry {
    Entry { attempt: attempt(text), event }
}

fn resumed(steps: &str, journal: Vec<Entry>) -> Run {
    Run::resume(plan(steps), raw(&json!([5, 6])), journal).unwrap()
}

#[test]
fn a_run_goes_on_behind_what_has_finished() {
    let journal: Vec<Entry> =
        finished().into_iter().filter(|entry| matches!(entry.attempt.step.as_str(), "a" | "c")).collect();
    let mut run = resumed(STEPS, journal);
    assert_eq!(starts(&mut run), [r#"b#1 <- "a""#]);
    ok(&mut run, "b#1", &json!("b"));
    assert_eq!(starts(&mut run), ["d[0]#1 <- 1", "d[1]#1 <- 2"]);
}

#[test]
fn the_journal_survives_being_written_down() {
    let text: Vec<String> = finished().iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
    let back: Vec<Entry> = text.iter().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(output(&resumed(STEPS, back)), json!(["a", "b", "c", ["d", "d"]]));
    let failed = entry("a#1", Event::Failed { failure: failure(Reason::Busy, true), at: NOW });
    let text = serde_json::to_string(&failed).unwrap();
    insta::assert_snapshot!(text, @r#"{"step":"a","attempt":1,"event":{"failed":{"failure":{"reason":"busy","message":"no","retryable":true},"at":"2026-11-16T12:00:00.000Z"}}}"#);
    assert_eq!(serde_json::to_string(&serde_json::from_str::<Entry>(&text).unwrap()).unwrap(), text);
}

#[test]
fn order_and_repetition_of_entries_do_not_matter() {
    let mut journal = finished();
    journal.reverse();
    journal.extend(finished());
    assert_eq!(output(&resumed(STEPS, journal)), json!(["a", "b", "c", ["d", "d"]]));
}

#[test]
fn retries_and_their_waits_are_remembered() {
    let steps = "steps: [{id: a, tool_name: f, retry: {attempts: 3, backoff: 10s}}]";
    let busy = |which| entry(which, Event::Failed { failure: failure(Reason::Busy, true), at: NOW });
    let mut run = resumed(steps, vec![busy("a#2"), busy("a#1")]);
    assert_eq!(starts(&mut run), ["a#3 <- [5,6] after 20s"]);
    fails(&mut run, "a#3", failure(Reason::Busy, true));
    assert_eq!(failed(&run), "a None busy");
    assert_eq!(failed(&resumed(steps, vec![busy("a#1"), busy("a#2"), busy("a#3")])), "a None busy");
}

#[test]
fn what_was_skipped_stays_skipped() {
    let steps = "steps: [{id: a, tool_name: f, when: true}, {id: b, tool_name: f}]";
    let mut run = resumed(steps, vec![entry("a#0", Event::Skipped)]);
    assert_eq!(starts(&mut run), ["b#1 <- [5,6]"]);
    assert!(run.take_journal().is_empty());
}

#[test]
fn a_journal_of_another_plan_is_refused() {
    let done = || Event::Finished(raw(&1));
    for bad in [entry("x#1", done()), entry("a[0]#1", done()), entry("d#1", done()), entry("d[100]#1", done())] {
        let refused = Run::resume(plan(STEPS), raw(&1), [bad]);
        assert!(refused.is_err());
    }
}

#[test]
fn a_replay_takes_over_what_came_before_and_beside() {
    let id = |text: &str| StepId::parse(text).unwrap();
    let replay = |from: &str| Run::replay(plan(STEPS), raw(&0), finished(), &id(from));
    let mut run = replay("b").unwrap();
    let kept: Vec<String> = run.take_journal().iter().map(|entry| entry.attempt.step.to_string()).collect();
    assert_eq!(kept, ["a", "c"], "is the beginning of the new journal");
    assert_eq!(starts(&mut run), [r#"b#1 <- "a""#]);
    assert_eq!(starts(&mut replay("a").unwrap()), ["a#1 <- 0"]);
    assert_eq!(starts(&mut replay("d").unwrap()), ["d[0]#1 <- 1", "d[1]#1 <- 2"]);
    assert_eq!(replay("x").err(), Some(CannotReplay::NoStep(id("x"))));
    let early = Run::replay(plan(STEPS), raw(&0), Vec::new(), &id("b"));
    assert_eq!(early.err(), Some(CannotReplay::NotReached(id("b"))));
}

#[test]
fn a_failed_run_is_replayed_from_where_it_failed() {
    let steps =
        "steps: [{id: a, tool_name: f}, {parallel: [{id: b, tool_name: f}, {id: c, tool_name: f, for_each: [1, 2]}]}]";
    let trap = || Event::Failed { failure: failure(Reason::Trap, false), at: NOW };
    let done = || Event::Finished(raw(&1));
    let journal = vec![entry("a#1", done()), entry("b#1", trap()), entry("c[0]#1", done()), entry("c[1]#1", trap())];
    let mut run = Run::replay(plan(steps), raw(&0), journal, &StepId::parse("b").unwrap()).unwrap();
    assert_eq!(starts(&mut run), ["b#1 <- 1", "c[1]#1 <- 2"], "what failed beside it is tried again too");
}

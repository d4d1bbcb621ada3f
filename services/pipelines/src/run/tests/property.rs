//! Random pipelines, stopped at random moments and resumed: the output is the same as without, and nothing that has
//! finished is called again.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use super::*;

/// SplitMix64: small, and a seed says everything.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    fn below(&mut self, bound: usize) -> usize {
        usize::try_from(self.next() % u64::try_from(bound).unwrap()).unwrap()
    }

    fn one_in(&mut self, chance: usize) -> bool {
        self.below(chance) == 0
    }
}

/// Answers of one run, far above what any needs: a broken machine is a failure of the test and not a test without end.
const ROUNDS: usize = 5_000;

/// A run that has not ended has something to do.
fn some(starts: Vec<StepStart>) -> Vec<StepStart> {
    assert!(!starts.is_empty(), "the run stands still");
    starts
}

fn random_plan(random: &mut Random) -> String {
    let mut text = "steps:\n".to_owned();
    let mut known: Vec<(String, bool)> = Vec::new();
    for stage in 0..=random.below(5) {
        let group = random.one_in(3);
        let width = if group { 1 + random.below(3) } else { 1 };
        if group {
            text.push_str("  - parallel:\n");
        }
        let mut fresh = Vec::new();
        for member in 0..width {
            let id = format!("s{stage}_{member}");
            let indent = if group { "    " } else { "" };
            let fields = random_fields(random, &known);
            writeln!(text, "  {indent}- {{id: {id}, tool_name: f{fields}}}").unwrap();
            fresh.push((id, fields.contains("for_each")));
        }
        known.extend(fresh);
    }
    if random.one_in(2) {
        let all: Vec<String> = known.iter().map(|(id, _)| format!("{id}: $steps.{id}")).collect();
        writeln!(text, "output: {{{}}}", all.join(", ")).unwrap();
    }
    text
}

fn random_fields(random: &mut Random, known: &[(String, bool)]) -> String {
    let mut fields = String::new();
    let (source, item) = match known.len() {
        0 => ("$input".to_owned(), ""),
        count => {
            let (id, fans) = &known[random.below(count)];
            (format!("$steps.{id}"), if *fans { "[0]" } else { "" })
        }
    };
    let fans = random.one_in(3);
    if fans {
        let on = if random.one_in(2) { "stop" } else { "continue" };
        write!(fields, ", for_each: {{in: $input.list, concurrency: {}, on_failure: {on}}}", 1 + random.below(3))
            .unwrap();
    }
    match random.below(4) {
        0 => write!(fields, ", when: 'exists {source}{item}.flag'").unwrap(),
        1 => write!(fields, ", when: '$input.n > {}'", random.below(10)).unwrap(),
        _ => {}
    }
    if random.one_in(2) {
        let item = if fans { ", item: $item, index: $index" } else { "" };
        write!(fields, ", input_mapping: {{from: {source}{item}}}").unwrap();
    }
    if random.one_in(2) {
        write!(fields, ", retry: {}", 1 + random.below(3)).unwrap();
    }
    fields
}

/// What a call answers follows from which it is and what it is given, so that two runs can be compared.
fn answer(start: &StepStart, seed: u64) -> Result<Raw, Box<Failure>> {
    let Attempt { step, item, number } = &start.attempt;
    let text = format!("{seed} {step} {item:?} {number} {}", start.input);
    let hash = text.bytes().fold(seed, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3));
    match hash % 11 {
        0 => Err(Box::new(failure(Reason::Trap, false))),
        1..3 => Err(Box::new(failure(Reason::Busy, true))),
        3 => Ok(raw(&json!({"flag": hash}))),
        _ => Ok(raw(&json!({"value": hash % 1000}))),
    }
}

/// The end of a run as something to compare. Which of two that fail side by side is first is a matter of time.
fn ending(run: &Run) -> String {
    match run.end().unwrap() {
        End::Output(output) => output.to_string(),
        End::Failed(_) => "failed".into(),
        End::Canceled => "canceled".into(),
    }
}

/// Drives a run to its end, losing everything but the journal with this chance after each answer.
fn drive(plan: &Arc<Plan>, input: &Raw, seed: u64, crash: Option<usize>) -> String {
    let mut random = Random(seed ^ 0xabcd);
    let mut journal: Vec<Entry> = Vec::new();
    let mut run = Run::new(Arc::clone(plan), input.clone());
    let mut running: Vec<StepStart> = Vec::new();
    let mut finished: BTreeSet<Attempt> = BTreeSet::new();
    let mut most: BTreeMap<String, usize> = BTreeMap::new();
    for _ in 0..ROUNDS {
        journal.extend(run.take_journal());
        if run.end().is_some() {
            return ending(&run);
        }
        for start in run.take_ready() {
            assert!(!finished.contains(&start.attempt), "{} ended before", start.attempt);
            let done = |other: &Attempt| other.step == start.attempt.step && other.item == start.attempt.item;
            let answered =
                journal.iter().any(|entry| done(&entry.attempt) && matches!(entry.event, Event::Finished(_)));
            assert!(!answered, "{} has an answer", start.attempt);
            running.push(start);
        }
        let mut now: BTreeMap<String, usize> = BTreeMap::new();
        running.iter().for_each(|start| *now.entry(start.attempt.step.to_string()).or_default() += 1);
        now.into_iter().for_each(|(step, count)| {
            let entry = most.entry(step).or_default();
            *entry = count.max(*entry);
        });
        assert!(!running.is_empty(), "the run stands still");
        let start = running.swap_remove(random.below(running.len()));
        run.finish(&start.attempt, answer(&start, seed).map_err(|failure| *failure), NOW).unwrap();
        // A crash before the journal was stored loses the answer; one after it does not.
        if crash.is_some_and(|chance| random.one_in(chance)) {
            if random.one_in(2) {
                journal.extend(run.take_journal());
                finished.insert(start.attempt);
            }
            running.clear();
            let text: Vec<String> = journal.iter().map(|entry| serde_json::to_string(entry).unwrap()).collect();
            let stored = text.iter().map(|line| serde_json::from_str(line).unwrap());
            run = Run::resume(Arc::clone(plan), input.clone(), stored).unwrap();
        } else {
            finished.insert(start.attempt);
        }
        for (step, count) in &most {
            let step = plan.step(&StepId::parse(step).unwrap()).unwrap();
            let bound = step.for_each.as_ref().map_or(1, |fan| fan.concurrency);
            assert!(*count <= usize::try_from(bound).unwrap(), "step `{}` ran {count} at once", step.id);
        }
    }
    panic!("the run does not come to its end");
}

#[test]
fn a_run_that_is_stopped_anywhere_ends_as_one_that_is_not() {
    let (mut outputs, mut failures) = (0, 0);
    for seed in 0..600 {
        let mut random = Random(seed);
        let text = random_plan(&mut random);
        let plan = plan(&text);
        let list: Vec<usize> = (0..random.below(6)).collect();
        let input = raw(&json!({"n": random.below(10), "list": list, "flag": 1}));
        let expected = drive(&plan, &input, seed, None);
        for chance in [1, 2, 5] {
            // A run in which every answer may be lost still comes to its end: it is lost at most every other time.
            assert_eq!(drive(&plan, &input, seed, Some(chance)), expected, "seed {seed}, one in {chance}\n{text}");
        }
        if expected == "failed" { failures += 1 } else { outputs += 1 }
    }
    assert!(outputs > 100 && failures > 100, "{outputs} outputs, {failures} failures: both kinds are tried");
}

/// Each moment of one run, one after the other.
#[test]
fn every_prefix_of_a_journal_leads_to_the_same_end() {
    for seed in 0..200 {
        let mut random = Random(seed);
        let plan = plan(&random_plan(&mut random));
        let input = raw(&json!({"n": 5, "list": [1, 2, 3], "flag": 1}));
        let mut run = Run::new(Arc::clone(&plan), input.clone());
        let mut journal = Vec::new();
        while run.end().is_none() {
            for start in some(run.take_ready()) {
                run.finish(&start.attempt, answer(&start, seed).map_err(|failure| *failure), NOW).unwrap();
            }
            journal.extend(run.take_journal());
        }
        for cut in 0..=journal.len() {
            let mut again = Run::resume(Arc::clone(&plan), input.clone(), journal[..cut].iter().cloned()).unwrap();
            while again.end().is_none() {
                for start in some(again.take_ready()) {
                    assert!(
                        journal[..cut].iter().all(|entry| entry.attempt != start.attempt),
                        "seed {seed}, cut {cut}"
                    );
                    again.finish(&start.attempt, answer(&start, seed).map_err(|failure| *failure), NOW).unwrap();
                }
            }
            assert_eq!(ending(&again), ending(&run), "seed {seed}, cut {cut}");
        }
    }
}

//! `pleat guard test`: a policy against a text or a labelled corpus, without a server.

use std::io::Read;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use anyhow::Result;
use clap::{Args, ValueEnum};
use pleat_guardrails::corpus::{self, Counts, Sample, Score};
use pleat_guardrails::{Guard, Session, Side};
use serde_json::{Value, json};

use super::sound;
use crate::commands::Context;
use crate::output::Table;
use crate::problem::Problem;

const EXAMPLES: &str = "\
Examples:
  pleat guard test -f policy.json --text 'write to jane@example.com'
  pleat guard test -f policy.json --file message.json
  echo 'my card is 4111 1111 1111 1111' | pleat guard test -f policy.json
  pleat guard test -f policy.json --corpus labelled.jsonl

A text that is a JSON object or list is looked at as such, with keys and numbers.
A line of a corpus: {\"text\": \"…\", \"spans\": [{\"start\": 9, \"end\": 25, \"type\": \"email\"}], \"label\": 0}
(places in characters; a label of 1 is an injection, of 0 none).";

/// Try a policy on a text or a labelled corpus; needs no server
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct TestArgs {
    /// The policy, as JSON
    #[arg(short = 'f', long = "policy", value_name = "POLICY")]
    policy: PathBuf,
    /// Look at this text
    #[arg(long, value_name = "TEXT", conflicts_with_all = ["file", "corpus"])]
    text: Option<String>,
    /// Look at what is in this file
    #[arg(long, value_name = "FILE", conflicts_with = "corpus")]
    file: Option<PathBuf>,
    /// Measure the policy on labelled texts
    #[arg(long, value_name = "FILE")]
    corpus: Option<PathBuf>,
    /// Which side of a call it is taken for; without it every check looks, whatever its target
    #[arg(long, value_name = "SIDE")]
    side: Option<SideName>,
}

#[derive(Clone, Copy, ValueEnum)]
enum SideName {
    Input,
    Output,
}

pub fn run(args: &TestArgs, context: &Context<'_>) -> Result<()> {
    let (_, policy) = sound(&args.policy)?;
    let (guard, side) = match args.side {
        Some(SideName::Input) => (Guard::new(&policy), Side::Input),
        Some(SideName::Output) => (Guard::new(&policy), Side::Output),
        None => (Guard::new(&policy.for_both_sides()), Side::Input),
    };
    match &args.corpus {
        Some(path) => {
            let samples = corpus::read(&read(path)?).map_err(|bad| {
                Problem::failed(format!("{}: {bad}", path.display()), "`pleat guard test --help` shows a line")
            })?;
            measured(&guard, side, &samples, context)
        }
        None => looked(&guard, side, &text(args)?, context),
    }
}

fn text(args: &TestArgs) -> Result<String> {
    match (&args.text, &args.file) {
        (Some(text), _) => Ok(text.clone()),
        (None, Some(path)) => read(path),
        (None, None) => {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text)?;
            Ok(text.strip_suffix('\n').map(str::to_owned).unwrap_or(text))
        }
    }
}

fn read(path: &std::path::Path) -> Result<String> {
    Ok(std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })?)
}

fn looked(guard: &Guard, side: Side, text: &str, context: &Context<'_>) -> Result<()> {
    let structured = serde_json::from_str::<Value>(text).ok().filter(|value| value.is_object() || value.is_array());
    let is_text = structured.is_none();
    let mut value = structured.unwrap_or_else(|| Value::String(text.to_owned()));
    let started = Instant::now();
    let verdict = guard.inspect(side, &mut value, &mut Session::new(b"pleat guard test"));
    let took = started.elapsed();
    let character = |byte: usize| text.get(..byte).map_or(0, |before| before.chars().count());
    let places = if is_text { guard.places(side, text) } else { Vec::new() };
    if context.output.json() {
        let places: Vec<Value> = places
            .iter()
            .map(|place| {
                let (start, end) = (character(place.start), character(place.end));
                json!({ "check": place.check, "rule": place.rule, "action": place.action, "start": start, "end": end })
            })
            .collect();
        return Ok(context.output.document(&json!({
            "action": verdict.action,
            "blockedBy": verdict.blocked_by(),
            "findings": verdict.findings,
            "places": places,
            "result": if verdict.is_blocked() { Value::Null } else { value },
        }))?);
    }
    let mut table = Table::new(&["RULE", "ACTION", "SEVERITY", "WHERE", "BECOMES"]);
    for finding in &verdict.findings {
        let place = if finding.pointer.is_empty() { "(the text)".to_owned() } else { finding.pointer.clone() };
        let becomes = finding.placeholder.clone().unwrap_or_default();
        let (action, severity) = (finding.action.as_str().to_owned(), finding.severity.as_str().to_owned());
        table.row([finding.rule.clone(), action, severity, place, becomes]);
    }
    if !verdict.findings.is_empty() {
        context.output.line(&table.render())?;
    }
    match (verdict.blocked_by(), verdict.findings.is_empty()) {
        (Some(check), _) => context.output.note(&format!("blocked by `{check}` ({})", time(took))),
        (None, true) => context.output.note(&format!("nothing was found ({})", time(took))),
        (None, false) => {
            context.output.note(&format!("passes on as follows ({})", time(took)));
            context.output.line(value.as_str().map_or_else(|| value.to_string(), str::to_owned).as_str())?;
        }
    }
    Ok(())
}

fn measured(guard: &Guard, side: Side, samples: &[Sample], context: &Context<'_>) -> Result<()> {
    let started = Instant::now();
    let score = corpus::score(guard, side, samples);
    let each = started.elapsed() / u32::try_from(samples.len().max(1)).unwrap_or(u32::MAX);
    if context.output.json() {
        let types: serde_json::Map<String, Value> =
            score.types.iter().map(|(name, counts)| (name.clone(), shown(counts))).collect();
        return Ok(context.output.document(&json!({
            "documents": samples.len(),
            "types": types,
            "together": shown(&score.together),
            "labels": labels(&score),
            "microsecondsPerDocument": each.as_secs_f64() * 1e6,
        }))?);
    }
    let mut table = Table::new(&["TYPE", "PRECISION", "RECALL", "F1", "RIGHT", "WRONG", "MISSED"]);
    let together = [("together".to_owned(), score.together)];
    for (name, counts) in score.types.iter().map(|(name, counts)| (name.clone(), *counts)).chain(together) {
        let [precision, recall, f1] =
            [counts.precision(), counts.recall(), counts.f1()].map(|part| format!("{part:.3}"));
        let [right, wrong, missed] = [counts.right, counts.wrong, counts.missed].map(|count| count.to_string());
        table.row([name, precision, recall, f1, right, wrong, missed]);
    }
    context.output.line(&table.render())?;
    if let Some(labels) = labels(&score).as_object() {
        let number = |name: &str| labels.get(name).and_then(Value::as_f64).unwrap_or_default();
        context.output.line(&format!(
            "injections: recall {:.3}, false positives {:.3} of {} benign texts",
            number("recall"),
            number("falsePositiveRate"),
            score.benign
        ))?;
    }
    context.output.note(&format!("{} documents, {} each", samples.len(), time(each)));
    Ok(())
}

fn shown(counts: &Counts) -> Value {
    json!({
        "precision": counts.precision(), "recall": counts.recall(), "f1": counts.f1(),
        "right": counts.right, "wrong": counts.wrong, "missed": counts.missed,
    })
}

/// `null` where no text has a label.
fn labels(score: &Score) -> Value {
    if score.benign + score.labels.right + score.labels.missed == 0 {
        return Value::Null;
    }
    json!({
        "recall": score.labels.recall(), "precision": score.labels.precision(),
        "falsePositiveRate": score.false_positive_rate(), "benign": score.benign,
    })
}

fn time(took: Duration) -> String {
    format!("{:.1} µs", took.as_secs_f64() * 1e6)
}

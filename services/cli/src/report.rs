//! How an error reaches the person or the script: what, why, where it came from, what to do; and the exit code.
//!
//! Everything goes to stderr. Text from the server is cleaned before it reaches a terminal.

use std::error::Error;
use std::io::ErrorKind;
use std::process::ExitCode;

use serde_json::{Map, Value, json};

use crate::output::{Output, clean};
use crate::problem::Problem;

/// Prints the error and gives the exit code for it.
pub fn report(error: &anyhow::Error, output: &Output) -> ExitCode {
    // `pleat logs | head`: the reader has seen enough.
    if error.chain().any(is_broken_pipe) {
        return ExitCode::SUCCESS;
    }
    let problem = error.chain().find_map(|cause| cause.downcast_ref::<Problem>());
    let lines = causes(error);
    if output.json() {
        output.complain(&as_json(problem, &lines).to_string());
    } else {
        output.complain(&as_text(problem, &lines));
    }
    ExitCode::from(problem.map_or(1, Problem::exit_code))
}

/// The error as people read it, for who goes on after it.
pub fn text(error: &anyhow::Error) -> String {
    as_text(error.chain().find_map(|cause| cause.downcast_ref::<Problem>()), &causes(error))
}

fn is_broken_pipe(cause: &(dyn Error + 'static)) -> bool {
    cause.downcast_ref::<std::io::Error>().is_some_and(|error| error.kind() == ErrorKind::BrokenPipe)
}

/// The chain as lines. Below one of our own problems only the root says anything to a person
/// ("connection refused", not the layers of the HTTP client above it).
fn causes(error: &anyhow::Error) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut causes = error.chain();
    for cause in causes.by_ref() {
        lines.push(cause.to_string());
        if cause.downcast_ref::<Problem>().is_some() {
            break;
        }
    }
    lines.extend(causes.last().map(ToString::to_string));
    lines
}

fn as_text(problem: Option<&Problem>, lines: &[String]) -> String {
    let mut text = String::new();
    for (position, line) in lines.iter().enumerate() {
        let label = if position == 0 { "error: " } else { "\n  caused by: " };
        text.push_str(label);
        text.push_str(&clean(line).replace('\n', "\n    "));
    }
    if let Some(Problem::Task(end)) = problem
        && let Some(task) = &end.task
    {
        text.push_str(&format!("\n  task: {}", clean(task)));
    }
    if let Some(stack) = problem.and_then(Problem::stack) {
        text.push_str("\n  stack:");
        stack.trim_end().lines().for_each(|line| text.push_str(&format!("\n    {}", clean(line))));
    }
    if let Some(hint) = problem.and_then(Problem::hint) {
        text.push_str(&format!("\n  hint: {}", clean(&hint)));
    }
    text
}

fn as_json(problem: Option<&Problem>, lines: &[String]) -> Value {
    let mut error = Map::new();
    error.insert("code".to_owned(), json!(problem.map_or("failed", Problem::code)));
    error.insert("message".to_owned(), json!(lines.first()));
    let mut add = |name: &str, value: Value| {
        if !value.is_null() {
            error.insert(name.to_owned(), value);
        }
    };
    add("causes", lines.get(1..).filter(|rest| !rest.is_empty()).map_or(Value::Null, |rest| json!(rest)));
    add("hint", json!(problem.and_then(Problem::hint)));
    add("stack", json!(problem.and_then(Problem::stack)));
    match problem {
        Some(Problem::Faulty { faults, .. }) => add("faults", faults.clone()),
        Some(Problem::Refused(refusal)) => add("status", json!(refusal.status)),
        Some(Problem::Task(end)) => {
            add("taskId", json!(end.task));
            add("state", json!(end.state));
            add("reason", json!(end.reason));
            add("functionCode", json!(end.code));
        }
        _ => {}
    }
    json!({ "error": error })
}

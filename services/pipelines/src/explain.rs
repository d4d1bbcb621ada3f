//! A pipeline in words: what each step receives from where, and when it runs.

use crate::definition::{Definition, OnFailure, RetryOn, Step};
use crate::duration;
use crate::graph::shown;
use crate::mapping::Mapping;
use crate::reference::{Reference, Source};

/// One paragraph for each step, and one for the output.
pub fn explain(definition: &Definition) -> String {
    let mut out = format!("pipeline:{}", definition.name);
    if !definition.description.is_empty() {
        out.push_str(&format!(": {}", definition.description));
    }
    out.push('\n');
    let mut before = "the input of the run".to_owned();
    let mut number = 0;
    for stage in &definition.stages {
        for step in &stage.steps {
            number += 1;
            paragraph(&mut out, number, step, &before);
            if stage.group {
                let others =
                    stage.steps.iter().filter(|other| other.id != step.id).map(|other| format!("`{}`", other.id));
                let others: Vec<String> = others.collect();
                if !others.is_empty() {
                    line(&mut out, &format!("runs side by side with {}", others.join(", ")));
                }
            }
        }
        before = passes(stage, &before);
    }
    out.push_str("\noutput\n");
    match &definition.output {
        None => line(&mut out, &format!("is {before}")),
        Some(mapping) => given(&mut out, mapping, "is"),
    }
    out
}

/// What the next stage gets if it maps nothing.
fn passes(stage: &crate::definition::Stage, before: &str) -> String {
    match (stage.steps.as_slice(), stage.group) {
        ([step], false) => match step.when {
            None => format!("the answer of `{}`", step.id),
            Some(_) => format!("the answer of `{}`, or, where it was skipped, {before}", step.id),
        },
        (steps, _) => {
            let ids: Vec<String> = steps.iter().map(|step| format!("`{}`", step.id)).collect();
            format!("an object with the answers of {}", ids.join(", "))
        }
    }
}

fn paragraph(out: &mut String, number: usize, step: &Step, before: &str) {
    out.push_str(&format!("\n{number}. {} calls {} `{}`\n", step.id, kind(step), step.call.shown()));
    if let Some(when) = &step.when {
        line(out, &format!("runs only when {when}; otherwise it is skipped"));
    }
    if let Some(fan) = &step.for_each {
        let most = format!("at most {} of them, {} at once", fan.max_items, fan.concurrency);
        line(out, &format!("runs once for each item of {}, {most}; answers a list", source(&fan.over)));
        line(
            out,
            match fan.on_failure {
                OnFailure::Stop => "fails when an item fails",
                OnFailure::Continue => "has `null` in the place of an item that fails",
            },
        );
    }
    match &step.input {
        Some(mapping) => given(out, mapping, "receives"),
        None if step.for_each.is_some() => line(out, "receives the item"),
        None => line(out, &format!("receives {before}")),
    }
    if let Some(timeout) = step.timeout {
        line(out, &format!("has {} for each try", duration::format(timeout)));
    }
    let retry = &step.retry;
    if retry.attempts > 1 {
        let which = if retry.on == RetryOn::Any { "any failure" } else { "a failure that may pass" };
        let wait =
            format!("{} to {}", duration::format(retry.wait(1)), duration::format(retry.wait(retry.attempts - 1)));
        line(out, &format!("is tried up to {} times after {which}, {wait} apart", retry.attempts));
    }
}

const fn kind(step: &Step) -> &'static str {
    match step.call {
        crate::definition::Call::Function(_) => "the function",
        crate::definition::Call::Pipeline(_) => "the pipeline",
        _ => "an agent by",
    }
}

fn given(out: &mut String, mapping: &Mapping, verb: &str) {
    match mapping {
        Mapping::Object(entries) if !entries.is_empty() => {
            line(out, verb);
            for (key, value) in entries {
                out.push_str(&format!("     {key}: {}\n", source(value)));
            }
        }
        other => line(out, &format!("{verb} {}", source(other))),
    }
}

/// Where a value comes from.
fn source(mapping: &Mapping) -> String {
    match mapping {
        Mapping::Reference(reference) => named(reference),
        Mapping::Literal(value) => format!("always {value}"),
        Mapping::Object(_) | Mapping::Array(_) => shown(mapping),
    }
}

fn named(reference: &Reference) -> String {
    let path: String = reference.path.iter().map(ToString::to_string).collect();
    let path = path.strip_prefix('.').unwrap_or(&path);
    let whole = match &reference.source {
        Source::Input => "the input of the run".to_owned(),
        Source::Step(id) => format!("the answer of `{id}`"),
        Source::Item => "the item".to_owned(),
        Source::Index => "the number of the item".to_owned(),
    };
    if path.is_empty() { whole } else { format!("`{path}` of {whole}") }
}

fn line(out: &mut String, text: &str) {
    out.push_str("   ");
    out.push_str(text);
    out.push('\n');
}

//! A pipeline as a picture: for a terminal, and as Mermaid for pages.

use std::fmt::Write;

use crate::definition::{Definition, OnFailure, Step};
use crate::duration;
use crate::mapping::Mapping;
use crate::reference::{Reference, Source, StepId};

/// For a terminal, from top to bottom; steps that run side by side stand under one branch.
pub fn text(definition: &Definition) -> String {
    let mut out = format!("pipeline:{}\n", definition.name);
    for stage in &definition.stages {
        out.push_str("│\n");
        match (stage.steps.as_slice(), stage.group) {
            ([step], false) => put(&mut out, &format!("● {}", label(step))),
            (steps, _) => {
                for (index, step) in steps.iter().enumerate() {
                    let corner = if index == 0 { "├┬" } else { "│├" };
                    put(&mut out, &format!("{corner} {}", label(step)));
                }
            }
        }
    }
    out.push_str("│\n");
    put(&mut out, &format!("▼ {}", output(definition)));
    out
}

/// A flowchart: solid arrows for the order, dotted ones for answers that are used further down.
pub fn mermaid(definition: &Definition) -> String {
    let mut out = "flowchart TD\n  input([input])\n".to_owned();
    let mut before = vec!["input".to_owned()];
    for (number, stage) in definition.stages.iter().enumerate() {
        if stage.group {
            put(&mut out, &format!("  subgraph group_{number} [side by side]"));
        }
        for step in &stage.steps {
            put(&mut out, &format!("  {}[\"{}\"]", node(definition, &step.id), escaped(&label(step))));
        }
        if stage.group {
            put(&mut out, "  end");
        }
        let here: Vec<String> = stage.steps.iter().map(|step| node(definition, &step.id)).collect();
        arrows(&mut out, &before, &here, "-->");
        for step in &stage.steps {
            let far: Vec<String> =
                sources(definition, step).into_iter().filter(|source| !before.contains(source)).collect();
            arrows(&mut out, &far, &[node(definition, &step.id)], "-.->");
        }
        before = here;
    }
    out.push_str("  output([output])\n");
    arrows(&mut out, &before, &["output".to_owned()], "-->");
    let used = definition
        .output
        .iter()
        .flat_map(Mapping::references)
        .filter_map(|(_, reference)| source(definition, reference));
    let mut far: Vec<String> = used.filter(|source| !before.contains(source)).collect();
    far.sort();
    far.dedup();
    arrows(&mut out, &far, &["output".to_owned()], "-.->");
    out
}

/// The step in a few words.
fn label(step: &Step) -> String {
    let mut words = format!("{} ({})", step.id, step.call.shown());
    if let Some(when) = &step.when {
        let _ = write!(words, ", when {when}");
    }
    if let Some(fan) = &step.for_each {
        let _ = write!(words, ", for each of {}, {} at once", shown(&fan.over), fan.concurrency);
        if fan.on_failure == OnFailure::Continue {
            words.push_str(", gaps for failures");
        }
    }
    if step.retry.attempts > 1 {
        let _ = write!(words, ", {} tries", step.retry.attempts);
    }
    if let Some(timeout) = step.timeout {
        let _ = write!(words, ", at most {}", duration::format(timeout));
    }
    words
}

fn output(definition: &Definition) -> String {
    match &definition.output {
        Some(mapping) => format!("output {}", shown(mapping)),
        None => "output".to_owned(),
    }
}

pub(crate) fn shown(mapping: &Mapping) -> String {
    match mapping {
        Mapping::Reference(reference) => reference.to_string(),
        other => other.to_value().to_string(),
    }
}

/// The nodes that a step takes something from.
fn sources(definition: &Definition, step: &Step) -> Vec<String> {
    let mapped = step.input.iter().chain(step.for_each.iter().map(|fan| &fan.over));
    let mapped = mapped.flat_map(Mapping::references).map(|(_, reference)| reference);
    let asked = step.when.iter().flat_map(|when| when.references());
    let mut sources: Vec<String> = mapped.chain(asked).filter_map(|reference| source(definition, reference)).collect();
    sources.sort();
    sources.dedup();
    sources
}

fn source(definition: &Definition, reference: &Reference) -> Option<String> {
    match &reference.source {
        Source::Input => Some("input".to_owned()),
        Source::Step(id) => Some(node(definition, id)),
        Source::Item | Source::Index => None,
    }
}

/// By number: ids may have characters that are arrows to Mermaid, or be words that it keeps for itself.
fn node(definition: &Definition, id: &StepId) -> String {
    let number = definition.steps().position(|step| step.id == *id).unwrap_or_default();
    format!("step{}", number + 1)
}

/// In Mermaid's own escapes.
fn escaped(text: &str) -> String {
    let escape = |one: char| match one {
        '"' => "#quot;".to_owned(),
        '<' => "#lt;".to_owned(),
        '>' => "#gt;".to_owned(),
        '&' => "#amp;".to_owned(),
        '#' => "#35;".to_owned(),
        one => one.to_string(),
    };
    text.chars().map(escape).collect()
}

fn arrows(out: &mut String, from: &[String], to: &[String], arrow: &str) {
    for from in from {
        for to in to {
            put(out, &format!("  {from} {arrow} {to}"));
        }
    }
}

fn put(out: &mut String, line: &str) {
    out.push_str(line);
    out.push('\n');
}

#[cfg(test)]
mod tests {
    use crate::parse;

    const BOTH: &str = r#"
name: brief
steps:
  - {id: fetch, tool_name: fetch, timeout: 30s, retry: 3}
  - parallel:
      - {id: facts, tool_name: extract, when: '$input.facts == "yes"'}
      - {id: parts, tool_name: 'pipeline:split', for_each: {in: $steps.fetch.parts, concurrency: 2, on_failure: continue}}
  - {id: write, tool_name: write, input_mapping: {facts: $steps.facts, title: $steps.fetch.title, by: $input.author}}
output: {text: $steps.write.text, parts: $steps.parts}
"#;

    #[test]
    fn for_a_terminal() {
        insta::assert_snapshot!(super::text(&parse(BOTH).unwrap()), @r#"
        pipeline:brief
        │
        ● fetch (fetch), 3 tries, at most 30s
        │
        ├┬ facts (extract), when $input.facts == "yes"
        │├ parts (pipeline:split), for each of $steps.fetch.parts, 2 at once, gaps for failures
        │
        ● write (write)
        │
        ▼ output {"text":"$steps.write.text","parts":"$steps.parts"}
        "#);
    }

    #[test]
    fn for_a_page() {
        insta::assert_snapshot!(super::mermaid(&parse(BOTH).unwrap()), @r#"
        flowchart TD
          input([input])
          step1["fetch (fetch), 3 tries, at most 30s"]
          input --> step1
          subgraph group_1 [side by side]
          step2["facts (extract), when $input.facts == #quot;yes#quot;"]
          step3["parts (pipeline:split), for each of $steps.fetch.parts, 2 at once, gaps for failures"]
          end
          step1 --> step2
          step1 --> step3
          input -.-> step2
          step4["write (write)"]
          step2 --> step4
          step3 --> step4
          input -.-> step4
          step1 -.-> step4
          output([output])
          step4 --> output
          step3 -.-> output
        "#);
    }

    #[test]
    fn in_words() {
        insta::assert_snapshot!(crate::explain(&parse(BOTH).unwrap()), @r#"
        pipeline:brief

        1. fetch calls the function `fetch`
           receives the input of the run
           has 30s for each try
           is tried up to 3 times after a failure that may pass, 1s to 2s apart

        2. facts calls the function `extract`
           runs only when $input.facts == "yes"; otherwise it is skipped
           receives the answer of `fetch`
           runs side by side with `parts`

        3. parts calls the pipeline `pipeline:split`
           runs once for each item of `parts` of the answer of `fetch`, at most 100 of them, 2 at once; answers a list
           has `null` in the place of an item that fails
           receives the item
           runs side by side with `facts`

        4. write calls the function `write`
           receives
             facts: the answer of `facts`
             title: `title` of the answer of `fetch`
             by: `author` of the input of the run

        output
           is
             text: `text` of the answer of `write`
             parts: the answer of `parts`
        "#);
    }
}

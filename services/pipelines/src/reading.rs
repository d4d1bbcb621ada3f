//! From a tree to a pipeline: every field looked at, every fault noted, and the rest read on.
//!
//! Nothing here knows what exists; that is `check`.

mod fields;
mod step;
mod values;

use pleat_domain::SkillName;
use serde_json::Value;

use crate::definition::{Call, Definition, FanOut, Retry, Stage, Step};
use crate::document::{Data, Node};
use crate::fault::{Report, below, quoted};
use crate::limits;
use crate::mapping::Mapping;
use crate::reading::fields::Fields;
use crate::reference::StepId;

/// What could be read. A part that has a fault is missing; whether it was there at all is kept, so that one fault does
/// not lead to others.
#[derive(Debug, Default)]
pub(crate) struct Draft {
    pub(crate) name: Option<SkillName>,
    description: String,
    pub(crate) input_schema: Option<Value>,
    pub(crate) output_schema: Option<Value>,
    pub(crate) stages: Vec<DraftStage>,
    pub(crate) output: Wanted<Mapping>,
}

#[derive(Debug)]
pub(crate) struct DraftStage {
    pub(crate) group: bool,
    pub(crate) steps: Vec<DraftStep>,
}

#[derive(Debug)]
pub(crate) struct DraftStep {
    /// Where it stands in the document.
    pub(crate) pointer: String,
    pub(crate) id: Option<StepId>,
    pub(crate) call: Option<Call>,
    pub(crate) when: Option<crate::condition::Condition>,
    pub(crate) for_each: Wanted<FanOut>,
    pub(crate) input: Wanted<Mapping>,
    pub(crate) timeout: Option<std::time::Duration>,
    pub(crate) retry: Retry,
}

/// A part that may be left out.
#[derive(Debug, Default)]
pub(crate) enum Wanted<T> {
    #[default]
    Absent,
    /// It is there and has a fault; this much of it could be read.
    Unclear(Option<T>),
    Read(T),
}

impl<T> Wanted<T> {
    fn map<U>(self, change: impl FnOnce(T) -> U) -> Wanted<U> {
        match self {
            Self::Absent => Wanted::Absent,
            Self::Unclear(part) => Wanted::Unclear(part.map(change)),
            Self::Read(value) => Wanted::Read(change(value)),
        }
    }

    pub(crate) const fn is_absent(&self) -> bool {
        matches!(self, Self::Absent)
    }

    fn into_read(self) -> Option<T> {
        match self {
            Self::Read(value) => Some(value),
            Self::Absent | Self::Unclear(_) => None,
        }
    }
}

pub(crate) fn read(root: &Node, report: &mut Report) -> Draft {
    let Some(mut fields) = Fields::of(root, "", "a pipeline", report) else { return Draft::default() };
    let name = fields.required("name", root, report).and_then(|node| {
        let text = values::text(node, "/name", "the name of the pipeline", report)?;
        let parsed = SkillName::parse(text.strip_prefix("pipeline:").unwrap_or(text));
        parsed
            .map_err(|_| report.fault(node.at, "/name", format!("{} cannot name a pipeline", quoted(text)), NAMES))
            .ok()
    });
    let description = fields.optional("description").and_then(|node| description(node, report)).unwrap_or_default();
    let input_schema = fields.optional("input_schema").and_then(|node| schema(node, "/input_schema", report));
    let output_schema = fields.optional("output_schema").and_then(|node| schema(node, "/output_schema", report));
    let output = match fields.optional("output") {
        None => Wanted::Absent,
        Some(node) => values::mapping(node, "/output", report),
    };
    let stages = fields.required("steps", root, report).map(|node| stages(node, report)).unwrap_or_default();
    fields.finish(report);
    Draft { name, description, input_schema, output_schema, stages, output }
}

const NAMES: &str = "use 1 to 63 of a-z, 0-9, `-` and `_`, begin with a letter or a digit, and avoid reserved words";

fn description(node: &Node, report: &mut Report) -> Option<String> {
    let text = values::text(node, "/description", "the description", report)?;
    if text.len() > limits::DESCRIPTION {
        let message = format!("the description has more than {} bytes", limits::DESCRIPTION);
        report.fault(node.at, "/description", message, "say it shorter");
    }
    Some(text.to_owned())
}

fn schema(node: &Node, pointer: &str, report: &mut Report) -> Option<Value> {
    if matches!(node.data, Data::Object(_) | Data::Bool(_)) {
        return Some(node.to_value());
    }
    let message = format!("a JSON Schema is an object, this is {}", node.kind());
    report.fault(node.at, pointer, message, "write `{type: object, properties: {…}}`");
    None
}

fn stages(node: &Node, report: &mut Report) -> Vec<DraftStage> {
    let Some(items) = values::list(node, "/steps", "`steps`", report) else { return Vec::new() };
    if items.is_empty() {
        report.fault(node.at, "/steps", "there are no steps", "add at least one step with `id` and `tool_name`");
    }
    let mut placed = Vec::new();
    for (index, item) in items.iter().enumerate() {
        let pointer = below("/steps", index);
        if let Some((position, stage)) = step::stage(item, &pointer, report) {
            placed.push((position, pointer, item, stage));
        }
    }
    let count: usize = placed.iter().map(|(_, _, _, stage)| stage.steps.len()).sum();
    if count > limits::STEPS {
        let message = format!("{count} steps, the most is {}", limits::STEPS);
        report.fault(node.at, "/steps", message, "move some into a pipeline that this one calls");
    }
    in_order(placed, report)
}

type Placed<'a> = (Option<u64>, String, &'a Node, DraftStage);

/// In the order of `position`, if the steps have it; equal positions run side by side.
fn in_order(mut placed: Vec<Placed<'_>>, report: &mut Report) -> Vec<DraftStage> {
    if placed.iter().any(|(position, ..)| position.is_some()) {
        for (_, pointer, node, _) in placed.iter().filter(|(position, ..)| position.is_none()) {
            report.fault(
                node.at,
                pointer,
                "some steps have a `position`, this one has none",
                "give it to all or to none",
            );
        }
        placed.sort_by_key(|(position, ..)| *position);
    }
    let mut stages: Vec<(Option<u64>, bool, DraftStage)> = Vec::new();
    for (position, pointer, node, stage) in placed {
        match stages.last_mut() {
            Some((last, written, group)) if position.is_some() && *last == position => {
                if stage.group || *written {
                    let message = "a parallel group has the same `position` as another step";
                    report.fault(node.at, &pointer, message, "give the group a position of its own");
                }
                group.group = true;
                group.steps.extend(stage.steps);
                too_wide(group, node, &pointer, report);
            }
            _ => stages.push((position, stage.group, stage)),
        }
    }
    stages.into_iter().map(|(_, _, stage)| stage).collect()
}

fn too_wide(group: &DraftStage, node: &Node, pointer: &str, report: &mut Report) {
    if group.steps.len() > limits::GROUP {
        let message = format!("more than {} steps side by side", limits::GROUP);
        report.fault(node.at, pointer, message, "make several groups, or use `for_each`");
    }
}

impl Draft {
    /// The definition, where nothing is missing.
    pub(crate) fn into_definition(self) -> Option<Definition> {
        let stages: Option<Vec<Stage>> = self.stages.into_iter().map(DraftStage::into_stage).collect();
        Some(Definition {
            name: self.name?,
            description: self.description,
            input_schema: self.input_schema,
            stages: stages?,
            output: self.output.into_read(),
            output_schema: self.output_schema,
        })
    }

    pub(crate) fn steps(&self) -> impl Iterator<Item = &DraftStep> {
        self.stages.iter().flat_map(|stage| &stage.steps)
    }
}

impl DraftStage {
    fn into_stage(self) -> Option<Stage> {
        let steps: Option<Vec<Step>> = self.steps.into_iter().map(DraftStep::into_step).collect();
        Some(Stage { steps: steps?, group: self.group })
    }
}

impl DraftStep {
    fn into_step(self) -> Option<Step> {
        Some(Step {
            id: self.id?,
            call: self.call?,
            when: self.when,
            for_each: self.for_each.into_read(),
            input: self.input.into_read(),
            timeout: self.timeout,
            retry: self.retry,
        })
    }
}

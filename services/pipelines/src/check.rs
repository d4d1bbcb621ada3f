//! Whether a pipeline holds together with what exists: names, order, nesting, and the schemas of what is called.

mod fit;
mod nesting;
mod references;
mod shape;

use std::collections::{BTreeMap, BTreeSet};

use crate::catalog::{Catalog, Known};
use crate::check::fit::Fit;
use crate::check::references::Here;
use crate::check::shape::Shape;
use crate::definition::{Call, FanOut, OnFailure};
use crate::document::Node;
use crate::fault::{Report, below, similar};
use crate::mapping::Mapping;
use crate::reading::{Draft, DraftStage, DraftStep, Wanted};
use crate::reference::StepId;
use crate::schema::{self, Types, View};

/// Without a catalog, what is called is taken to exist.
pub(crate) fn check(root: &Node, draft: &Draft, catalog: Option<&Catalog<'_>>, report: &mut Report) {
    for (schema, pointer) in [(&draft.input_schema, "/input_schema"), (&draft.output_schema, "/output_schema")] {
        if let Some(Err(error)) = schema.as_ref().map(schema::compile) {
            report.at(root, pointer, format!("this is no usable JSON Schema: {error}"), "correct the schema");
        }
    }
    if let Some(catalog) = catalog {
        nesting::check(root, draft, catalog, report);
    }
    Checker { root, draft, catalog, report, known: BTreeMap::new() }.run();
}

struct Checker<'a> {
    root: &'a Node,
    draft: &'a Draft,
    catalog: Option<&'a Catalog<'a>>,
    report: &'a mut Report,
    /// The steps of earlier stages, with what they answer.
    known: BTreeMap<&'a StepId, Shape<'a>>,
}

impl<'a> Checker<'a> {
    fn run(mut self) {
        self.ids();
        let draft = self.draft;
        let mut previous =
            draft.input_schema.as_ref().map_or(Shape::Unknown, |schema| Shape::Schema(View::new(schema)));
        for stage in &draft.stages {
            let mut answers = Vec::new();
            for step in &stage.steps {
                answers.push((step.id.as_ref(), self.step(step, stage, &previous)));
            }
            previous = self.after(stage, &answers, previous);
            self.known.extend(answers.into_iter().filter_map(|(id, shape)| id.map(|id| (id, shape))));
        }
        self.output(previous);
    }

    fn ids(&mut self) {
        let mut seen = BTreeSet::new();
        for step in self.draft.steps() {
            if let Some(id) = step.id.as_ref().filter(|id| !seen.insert(*id)) {
                let place = below(&step.pointer, "id");
                self.report.at(
                    self.root,
                    &place,
                    format!("a step `{id}` is there already"),
                    "give each step its own id",
                );
            }
        }
    }

    /// What comes before the next stage, if nothing is mapped there.
    fn after(&self, stage: &DraftStage, answers: &[(Option<&'a StepId>, Shape<'a>)], before: Shape<'a>) -> Shape<'a> {
        let always = stage.steps.iter().all(|step| step.when.is_none());
        match answers {
            [(_, shape)] if !stage.group && always => shape.clone(),
            _ if stage.group && always => {
                let named = answers.iter().filter_map(|(id, shape)| Some(((*id)?.as_str(), shape.clone())));
                Shape::Object(named.collect())
            }
            [] => before,
            _ => Shape::Unknown,
        }
    }

    /// What the step answers.
    fn step(&mut self, step: &'a DraftStep, stage: &'a DraftStage, previous: &Shape<'a>) -> Shape<'a> {
        let beside = stage.steps.iter().filter_map(|step| step.id.as_ref()).collect();
        let mut here = Here { step: Some(step), beside, item: None };
        self.when(step, &here);
        here.item = match &step.for_each {
            Wanted::Absent => None,
            Wanted::Unclear(None) => Some(Shape::Unknown),
            Wanted::Unclear(Some(fan)) | Wanted::Read(fan) => Some(self.items(step, fan, &here)),
        };
        let place = below(&step.pointer, "input_mapping");
        let given = match (&step.input, &here.item) {
            (Wanted::Read(mapping), _) => self.mapping(mapping, &place, &here),
            (Wanted::Unclear(part), _) => {
                part.iter().for_each(|part| drop(self.mapping(part, &place, &here)));
                Shape::Unknown
            }
            (Wanted::Absent, Some(item)) => item.clone(),
            (Wanted::Absent, None) => previous.clone(),
        };
        let known = self.called(step);
        if let Some(input) = known.and_then(Known::input) {
            let place = if step.input.is_absent() { self.callee(step) } else { place };
            let callee = step.call.as_ref().map(Call::shown).unwrap_or_default();
            let fit = Fit::new(format!("`{callee}`"), "its input", step.input.is_absent());
            fit.check(&given, View::new(input), &place).report(self.root, self.report);
        }
        let output = known.and_then(Known::output);
        let answer = output.map_or(Shape::Unknown, |schema| Shape::Schema(View::new(schema)));
        match &step.for_each {
            Wanted::Absent => answer,
            Wanted::Read(fan) if fan.on_failure == OnFailure::Stop => Shape::List(Box::new(answer)),
            _ => Shape::List(Box::new(Shape::Unknown)),
        }
    }

    fn when(&mut self, step: &'a DraftStep, here: &Here<'a>) {
        let Some(when) = &step.when else { return };
        let place = below(&step.pointer, "when");
        self.condition(when, &place, here);
        if when.constant() == Some(false) {
            let message = "the step can never run: its condition is always false";
            self.report.at(self.root, &place, message, "change the condition, or take the step out");
        }
    }

    /// The items of a fan-out: what one of them is.
    fn items(&mut self, step: &DraftStep, fan: &'a FanOut, here: &Here<'a>) -> Shape<'a> {
        let whole = below(&step.pointer, "for_each");
        let inner = below(&whole, "in");
        let place = if self.root.has(&inner) { inner } else { whole };
        let list = self.mapping(&fan.over, &place, here);
        if !list.types().overlap(Types::ARRAY) {
            let message = format!("the items of a fan-out are an array, and this is {}", list.types());
            self.report.at(self.root, &place, message, "refer to an array");
        }
        if fan.over == Mapping::Array(Vec::new()) {
            let message = "the step can never run: there are no items";
            self.report.at(self.root, &place, message, "refer to an array, or take the step out");
        }
        list.any_item()
    }

    /// What the step calls, if that is known.
    fn called(&mut self, step: &DraftStep) -> Option<Known<'a>> {
        let call = step.call.as_ref()?;
        let Some(skill) = call.skill() else {
            let message = format!("steps of the kind `{}` are not supported yet", call.kind());
            self.report.at(self.root, &self.callee(step), message, "call a function or a pipeline (`tool_name`)");
            return None;
        };
        let catalog = self.catalog?;
        let own = self.draft.name.as_ref().is_some_and(|name| *call == Call::Pipeline(name.clone()));
        let found = catalog.find(&skill);
        if found.is_none() && !own {
            let hint = match similar(&skill, catalog.names()) {
                Some(one) => format!("did you mean `{one}`?"),
                None => "deploy it first, or correct the name".to_owned(),
            };
            self.report.at(self.root, &self.callee(step), format!("there is no skill `{skill}`"), hint);
        }
        found.filter(|_| !own)
    }

    /// Where the document says what is called.
    fn callee(&self, step: &DraftStep) -> String {
        let places = ["tool_name", "function_id", "kind", "nodeId"].map(|field| below(&step.pointer, field));
        places.into_iter().find(|place| self.root.has(place)).unwrap_or_else(|| step.pointer.clone())
    }

    fn output(&mut self, previous: Shape<'a>) {
        let draft = self.draft;
        let given = match &draft.output {
            Wanted::Unclear(part) => {
                part.iter().for_each(|part| drop(self.mapping(part, "/output", &Here::default())));
                return;
            }
            Wanted::Absent => previous,
            Wanted::Read(mapping) => self.mapping(mapping, "/output", &Here::default()),
        };
        if let Some(schema) = &draft.output_schema {
            let place = if draft.output.is_absent() { "/output_schema" } else { "/output" };
            let fit = Fit::new("`output_schema`".to_owned(), "the output", draft.output.is_absent());
            fit.check(&given, View::new(schema), place).report(self.root, self.report);
        }
    }
}

#[cfg(test)]
mod tests;

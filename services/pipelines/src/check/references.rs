//! Where references lead: to what has run by then, and to what can be there.

use std::collections::BTreeSet;

use super::Checker;
use super::shape::{Reach, Shape};
use crate::condition::Condition;
use crate::fault::similar;
use crate::mapping::Mapping;
use crate::reading::DraftStep;
use crate::reference::{Reference, Segment, Source, StepId};
use crate::schema::{Types, View};

/// The place that a reference stands at.
#[derive(Default)]
pub(super) struct Here<'a> {
    /// `None`: behind all steps.
    pub(super) step: Option<&'a DraftStep>,
    /// The steps of the same stage.
    pub(super) beside: BTreeSet<&'a StepId>,
    /// Within a fan-out: what an item is.
    pub(super) item: Option<Shape<'a>>,
}

impl<'a> Checker<'a> {
    pub(super) fn condition(&mut self, condition: &Condition, place: &str, here: &Here<'a>) {
        for reference in condition.references() {
            if self.order(reference, place, here) {
                self.reach(reference, place, here);
            }
        }
    }

    /// Checks all references of a mapping, and says what it gives as far as the schemas of its sources say.
    pub(super) fn mapping(&mut self, mapping: &'a Mapping, place: &str, here: &Here<'a>) -> Shape<'a> {
        match mapping {
            Mapping::Literal(value) => Shape::Literal(value),
            Mapping::Array(items) => {
                let numbered = items.iter().enumerate();
                let shapes = numbered.map(|(index, one)| self.mapping(one, &crate::fault::below(place, index), here));
                Shape::Tuple(shapes.collect())
            }
            Mapping::Object(entries) => {
                let shapes = entries
                    .iter()
                    .map(|(key, one)| (key.as_str(), self.mapping(one, &crate::fault::below(place, key), here)));
                Shape::Object(shapes.collect())
            }
            Mapping::Reference(reference) if self.order(reference, place, here) => self.reach(reference, place, here),
            Mapping::Reference(_) => Shape::Unknown,
        }
    }

    /// Whether what is referred to has run by then.
    fn order(&mut self, reference: &Reference, place: &str, here: &Here<'a>) -> bool {
        let (message, hint) = match &reference.source {
            Source::Input => return true,
            Source::Item | Source::Index if here.item.is_some() => return true,
            Source::Item | Source::Index => (
                "there is no item here".to_owned(),
                "use it in the `input_mapping` of a step with `for_each`".to_owned(),
            ),
            Source::Step(id) if self.known.contains_key(id) => return true,
            Source::Step(id) if here.step.is_some_and(|step| step.id.as_ref() == Some(id)) => {
                ("the step refers to its own answer".to_owned(), "refer to an earlier step".to_owned())
            }
            Source::Step(id) if here.beside.contains(id) => {
                let message = format!("`{id}` runs side by side with this step");
                (message, "refer to a step before the group, or take one of the two out of it".to_owned())
            }
            Source::Step(id) if self.draft.steps().any(|other| other.id.as_ref() == Some(id)) => (
                format!("`{id}` runs later than this step"),
                "move that step up, or refer to an earlier one".to_owned(),
            ),
            Source::Step(id) => {
                let ids = self.draft.steps().filter_map(|step| step.id.as_ref()).map(StepId::as_str);
                let hint = match similar(id.as_str(), ids) {
                    Some(one) => format!("did you mean `$steps.{one}`?"),
                    None => "refer to the id of an earlier step".to_owned(),
                };
                (format!("there is no step `{id}`"), hint)
            }
        };
        self.report.at(self.root, place, message, hint);
        false
    }

    /// What a reference leads to.
    fn reach(&mut self, reference: &Reference, place: &str, here: &Here<'a>) -> Shape<'a> {
        let input = || self.draft.input_schema.as_ref().map(|schema| Shape::Schema(View::new(schema)));
        let source = match &reference.source {
            Source::Input => input(),
            Source::Step(id) => self.known.get(id).cloned(),
            Source::Item => here.item.clone(),
            Source::Index => Some(Shape::Number),
        };
        let mut shape = source.unwrap_or(Shape::Unknown);
        let mut passed = Reference { source: reference.source.clone(), path: Vec::new() };
        for segment in &reference.path {
            let next = shape.reach(segment);
            let hint = || match shape.similar(segment) {
                Some(one) => format!("did you mean `{passed}.{one}`?"),
                None if shape.types() == Types::ARRAY => format!("it is an array: take an item, as in `{passed}[0]`"),
                None => "look at the schema of where it comes from".to_owned(),
            };
            match next {
                Reach::Found(found) => shape = found,
                Reach::Unspoken => {
                    let message = format!("the schema of `{passed}` does not speak of `{}`", name(segment));
                    self.report.warn(self.root, place, message, hint());
                    return Shape::Unknown;
                }
                Reach::Never => {
                    let message = format!("`{passed}` never has `{}`", name(segment));
                    self.report.at(self.root, place, message, hint());
                    return Shape::Unknown;
                }
            }
            passed.path.push(segment.clone());
        }
        shape
    }
}

fn name(segment: &Segment) -> String {
    match segment {
        Segment::Key(key) => key.clone(),
        Segment::Index(_) => segment.to_string(),
    }
}

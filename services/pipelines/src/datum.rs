//! A payload that is mostly passed on as the text it is, and looked into only where a reference asks.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use pleat_domain::Raw;
use serde_json::Value;

use crate::reference::{Reference, Segment, Source, StepId};

#[derive(Debug)]
pub(crate) struct Datum {
    pub(crate) raw: Raw,
    tree: OnceLock<Value>,
}

impl Datum {
    pub(crate) fn new(raw: Raw) -> Self {
        Self { raw, tree: OnceLock::new() }
    }

    fn tree(&self) -> &Value {
        // Payloads are checked before they come here; one that cannot be read has nothing inside.
        self.tree.get_or_init(|| serde_json::from_str(self.raw.get()).unwrap_or_default())
    }

    fn find(&self, path: &[Segment]) -> Option<&Value> {
        path.iter().try_fold(self.tree(), |value, segment| match segment {
            Segment::Key(key) => value.get(key),
            Segment::Index(index) => value.get(usize::try_from(*index).ok()?),
        })
    }
}

/// What references can mean at one place of a run.
#[derive(Clone, Copy)]
pub(crate) struct Scope<'a> {
    pub(crate) input: &'a Datum,
    /// Of the steps that have finished; one that was skipped has none.
    pub(crate) answers: &'a BTreeMap<StepId, Datum>,
    /// Within a fan-out: the item and its number.
    pub(crate) item: Option<(&'a Datum, u32)>,
}

/// What a reference leads to.
pub(crate) enum Found<'a> {
    Nothing,
    Whole(&'a Datum),
    Part(&'a Value),
    Index(u32),
}

impl Found<'_> {
    pub(crate) fn value(&self) -> Value {
        match self {
            Self::Nothing => Value::Null,
            Self::Whole(datum) => datum.tree().clone(),
            Self::Part(value) => (*value).clone(),
            Self::Index(index) => Value::from(*index),
        }
    }
}

pub(crate) fn find<'a>(reference: &Reference, scope: &Scope<'a>) -> Found<'a> {
    let datum = match &reference.source {
        Source::Input => Some(scope.input),
        Source::Step(id) => scope.answers.get(id),
        Source::Item => scope.item.map(|(item, _)| item),
        Source::Index => return scope.item.map_or(Found::Nothing, |(_, index)| Found::Index(index)),
    };
    match datum {
        None => Found::Nothing,
        Some(datum) if reference.path.is_empty() => Found::Whole(datum),
        Some(datum) => datum.find(&reference.path).map_or(Found::Nothing, Found::Part),
    }
}

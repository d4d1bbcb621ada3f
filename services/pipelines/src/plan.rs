//! The order of a definition, laid out for a run: stages one after the other, the steps of a stage side by side.

use std::collections::HashMap;
use std::ops::Range;

use pleat_domain::VersionHash;

use crate::definition::{Definition, Step};
use crate::mapping::Mapping;
use crate::reference::{Reference, Source, StepId};

#[derive(Debug)]
pub struct Plan {
    hash: VersionHash,
    steps: Vec<Step>,
    stages: Vec<PlanStage>,
    output: Option<Mapping>,
    numbers: HashMap<StepId, usize>,
}

#[derive(Debug, Clone)]
pub(crate) struct PlanStage {
    pub(crate) steps: Range<usize>,
    /// What the stage passes on if the next one maps nothing; `None`: the answer of its only step.
    pub(crate) passes: Option<Mapping>,
}

impl From<Definition> for Plan {
    fn from(definition: Definition) -> Self {
        let hash = definition.hash();
        let (mut steps, mut stages) = (Vec::new(), Vec::new());
        for stage in definition.stages {
            let from = steps.len();
            let answers = stage.steps.iter().map(|step| (step.id.to_string(), answer_of(&step.id)));
            let passes = stage.group.then(|| Mapping::Object(answers.collect()));
            steps.extend(stage.steps);
            stages.push(PlanStage { steps: from..steps.len(), passes });
        }
        let numbers = steps.iter().enumerate().map(|(number, step)| (step.id.clone(), number)).collect();
        Self { hash, steps, stages, output: definition.output, numbers }
    }
}

fn answer_of(id: &StepId) -> Mapping {
    Mapping::Reference(Reference { source: Source::Step(id.clone()), path: Vec::new() })
}

impl Plan {
    /// Of the definition it was made of: what a run is pinned to.
    pub const fn hash(&self) -> VersionHash {
        self.hash
    }

    pub fn step(&self, id: &StepId) -> Option<&Step> {
        self.steps.get(self.number(id)?)
    }

    /// The stages in order, each with the steps that run side by side.
    pub fn stages(&self) -> impl Iterator<Item = &[Step]> {
        self.stages.iter().filter_map(|stage| self.steps.get(stage.steps.clone()))
    }

    /// Whether what this step says is what the run says: then its stream is the run's stream. It is the last, alone, calls
    /// once, and nothing is made of its answer. Should it be skipped, it says nothing.
    pub fn is_final(&self, id: &StepId) -> bool {
        let last = self
            .stages
            .last()
            .is_some_and(|stage| stage.passes.is_none() && self.number(id) == Some(stage.steps.start));
        let plain = self.output.as_ref().is_none_or(|output| *output == answer_of(id));
        last && plain && self.step(id).is_some_and(|step| step.for_each.is_none())
    }

    pub(crate) fn number(&self, id: &StepId) -> Option<usize> {
        self.numbers.get(id).copied()
    }

    pub(crate) fn at(&self, number: usize) -> Option<&Step> {
        self.steps.get(number)
    }

    pub(crate) fn stage(&self, number: usize) -> Option<&PlanStage> {
        self.stages.get(number)
    }

    pub(crate) fn stage_of(&self, step: usize) -> Option<usize> {
        self.stages.iter().position(|stage| stage.steps.contains(&step))
    }

    pub(crate) const fn output(&self) -> Option<&Mapping> {
        self.output.as_ref()
    }

    pub(crate) const fn len(&self) -> usize {
        self.steps.len()
    }
}

//! Runs of pipelines. A run is a task, and each attempt at a step is a task below it whose row, once it is finished, is the
//! run's journal: what is in it is never called again.

mod drive;
mod journal;
mod refused;
mod replay;
mod step;

use std::collections::BTreeMap;

use pleat_domain::{EventBody, RunRecord, SkillName, StepPhase, Tenant};

use crate::catalog::{Catalog, Skill};
use crate::engine::Engine;
use crate::error::EngineError;
use crate::invoke::StepOrigin;

pub(crate) use drive::drive;

/// The versions that a run is bound to, by the names of the skills.
pub(crate) type Pins = BTreeMap<String, i32>;

impl Engine {
    /// What a run begins with: versions as they are now, or, within a run, as they were when that began.
    pub(crate) async fn run_record(
        &self,
        tenant: &Tenant,
        skill: &Skill,
        step: Option<&StepOrigin>,
    ) -> Result<Option<RunRecord>, EngineError> {
        if skill.pipeline().is_none() {
            return Ok(None);
        }
        let pins = match step {
            Some(step) => Pins::clone(&step.pins),
            None => pins_of(&*Box::pin(self.catalog(tenant)).await?, skill),
        };
        Ok(Some(RunRecord { pins, ..RunRecord::default() }))
    }
}

/// All that a pipeline calls, and all that the pipelines among these call. What is not there is not pinned: the step that
/// wants it fails.
fn pins_of(catalog: &Catalog, skill: &Skill) -> Pins {
    let mut pins = Pins::new();
    let mut pending: Vec<&Skill> = vec![skill];
    while let Some(caller) = pending.pop() {
        let Some(pipeline) = caller.pipeline() else { continue };
        for name in pipeline.definition.calls().into_iter().filter_map(|call| call.skill()) {
            let called = SkillName::parse_skill(&name).ok().and_then(|name| catalog.runnable(&name));
            let Some(called) = called.filter(|_| !pins.contains_key(&name)) else { continue };
            pins.insert(name, called.version);
            pending.push(called);
        }
    }
    pins
}

/// Skips have no rows of their own: they are kept with the run.
pub(crate) fn note_skipped(record: &mut RunRecord, bodies: &[EventBody]) {
    for body in bodies {
        if let EventBody::Step(change) = body
            && change.phase == StepPhase::Skipped
            && !record.skipped.contains(&change.step)
        {
            record.skipped.push(change.step.clone());
        }
    }
}

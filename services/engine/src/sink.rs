//! What a running guest has said and the driver has not yet recorded: chunks, progress, log lines.
//!
//! Chunks are merged so that a stream of tokens costs one durable event per interval, and they are collected into
//! the artifacts that the finished task carries. A guest that is faster than the database waits in `emit`.

use std::sync::{Arc, Mutex};

use pleat_domain::content::append;
use pleat_domain::event::{ArtifactChunk, Progress};
use pleat_domain::{Artifact, Block, EventBody, LogLine, SkillName, StepChange, limits};
use pleat_runtime::{Chunk, ChunkBody};
use tokio::sync::Notify;

use crate::guarding::SharedWatch;
use crate::hub::lock;

/// A guest waits while more than this is pending: what is written at once must not be felt by others.
const HIGH_WATER: usize = limits::MIB / 2;

pub(crate) struct Sink {
    state: Mutex<State>,
    ready: Notify,
    drained: Notify,
    skill: SkillName,
    watch: Option<SharedWatch>,
    /// Nothing leaves before all of it was looked at.
    holds: bool,
    /// The run whose last step says this: what it says is the run's.
    onward: Option<Arc<Sink>>,
}

/// How much of the answer was put out on the way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Emitted {
    Nothing,
    /// Something: a result of `null` says nothing more.
    Some,
    /// The result says the same once more.
    All,
}

#[derive(Default)]
struct State {
    pending: Vec<EventBody>,
    pending_bytes: usize,
    /// Of the chunk that was pended last, with all that was merged into it.
    last_bytes: usize,
    total_bytes: usize,
    logs: Vec<LogLine>,
    artifacts: Vec<Artifact>,
    said_all: bool,
    /// The rules that guardrails of steps warn of.
    warnings: Vec<String>,
    output_limit: usize,
    /// Of a run: how many of its steps are over, of how many.
    place: Option<(usize, usize)>,
}

/// What is to be recorded next.
#[derive(Default)]
pub(crate) struct Batch {
    pub(crate) bodies: Vec<EventBody>,
    pub(crate) logs: Vec<LogLine>,
}

impl Sink {
    pub(crate) fn new(
        skill: &SkillName,
        output_limit: usize,
        watch: Option<SharedWatch>,
        onward: Option<Arc<Self>>,
    ) -> Self {
        let holds = watch.as_ref().is_some_and(|watch| lock(watch).holds());
        Self {
            watch,
            holds,
            state: Mutex::new(State { output_limit, ..State::default() }),
            ready: Notify::new(),
            drained: Notify::new(),
            skill: skill.clone(),
            onward,
        }
    }

    /// Where chunks go that name no artifact.
    fn default_artifact(&self) -> String {
        format!("{}-stream", self.skill)
    }

    /// Takes a chunk. False: the task has now put out more than it may.
    pub(crate) fn emit(&self, chunk: Chunk) -> bool {
        let size = size_of(&chunk.body);
        let artifact = match (chunk.artifact, &self.watch) {
            (Some(name), Some(watch)) => match lock(watch).name(name) {
                Ok(name) => Some(name),
                // The task fails when it ends, and nothing of this leaves.
                Err(_) => return true,
            },
            (name, _) => name,
        };
        let name = artifact.clone().unwrap_or_else(|| self.default_artifact());
        let blocks = blocks_of(chunk.body);
        let mut state = lock(&self.state);
        state.total_bytes += size;
        if state.total_bytes > state.output_limit {
            return false;
        }
        let last = chunk.last;
        let blocks = match &self.watch {
            Some(watch) if !self.holds => lock(watch).chunk(&name, blocks, last),
            _ => blocks,
        };
        if blocks.is_empty() && !last {
            return true;
        }
        let append = state.collect(&name, &blocks);
        if self.holds {
            return true;
        }
        let passed = self.onward.as_ref().map(|onward| (onward, blocks.clone()));
        state.pend(name, blocks, append, last, size);
        drop(state);
        self.ready.notify_one();
        passed.is_none_or(|(onward, blocks)| onward.emit(Chunk { artifact, body: ChunkBody::Blocks(blocks), last }))
    }

    /// What it says is said by a last step, which may say as much as that.
    pub(crate) fn allow(&self, output_limit: usize) {
        let mut state = lock(&self.state);
        state.output_limit = state.output_limit.max(output_limit);
        drop(state);
        if let Some(onward) = &self.onward {
            onward.allow(output_limit);
        }
    }

    /// What was held back of texts that have not been ended: nothing more follows.
    pub(crate) fn end(&self) {
        let rests = self.watch.as_ref().map(|watch| lock(watch).rests()).unwrap_or_default();
        for (name, rest) in rests {
            let mut state = lock(&self.state);
            let append = state.collect(&name, std::slice::from_ref(&rest));
            let artifact = (name != self.default_artifact()).then(|| name.clone());
            state.pend(name, vec![rest.clone()], append, false, 0);
            drop(state);
            if let Some(onward) = &self.onward {
                onward.emit(Chunk { artifact, body: ChunkBody::Blocks(vec![rest]), last: false });
            }
        }
    }

    /// Whether the artifacts are still to be looked at, and to be told.
    pub(crate) const fn holds(&self) -> bool {
        self.holds
    }

    /// Waits until the driver has caught up, and the run's.
    pub(crate) async fn room(&self) {
        if let Some(onward) = &self.onward {
            Box::pin(onward.room()).await;
        }
        loop {
            let drained = self.drained.notified();
            if lock(&self.state).pending_bytes <= HIGH_WATER {
                return;
            }
            drained.await;
        }
    }

    pub(crate) fn progress(&self, progress: Progress) {
        if let Some(onward) = &self.onward {
            onward.progress_of_last(progress.clone());
        }
        let mut state = lock(&self.state);
        // Only the latest of a run of progress reports is worth a row.
        if let Some(EventBody::Progress(last)) = state.pending.last_mut() {
            *last = progress;
        } else {
            state.pending.push(EventBody::Progress(progress));
        }
        drop(state);
        self.ready.notify_one();
    }

    /// How far the last step of a run is, as how far the run is.
    fn progress_of_last(&self, mut progress: Progress) {
        let place = lock(&self.state).place;
        if let Some((over, all)) = place {
            let part = progress.total.filter(|total| *total > 0.0).map_or(0.0, |total| progress.done / total);
            progress.done = over as f64 + part.clamp(0.0, 1.0);
            progress.total = Some(all as f64);
        }
        if let Some(watch) = &self.watch {
            lock(watch).progress(&mut progress);
        }
        self.progress(progress);
    }

    /// Takes how many steps of a run are over, of which its callers are told, if that is news. Recorded like a change of a
    /// step.
    pub(crate) fn advance(&self, over: usize, all: usize) -> Option<Progress> {
        let mut state = lock(&self.state);
        if state.place.replace((over, all)) == Some((over, all)) || over == 0 {
            return None;
        }
        let note = Some(format!("step {over} of {all}"));
        let progress = Progress { done: over as f64, total: Some(all as f64), note };
        // Only the latest is worth a row.
        state.pending.retain(|body| !matches!(body, EventBody::Progress(_)));
        state.pending.push(EventBody::Progress(progress.clone()));
        Some(progress)
    }

    /// Takes a change of a step, which is recorded with whatever comes next, or when it is rung for.
    pub(crate) fn step(&self, change: StepChange) {
        lock(&self.state).pending.push(EventBody::Step(change));
    }

    pub(crate) fn ring(&self) {
        self.ready.notify_one();
    }

    pub(crate) fn log(&self, line: LogLine) {
        lock(&self.state).logs.push(line);
        self.ready.notify_one();
    }

    /// Resolves when there is something to record.
    pub(crate) async fn ready(&self) {
        self.ready.notified().await;
    }

    pub(crate) fn take(&self) -> Batch {
        let mut state = lock(&self.state);
        state.pending_bytes = 0;
        let batch = Batch { bodies: std::mem::take(&mut state.pending), logs: std::mem::take(&mut state.logs) };
        drop(state);
        self.drained.notify_waiters();
        batch
    }

    /// Who called a run is warned of what its steps are warned of.
    pub(crate) fn warn(&self, rules: &[String]) {
        let mut state = lock(&self.state);
        for rule in rules {
            if !state.warnings.contains(rule) {
                state.warnings.push(rule.clone());
            }
        }
    }

    pub(crate) fn warnings(&self) -> Vec<String> {
        std::mem::take(&mut lock(&self.state).warnings)
    }

    /// What was put out is the whole answer.
    pub(crate) fn said_all(&self) {
        lock(&self.state).said_all = true;
    }

    pub(crate) fn emitted(&self) -> Emitted {
        let state = lock(&self.state);
        match (state.artifacts.is_empty(), state.said_all) {
            (true, _) => Emitted::Nothing,
            (false, false) => Emitted::Some,
            (false, true) => Emitted::All,
        }
    }

    /// The artifacts that the chunks added up to.
    pub(crate) fn artifacts(&self) -> Vec<Artifact> {
        std::mem::take(&mut lock(&self.state).artifacts)
    }
}

impl State {
    /// Adds to the artifact of that name; true if it was there before.
    fn collect(&mut self, name: &str, blocks: &[Block]) -> bool {
        match self.artifacts.iter_mut().find(|artifact| artifact.name == name) {
            Some(artifact) => {
                blocks.iter().for_each(|block| append(&mut artifact.blocks, block));
                true
            }
            None => {
                self.artifacts.push(Artifact::of_blocks(name, blocks.to_vec()));
                false
            }
        }
    }

    fn pend(&mut self, name: String, blocks: Vec<Block>, append_to: bool, last: bool, size: usize) {
        let merged = self.last_bytes.saturating_add(size);
        self.pending_bytes += size;
        if let Some(EventBody::Artifact(pending)) = self.pending.last_mut()
            && pending.artifact.name == name
            && !pending.last
            && merged <= limits::CallLimits::DEFAULT.event_bytes
        {
            self.last_bytes = merged;
            blocks.iter().for_each(|block| append(&mut pending.artifact.blocks, block));
            pending.last = last;
            return;
        }
        self.last_bytes = size;
        let artifact = Artifact::of_blocks(name, blocks);
        self.pending.push(EventBody::Artifact(ArtifactChunk { artifact, append: append_to, last }));
    }
}

fn size_of(body: &ChunkBody) -> usize {
    match body {
        ChunkBody::Text(text) => text.len(),
        ChunkBody::Data(data) => data.get().len(),
        ChunkBody::Blocks(blocks) => serde_json::to_vec(blocks).map_or(0, |bytes| bytes.len()),
    }
}

fn blocks_of(body: ChunkBody) -> Vec<Block> {
    match body {
        ChunkBody::Text(text) => vec![Block::text(text)],
        ChunkBody::Data(data) => vec![Block::data(data)],
        ChunkBody::Blocks(blocks) => blocks,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chunks_are_merged_up_to_the_size_of_one_event() {
        let sink = Sink::new(&SkillName::parse_skill("echo").unwrap(), 8 * limits::MIB, None, None);
        let chunk = || Chunk { artifact: None, body: ChunkBody::Text("x".repeat(1_000)), last: false };
        let fitting = limits::CallLimits::DEFAULT.event_bytes / 1_000;
        for _ in 0..2 * fitting + 1 {
            assert!(sink.emit(chunk()));
        }
        let sizes: Vec<usize> = sink.take().bodies.iter().map(|body| text_of(body).len()).collect();
        assert_eq!(sizes, [fitting * 1_000, fitting * 1_000, 1_000]);
        sink.emit(chunk());
        assert_eq!(sink.take().bodies.len(), 1, "what was taken is not added to");
    }

    fn text_of(body: &EventBody) -> &str {
        match body {
            EventBody::Artifact(chunk) => match chunk.artifact.blocks.as_slice() {
                [Block::Text { text, .. }] => text,
                other => panic!("{other:?}"),
            },
            other => panic!("{other:?}"),
        }
    }
}

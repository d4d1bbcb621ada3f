//! A commit in the form in which it is sent: made in the caller's task, so that writers only copy.

use pleat_domain::Task;
use uuid::Uuid;

use crate::writer::{Change, Commit};

/// A commit with its payloads as JSON text.
pub(super) struct Encoded {
    pub(super) commit: Commit,
    pub(super) context: Option<String>,
    pub(super) failure: Option<String>,
    pub(super) ask: Option<String>,
    pub(super) history: Option<String>,
    pub(super) artifacts: Option<String>,
    pub(super) run: Option<String>,
    pub(super) guard: Option<String>,
    pub(super) events: Vec<String>,
    pub(super) logs: Option<String>,
    /// Roughly what it weighs on the wire.
    pub(super) bytes: usize,
}

impl Encoded {
    pub(super) fn new(commit: Commit) -> Self {
        let task = &commit.task;
        let whole = commit.change != Change::Append;
        let history = (whole && !task.history.is_empty()).then(|| text(&task.history));
        let artifacts = (whole && !task.artifacts.is_empty()).then(|| text(&task.artifacts));
        let mut encoded = Self {
            context: (!task.context.is_of_task(task.id)).then(|| task.context.as_str().to_owned()),
            failure: task.failure.as_ref().map(text),
            ask: task.ask.as_ref().map(text),
            history,
            artifacts,
            run: task.run.as_ref().filter(|_| whole).map(text),
            guard: task.guard.as_ref().filter(|_| whole).map(text),
            events: commit.events.iter().map(|event| text(&event.body)).collect(),
            logs: (!commit.logs.is_empty()).then(|| text(&commit.logs)),
            bytes: 0,
            commit,
        };
        encoded.bytes = encoded.weigh();
        encoded
    }

    pub(super) fn task(&self) -> &Task {
        &self.commit.task
    }

    pub(super) fn id(&self) -> Uuid {
        self.commit.task.id.as_uuid()
    }

    /// A finished task of the common kind: called from outside, by no name of the caller's, once, and ended well.
    pub(super) fn is_bare(&self) -> bool {
        let task = self.task();
        let origin = task.parent.is_none() && task.step.is_none() && task.alias.is_none();
        let ending = [&self.failure, &self.ask, &self.run, &self.guard].into_iter().all(Option::is_none);
        origin && ending && (task.attempt, task.turn, task.last_seq) == (1, 1, 0)
    }

    /// What `handle` got never changes within a turn.
    pub(super) fn input(&self) -> Option<&str> {
        matches!(self.commit.change, Change::Insert | Change::Step | Change::Resume)
            .then(|| self.commit.task.input.get())
    }

    fn weigh(&self) -> usize {
        let payloads = [&self.failure, &self.ask, &self.history, &self.artifacts, &self.run, &self.guard, &self.logs];
        let payloads: usize = payloads.into_iter().flatten().map(String::len).sum();
        let events: usize = self.events.iter().map(String::len).sum();
        256 + payloads + events + self.input().map_or(0, str::len)
    }
}

fn text<T: serde::Serialize + ?Sized>(value: &T) -> String {
    // As with `json::raw`, what is ours can always be written.
    serde_json::to_string(value).unwrap_or_else(|_| "null".to_owned())
}

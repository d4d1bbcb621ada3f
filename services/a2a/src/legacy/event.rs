//! Events of a task as the results of an SSE stream: `tasks/sendSubscribe` and `tasks/resubscribe`.
//!
//! `final` is true on the last event of a turn and on no other.

use std::borrow::Cow;
use std::collections::HashMap;

use pleat_domain::event::{ArtifactChunk, Event, EventBody, Progress, StatusChange};
use pleat_domain::ids::{ContextId, TaskId};
use pleat_domain::message::Role;
use pleat_domain::task::{Task, TaskState};
use serde::Serialize;

use super::task::{StatusView, shown_id, status_message};
use super::view::{self, ArtifactView, MessageView};
use crate::metadata::MetadataView;

/// What every event repeats of its task.
#[derive(Debug, Clone)]
pub struct TaskHeader {
    id: String,
    context: ContextId,
}

impl TaskHeader {
    pub fn new(id: TaskId, alias: Option<String>, context: ContextId) -> Self {
        Self { id: alias.unwrap_or_else(|| id.to_string()), context }
    }

    pub fn of(task: &Task) -> Self {
        Self { id: shown_id(task), context: task.context.clone() }
    }
}

/// One stream. 0.1 clients put chunks together by `index`, which counts artifacts in the order in which they began:
/// a stream that resumes must `skip` the events that its client has seen.
#[derive(Debug)]
pub struct EventStream {
    header: TaskHeader,
    indexes: HashMap<String, usize>,
}

impl EventStream {
    pub fn new(header: TaskHeader) -> Self {
        Self { header, indexes: HashMap::new() }
    }

    /// Takes note of an event without showing it.
    pub fn skip(&mut self, event: &Event) {
        if let EventBody::Artifact(chunk) = &event.body {
            self.index_of(&chunk.artifact.name);
        }
    }

    /// The event as a result, or nothing when a caller may see nothing of it.
    pub fn event_json<'a>(&'a mut self, event: &'a Event) -> Option<EventView<'a>> {
        match &event.body {
            EventBody::Status(change) => Some(EventView(View::Status(self.status(event, change)))),
            EventBody::Progress(progress) => Some(EventView(View::Status(self.progress(event, progress)))),
            EventBody::Artifact(chunk) => {
                let index = self.index_of(&chunk.artifact.name);
                Some(EventView(View::Artifact(self.artifact(chunk, index)?)))
            }
            EventBody::Step(_) => None,
        }
    }

    fn status<'a>(&'a self, event: &Event, change: &'a StatusChange) -> StatusUpdate<'a> {
        let (id, context) = (self.header.id.as_str(), self.header.context.as_str());
        let (failure, ask) = (change.failure.as_ref(), change.ask.as_ref());
        let status = StatusView::new(change.state, event.at, status_message(failure, ask, id, context, event.at));
        let metadata = MetadataView::new(failure, ask, &change.warnings).map(EventMetadata::Status);
        self.status_update(status, event.ends_turn(), metadata)
    }

    /// The wire has no event for progress: it is a `working` that says more.
    fn progress<'a>(&'a self, event: &Event, progress: &'a Progress) -> StatusUpdate<'a> {
        let (id, context) = (self.header.id.as_str(), self.header.context.as_str());
        let message = progress.note.as_deref().map(|note| {
            let message_id = Cow::Owned(format!("{id}-progress-{}", event.seq));
            MessageView::new(message_id, Role::Agent, vec![view::text(note)], id, context)
        });
        let status = StatusView::new(TaskState::Working, event.at, message);
        self.status_update(status, false, Some(EventMetadata::Progress { progress }))
    }

    fn status_update<'a>(
        &'a self,
        status: StatusView<'a>,
        r#final: bool,
        metadata: Option<EventMetadata<'a>>,
    ) -> StatusUpdate<'a> {
        let (id, context_id) = (self.header.id.as_str(), self.header.context.as_str());
        StatusUpdate { id, task_id: id, context_id, kind: "status-update", status, r#final, metadata }
    }

    fn artifact<'a>(&'a self, chunk: &'a ArtifactChunk, index: usize) -> Option<ArtifactUpdate<'a>> {
        let (append, last_chunk) = (chunk.append, chunk.last);
        let view = ArtifactView::new(&chunk.artifact, index);
        // The end of an artifact is news even when what ended it is not for callers.
        if view.hides_all(&chunk.artifact) && !last_chunk {
            return None;
        }
        let artifact = view.chunk(append, last_chunk);
        let (id, context_id) = (self.header.id.as_str(), self.header.context.as_str());
        Some(ArtifactUpdate { id, task_id: id, context_id, kind: "artifact-update", artifact, append, last_chunk })
    }

    fn index_of(&mut self, name: &str) -> usize {
        if let Some(index) = self.indexes.get(name) {
            return *index;
        }
        let index = self.indexes.len();
        self.indexes.insert(name.to_owned(), index);
        index
    }
}

/// An event that knows how to write itself.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct EventView<'a>(View<'a>);

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum View<'a> {
    Status(StatusUpdate<'a>),
    Artifact(ArtifactUpdate<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate<'a> {
    id: &'a str,
    task_id: &'a str,
    context_id: &'a str,
    kind: &'static str,
    status: StatusView<'a>,
    r#final: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<EventMetadata<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    id: &'a str,
    task_id: &'a str,
    context_id: &'a str,
    kind: &'static str,
    artifact: ArtifactView<'a>,
    append: bool,
    last_chunk: bool,
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum EventMetadata<'a> {
    Status(MetadataView<'a>),
    Progress { progress: &'a Progress },
}

#[cfg(test)]
mod tests;

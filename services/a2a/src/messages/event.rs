//! Events of a task as the results of a stream.
//!
//! In 0.3, `final` is true on the last event of a turn and on no other; in 1.0, the end of the stream says it.

use pleat_domain::event::{ArtifactChunk, Event, EventBody, Progress, StatusChange};
use pleat_domain::task::{Task, TaskState};
use serde::Serialize;

use super::Dialect;
use super::view::{ArtifactView, MessageView, Of, StatusView, status_message};
use crate::metadata::MetadataView;

/// One stream: what every event repeats of its task.
#[derive(Debug, Clone)]
pub struct Events {
    dialect: Dialect,
    task: String,
    context: String,
}

impl Events {
    pub fn new(dialect: Dialect, task: &Task) -> Self {
        Self { dialect, task: task.id.to_string(), context: task.context.as_str().to_owned() }
    }

    /// The event as a result, or nothing when a caller may see nothing of it.
    pub fn event<'a>(&'a self, event: &'a Event) -> Option<EventView<'a>> {
        let view = match &event.body {
            EventBody::Status(change) => View::Status(self.status(event, change)),
            EventBody::Progress(progress) => View::Status(self.progress(event, progress)),
            EventBody::Artifact(chunk) => View::Artifact(self.artifact(chunk)?),
            EventBody::Step(_) => return None,
        };
        Some(EventView(match (self.dialect, view) {
            (Dialect::V03, view) => Shape::Bare(view),
            (Dialect::V1, View::Status(status_update)) => Shape::Status { status_update },
            (Dialect::V1, View::Artifact(artifact_update)) => Shape::Artifact { artifact_update },
        }))
    }

    fn of(&self) -> Of<'_> {
        Of { dialect: self.dialect, task: &self.task, context: &self.context }
    }

    fn status<'a>(&'a self, event: &Event, change: &'a StatusChange) -> StatusUpdate<'a> {
        let (failure, ask) = (change.failure.as_ref(), change.ask.as_ref());
        let message = status_message(self.of(), failure, ask, event.at);
        let status = StatusView::new(self.of(), change.state, event.at, message);
        self.status_update(
            status,
            event.ends_turn(),
            MetadataView::new(failure, ask, &change.warnings).map(EventMetadata::Status),
        )
    }

    /// The wire has no event for progress: it is a `working` that says more.
    fn progress<'a>(&'a self, event: &Event, progress: &'a Progress) -> StatusUpdate<'a> {
        let id = || format!("{}-progress-{}", self.task, event.seq);
        let message = progress.note.as_deref().map(|note| MessageView::of_agent(self.of(), id(), note));
        let status = StatusView::new(self.of(), TaskState::Working, event.at, message);
        self.status_update(status, false, Some(EventMetadata::Progress { progress }))
    }

    fn status_update<'a>(
        &'a self,
        status: StatusView<'a>,
        last: bool,
        metadata: Option<EventMetadata<'a>>,
    ) -> StatusUpdate<'a> {
        StatusUpdate {
            kind: self.dialect.kind("status-update"),
            task_id: &self.task,
            context_id: &self.context,
            status,
            r#final: (self.dialect == Dialect::V03).then_some(last),
            metadata,
        }
    }

    fn artifact<'a>(&'a self, chunk: &'a ArtifactChunk) -> Option<ArtifactUpdate<'a>> {
        let artifact = match ArtifactView::new(self.dialect, &chunk.artifact) {
            None if chunk.last => ArtifactView::end(self.dialect, &chunk.artifact),
            artifact => artifact?,
        };
        Some(ArtifactUpdate {
            kind: self.dialect.kind("artifact-update"),
            task_id: &self.task,
            context_id: &self.context,
            artifact,
            append: chunk.append,
            last_chunk: chunk.last,
        })
    }
}

/// An event that knows how to write itself.
#[derive(Debug, Serialize)]
#[serde(transparent)]
pub struct EventView<'a>(Shape<'a>);

#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
enum Shape<'a> {
    Bare(View<'a>),
    Status { status_update: StatusUpdate<'a> },
    Artifact { artifact_update: ArtifactUpdate<'a> },
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
enum View<'a> {
    Status(StatusUpdate<'a>),
    Artifact(ArtifactUpdate<'a>),
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct StatusUpdate<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    task_id: &'a str,
    context_id: &'a str,
    status: StatusView<'a>,
    #[serde(skip_serializing_if = "Option::is_none")]
    r#final: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<EventMetadata<'a>>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct ArtifactUpdate<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    kind: Option<&'static str>,
    task_id: &'a str,
    context_id: &'a str,
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

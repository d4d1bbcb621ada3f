//! The client with what every step needs of it: messages, and how to read what comes back.

use std::sync::Arc;

use a2a::{
    A2AError, AgentCard, CancelTaskRequest, GetTaskRequest, Message, Part, PartContent, Role, SendMessageConfiguration,
    SendMessageRequest, SendMessageResponse, StreamResponse, SubscribeToTaskRequest, Task, TaskState,
};
use a2a_client::agent_card::AgentCardResolver;
use a2a_client::auth::AuthInterceptor;
use a2a_client::{A2AClient, A2AClientFactory, Transport};
use anyhow::{Context, ensure};
use futures::StreamExt;

pub struct Agent {
    pub client: A2AClient<Box<dyn Transport>>,
}

impl Agent {
    /// Found by its card, and spoken to over one of the bindings that the card offers.
    pub async fn discover(url: &str, binding: &str) -> anyhow::Result<(Self, AgentCard)> {
        let card = AgentCardResolver::new(None).resolve(url).await?;
        let key = std::env::var("PLEAT_TEST_KEY").context("PLEAT_TEST_KEY is not set")?;
        let factory = A2AClientFactory::builder()
            .preferred_bindings(vec![binding.to_owned()])
            .with_interceptor(Arc::new(AuthInterceptor::bearer(key)))
            .build();
        let (client, interface) = factory.create_from_card_with_interface(&card).await?;
        ensure!(interface.protocol_binding == binding, "the card led to {interface:?}");
        Ok((Self { client }, card))
    }

    pub async fn send(&self, parts: Vec<Part>, of: Option<&Task>, immediately: bool) -> anyhow::Result<Task> {
        match self.client.send_message(&request(parts, of, immediately)).await? {
            SendMessageResponse::Task(task) => Ok(task),
            SendMessageResponse::Message(message) => anyhow::bail!("no task came back: {message:?}"),
        }
    }

    /// Sends a text and waits for the end.
    pub async fn say(&self, text: &str) -> anyhow::Result<Task> {
        self.send(vec![Part::text(text)], None, false).await
    }

    /// Sends a text and does not wait.
    pub async fn begin(&self, text: &str) -> anyhow::Result<Task> {
        self.send(vec![Part::text(text)], None, true).await
    }

    pub async fn stream(&self, text: &str) -> anyhow::Result<Vec<StreamResponse>> {
        let stream = self.client.send_streaming_message(&request(vec![Part::text(text)], None, false)).await?;
        all(stream).await
    }

    pub async fn follow(&self, task: &Task) -> anyhow::Result<Vec<StreamResponse>> {
        let request = SubscribeToTaskRequest { id: task.id.clone(), tenant: None };
        all(self.client.subscribe_to_task(&request).await?).await
    }

    pub async fn get(&self, id: &str) -> Result<Task, A2AError> {
        self.client.get_task(&GetTaskRequest { id: id.to_owned(), history_length: Some(10), tenant: None }).await
    }

    pub async fn cancel(&self, id: &str) -> Result<Task, A2AError> {
        self.client.cancel_task(&CancelTaskRequest { id: id.to_owned(), metadata: None, tenant: None }).await
    }
}

fn request(parts: Vec<Part>, of: Option<&Task>, immediately: bool) -> SendMessageRequest {
    let mut message = Message::new(Role::User, parts);
    message.task_id = of.map(|task| task.id.clone());
    message.context_id = of.map(|task| task.context_id.clone());
    let configuration = SendMessageConfiguration {
        accepted_output_modes: None,
        task_push_notification_config: None,
        history_length: None,
        return_immediately: Some(immediately),
    };
    SendMessageRequest { message, configuration: Some(configuration), metadata: None, tenant: None }
}

async fn all(
    mut stream: a2a_client::BoxStream<'static, Result<StreamResponse, A2AError>>,
) -> anyhow::Result<Vec<StreamResponse>> {
    let mut events = Vec::new();
    while let Some(event) = stream.next().await {
        events.push(event?);
    }
    Ok(events)
}

/// The state in the words that all clients' lines have.
pub fn state(state: &TaskState) -> &'static str {
    match state {
        TaskState::Unspecified => "unspecified",
        TaskState::Submitted => "submitted",
        TaskState::Working => "working",
        TaskState::Completed => "completed",
        TaskState::Failed => "failed",
        TaskState::Canceled => "canceled",
        TaskState::InputRequired => "input-required",
        TaskState::Rejected => "rejected",
        TaskState::AuthRequired => "auth-required",
    }
}

pub fn kind(event: &StreamResponse) -> &'static str {
    match event {
        StreamResponse::Task(_) => "task",
        StreamResponse::Message(_) => "message",
        StreamResponse::StatusUpdate(_) => "status",
        StreamResponse::ArtifactUpdate(_) => "artifact",
    }
}

/// The state that a stream ended with.
pub fn last_state(events: &[StreamResponse]) -> &'static str {
    match events.last() {
        Some(StreamResponse::StatusUpdate(update)) => state(&update.status.state),
        Some(StreamResponse::Task(task)) => state(&task.status.state),
        _ => "none",
    }
}

/// What the first part of the first artifact holds.
pub fn value(task: &Task) -> anyhow::Result<PartContent> {
    let artifact = task.artifacts.iter().flatten().next();
    let part = artifact.and_then(|artifact| artifact.parts.first());
    Ok(part.with_context(|| format!("nothing came out: {task:?}"))?.content.clone())
}

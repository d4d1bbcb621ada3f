//! The steps. What each line must say is in `tests/e2e/clients/steps.rs`.

use std::time::Duration;

use a2a::{
    A2AError, AgentCard, DeleteTaskPushNotificationConfigRequest, GetExtendedAgentCardRequest,
    GetTaskPushNotificationConfigRequest, ListTaskPushNotificationConfigsRequest, ListTasksRequest, ListTasksResponse,
    Part, PartContent, StreamResponse, TaskPushNotificationConfig, error_code,
};
use anyhow::Context;
use serde_json::{Value, json};

use crate::agent::{Agent, kind, last_state, state, value};

const UNKNOWN: &str = "task_0123456789abcdef0123456789abcdef";

pub fn discover(card: &AgentCard) {
    let capabilities = &card.capabilities;
    let (streaming, push) = (capabilities.streaming, capabilities.push_notifications);
    say("discover", json!({ "name": card.name, "skills": skills(card), "streaming": streaming, "push": push }));
}

/// One task after the other: sent, streamed, read, listed, followed, canceled.
pub async fn tasks(agent: &Agent) -> anyhow::Result<()> {
    let done = agent.say("hello").await?;
    say("send", json!({ "state": state(&done.status.state), "text": text(&value(&done)?) }));

    let events = agent.stream("stream 3").await?;
    let kinds: Vec<&str> = events.iter().map(kind).collect();
    let streamed: String = events.iter().map(streamed).collect();
    say("stream", json!({ "events": kinds, "state": last_state(&events), "text": streamed }));

    let again = agent.get(&done.id).await?;
    let history = again.history.as_ref().map_or(0, Vec::len);
    let same = value(&again)? == value(&done)?;
    say("get", json!({ "state": state(&again.status.state), "same": same, "history": history }));

    let first = page(agent, None).await?;
    let second = page(agent, Some(first.next_page_token.clone())).await?;
    let ids: Vec<&str> = first.tasks.iter().chain(&second.tasks).map(|task| task.id.as_str()).collect();
    let more = !first.next_page_token.is_empty() && ids.len() == 2 && ids.first() != ids.last();
    say("list", json!({ "found": ids.contains(&done.id.as_str()), "more": more }));

    let slow = agent.begin("slow 1").await?;
    say("nonblocking", json!({ "state": state(&slow.status.state) }));
    let followed = agent.follow(&slow).await?;
    say("subscribe", json!({ "first": followed.first().map(kind), "state": last_state(&followed) }));

    let slow = agent.begin("slow 60").await?;
    say("cancel", json!({ "state": state(&agent.cancel(&slow.id).await?.status.state) }));
    say("missing", json!({ "error": refused(agent.get(UNKNOWN).await) }));
    say("cancel-finished", json!({ "error": refused(agent.cancel(&done.id).await) }));
    Ok(())
}

/// Several turns, files in both directions, and the ends that are none.
pub async fn turns(agent: &Agent) -> anyhow::Result<()> {
    let asked = agent.say("ask").await?;
    let answered = agent.send(vec![Part::text("Ada")], Some(&asked), false).await?;
    let PartContent::Data(greeting) = value(&answered)? else { anyhow::bail!("no data: {answered:?}") };
    let (first, then) = (state(&asked.status.state), state(&answered.status.state));
    say("multi-turn", json!({ "first": first, "then": then, "greeting": greeting.get("greeting") }));

    let mine = Part::raw(b"a file of mine".to_vec()).with_filename("mine.txt").with_media_type("text/plain");
    let PartContent::Data(seen) = value(&agent.send(vec![mine], None, false).await?)? else {
        anyhow::bail!("what was seen of the file is no data")
    };
    let blob = seen.pointer("/content/0/resource/blob").and_then(Value::as_str).context("no file was seen")?;
    // The library reads base64 for its parts: that of ours is the way to have the bytes of a value.
    let back: Part = serde_json::from_value(json!({ "raw": blob }))?;
    let (bytes, uri) = (value(&agent.say("file").await?)?, value(&agent.say("link").await?)?);
    say("files", json!({ "sent": text(&back.content), "bytes": text(&bytes), "uri": text(&uri) }));

    let mut ends = serde_json::Map::new();
    for word in ["fail", "reject", "auth"] {
        ends.insert(word.to_owned(), json!(state(&agent.say(word).await?.status.state)));
    }
    say("failures", Value::Object(ends));
    Ok(())
}

pub async fn push(agent: &Agent) -> anyhow::Result<()> {
    let webhook = std::env::var("PLEAT_TEST_WEBHOOK").context("PLEAT_TEST_WEBHOOK is not set")?;
    let slow = agent.begin("slow 1").await?;
    let wish = TaskPushNotificationConfig {
        url: webhook.clone(),
        id: None,
        task_id: slow.id.clone(),
        token: Some("token-of-the-test".to_owned()),
        authentication: None,
        tenant: None,
    };
    let made = agent.client.create_push_config(&wish).await?;
    let id = made.id.clone().context("the configuration has no id")?;
    let named = GetTaskPushNotificationConfigRequest { task_id: slow.id.clone(), id: id.clone(), tenant: None };
    let got = agent.client.get_push_config(&named).await?;
    let all = ListTaskPushNotificationConfigsRequest {
        task_id: slow.id.clone(),
        page_size: None,
        page_token: None,
        tenant: None,
    };
    let listed = agent.client.list_push_configs(&all).await?;
    agent.follow(&slow).await?;
    tokio::time::sleep(Duration::from_secs(1)).await;
    let gone = DeleteTaskPushNotificationConfigRequest { task_id: slow.id.clone(), id, tenant: None };
    agent.client.delete_push_config(&gone).await?;
    let left = agent.client.list_push_configs(&all).await?;
    let (set, got, listed, left) = (made.url == webhook, got.id == made.id, listed.configs.len(), left.configs.len());
    say("push", json!({ "set": set, "got": got, "listed": listed, "left": left }));
    Ok(())
}

pub async fn extended(agent: &Agent) -> anyhow::Result<()> {
    let card = agent.client.get_extended_agent_card(&GetExtendedAgentCardRequest { tenant: None }).await?;
    say("extended", json!({ "skills": skills(&card) }));
    Ok(())
}

async fn page(agent: &Agent, token: Option<String>) -> anyhow::Result<ListTasksResponse> {
    let request = ListTasksRequest {
        context_id: None,
        status: None,
        page_size: Some(1),
        page_token: token,
        history_length: None,
        status_timestamp_after: None,
        include_artifacts: None,
        tenant: None,
    };
    Ok(agent.client.list_tasks(&request).await?)
}

fn skills(card: &AgentCard) -> Vec<&str> {
    card.skills.iter().map(|skill| skill.id.as_str()).collect()
}

/// The piece of the streamed artifact in it.
fn streamed(event: &StreamResponse) -> String {
    match event {
        StreamResponse::ArtifactUpdate(update) if update.artifact.name.as_deref() == Some("behaviours-stream") => {
            update.artifact.parts.iter().filter_map(Part::as_text).collect()
        }
        _ => String::new(),
    }
}

/// A text, an address, or bytes that are text.
fn text(content: &PartContent) -> String {
    match content {
        PartContent::Text(text) | PartContent::Url(text) => text.clone(),
        PartContent::Raw(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        PartContent::Data(data) => data.to_string(),
    }
}

/// The name of the error that it ended with.
fn refused<T>(answer: Result<T, A2AError>) -> Option<String> {
    let error = answer.err()?;
    Some(match error.code {
        error_code::TASK_NOT_FOUND => "TaskNotFound".to_owned(),
        error_code::TASK_NOT_CANCELABLE => "TaskNotCancelable".to_owned(),
        code => format!("{code}: {}", error.message),
    })
}

fn say(step: &str, mut found: Value) {
    if let Some(found) = found.as_object_mut() {
        found.insert("step".to_owned(), json!(step));
    }
    println!("{found}");
}

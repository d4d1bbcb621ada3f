//! Resources: what functions offer, what they say of themselves, and tasks.

use pleat_domain::{Manifest, Task, timestamp};
use serde_json::{Map, Value, json};

use crate::content;
use crate::template;
use crate::tool;
use crate::version::Version;

const JSON: &str = "application/json";
const MARKDOWN: &str = "text/markdown";
const DOCS: &str = "pleat://functions/";
const TASK: &str = "a2a://task/";

/// What a URI stands for.
#[derive(Debug, PartialEq, Eq)]
pub enum Place<'a> {
    /// The description of a function.
    Docs(&'a str),
    Task(&'a str),
    /// Whatever a function offers under it.
    Offered,
}

impl<'a> Place<'a> {
    pub fn of(uri: &'a str) -> Self {
        match (uri.strip_prefix(DOCS), uri.strip_prefix(TASK)) {
            (Some(name), _) => Self::Docs(name),
            (_, Some(id)) => Self::Task(id),
            _ => Self::Offered,
        }
    }
}

pub fn task_uri(id: impl std::fmt::Display) -> String {
    format!("{TASK}{id}")
}

/// What is listed for a function: its description, and what it offers.
pub fn listed(name: &str, manifest: &Manifest) -> Vec<Value> {
    let docs = json!({
        "uri": format!("{DOCS}{name}"),
        "name": format!("{name} (documentation)"),
        "description": format!("What the tool {name} takes and gives, with examples"),
        "mimeType": MARKDOWN,
    });
    let offered = manifest.resources.iter().filter_map(|resource| entry(resource, "uri"));
    std::iter::once(docs).chain(offered).collect()
}

pub fn templates(manifest: &Manifest) -> Vec<Value> {
    manifest.resource_templates.iter().filter_map(|template| entry(template, "uriTemplate")).collect()
}

pub fn task_template() -> Value {
    json!({
        "uriTemplate": format!("{TASK}{{id}}"),
        "name": "Task",
        "description": "A task of yours: its state, its messages and what it delivered. Subscribe to be told of changes",
        "mimeType": JSON,
    })
}

/// An entry with all that a client needs; nothing for one without an address. `values` is ours, for completion.
fn entry(given: &Value, address: &str) -> Option<Value> {
    let mut entry = given.as_object()?.clone();
    let uri = entry.get(address)?.as_str()?.to_owned();
    entry.entry("name").or_insert_with(|| Value::from(uri));
    entry.remove("values");
    Some(Value::Object(entry))
}

/// Whether a function offers this address.
pub fn offers(manifest: &Manifest, uri: &str) -> bool {
    let listed = manifest.resources.iter().any(|resource| resource.get("uri").is_some_and(|own| own == uri));
    listed || template_of(manifest, uri).is_some()
}

fn template_of<'a>(manifest: &'a Manifest, uri: &str) -> Option<&'a Value> {
    let fits = |one: &&Value| one.get("uriTemplate").and_then(Value::as_str).is_some_and(|t| template::matches(t, uri));
    manifest.resource_templates.iter().find(fits)
}

/// The answer to `resources/read` for one text.
pub fn text(uri: &str, mime_type: &str, text: &str) -> Map<String, Value> {
    let contents = json!([{ "uri": uri, "mimeType": mime_type, "text": text }]);
    Map::from_iter([("contents".to_owned(), contents)])
}

/// A function as somebody reads it who wants to call it.
pub fn docs(uri: &str, name: &str, manifest: &Manifest) -> Map<String, Value> {
    let mut page =
        format!("# {}\n\n{}\n", manifest.title.as_deref().unwrap_or(name), tool::description(name, manifest));
    let mut section = |title: &str, value: &Value| {
        let body = serde_json::to_string_pretty(value).unwrap_or_default();
        page.push_str(&format!("\n## {title}\n\n```json\n{body}\n```\n"));
    };
    section("Arguments", &tool::input_schema(manifest.input.as_ref()));
    if let Some(output) = &manifest.output {
        section("Result", output);
    }
    for example in &manifest.examples {
        section("Example", example);
    }
    text(uri, MARKDOWN, &page)
}

/// A task as its caller may see it.
pub fn task(uri: &str, task: &Task) -> Map<String, Value> {
    let blocks = |all: &[pleat_domain::Block]| -> Vec<Value> {
        let shown = all.iter().filter_map(content::Content::of);
        shown.filter_map(|one| serde_json::to_value(one).ok()).collect()
    };
    let messages: Vec<Value> = match task.history.is_empty() {
        true => vec![json!({ "role": "user", "content": blocks(&[pleat_domain::Block::of_input(&task.input)]) })],
        false => task
            .history
            .iter()
            .map(|message| json!({ "role": message.role, "content": blocks(&message.content) }))
            .collect(),
    };
    let artifacts: Vec<Value> = task
        .artifacts
        .iter()
        .map(|artifact| json!({ "name": artifact.name, "content": content::of_artifact(artifact, Version::V2026_07_28) }))
        .collect();
    let mut view = json!({
        "id": task.id,
        "skill": task.skill,
        "state": task.state,
        "createdAt": timestamp::format(task.created_at),
        "updatedAt": timestamp::format(task.updated_at),
        "messages": messages,
        "artifacts": artifacts,
    });
    if let (Some(failure), Some(view)) = (&task.failure, view.as_object_mut()) {
        let shown = json!({ "reason": failure.reason, "code": failure.code, "message": failure.message });
        view.insert("failure".to_owned(), shown);
    }
    text(uri, JSON, &view.to_string())
}

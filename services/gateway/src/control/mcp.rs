//! The operators' door: a tenant's platform as tools, so that an assistant builds and ships a function in one
//! conversation.
//!
//! A key sees and uses what it may use over the control API, and nothing more. What a function asks for is not granted
//! here: that takes somebody who reads what is asked for.

mod pipelines;
mod tools;

use std::sync::Arc;

use pleat_domain::{Door, Principal, Scope, SkillName, TaskState, Visibility, json};
use pleat_engine::{Callable, EngineError, Invocation, LogQuery, TaskQuery, Upload};
use pleat_mcp::RpcError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;
use serde_json::{Map, Value, json};

use super::views::{Deployed, FunctionView, LogView, RolledBack, TaskView, VersionView};
use crate::mcp::Peer;
use crate::problem::Problem;

/// What this key may use.
pub(crate) fn tools(principal: &Principal) -> Vec<Value> {
    let usable = tools::ALL.iter().filter(|tool| principal.has(tool.scope) || reads(principal, tool.scope));
    usable.map(tools::Tool::view).collect()
}

/// Whoever deploys, or keeps the keys, sees the tenant too.
fn reads(principal: &Principal, scope: Scope) -> bool {
    scope == Scope::Read && principal.sees_all_tasks()
}

/// A tool's result. What the caller can mend is a result that says so; everything else is an error.
pub(crate) async fn call(peer: &Peer, name: &str, arguments: Option<&RawValue>) -> Result<Map<String, Value>, Problem> {
    let tool = tools::ALL.iter().find(|tool| tool.name == name);
    let shown: String = name.chars().take(80).collect();
    let tool = tool.ok_or_else(|| RpcError::invalid_params(format!("unknown tool `{shown}`")))?;
    if !peer.principal.has(tool.scope) && !reads(&peer.principal, tool.scope) {
        if let Some(action) = tool.action() {
            let target: Named = read(arguments).unwrap_or_else(|_| Named { name: String::new() });
            peer.app.engine.audit_denied(&peer.principal, action, &target.name).await;
        }
        return Err(EngineError::Forbidden(tool.scope).into());
    }
    match used(peer, tool.name, arguments).await {
        Ok(done) => Ok(result(&done.value, done.failed)),
        Err(error) if is_mendable(&error) => Ok(result(&failure(&error), true)),
        Err(error) => Err(error.into()),
    }
}

/// What a tool has to say.
struct Done {
    value: Value,
    /// It is about something that failed.
    failed: bool,
}

impl From<Value> for Done {
    fn from(value: Value) -> Self {
        Self { value, failed: false }
    }
}

async fn used(peer: &Peer, tool: &str, arguments: Option<&RawValue>) -> Result<Done, EngineError> {
    Ok(match tool {
        "deploy_function" => deploy(peer, read(arguments)?).await?.into(),
        "list_functions" => list(peer).await?.into(),
        "show_function" => show(peer, read(arguments)?).await?.into(),
        "call_function" => invoke(peer, read(arguments)?).await?,
        "read_logs" => logs(peer, read(arguments)?).await?.into(),
        "rollback_function" => rollback(peer, read(arguments)?).await?.into(),
        "delete_function" => delete(peer, read(arguments)?).await?.into(),
        "deploy_pipeline" => pipelines::deploy(peer, read(arguments)?).await?.into(),
        "list_pipelines" => pipelines::list(peer).await?.into(),
        "run_pipeline" => pipelines::run(peer, read(arguments)?).await?,
        _ => tasks(peer, read(arguments)?).await?.into(),
    })
}

fn is_mendable(error: &EngineError) -> bool {
    matches!(
        error,
        EngineError::NotDeployable(_)
            | EngineError::Describe(_)
            | EngineError::BadPipeline(_)
            | EngineError::Exists { .. }
            | EngineError::InvalidInput(_)
            | EngineError::Invalid(_)
            | EngineError::NotFound { .. }
            | EngineError::UnknownSkill(_)
    )
}

fn failure(error: &EngineError) -> Value {
    let detail = match error {
        EngineError::Describe(failure) => failure.detail.clone(),
        _ => None,
    };
    let mut told = json!({ "error": error.to_string(), "detail": detail });
    if let (EngineError::BadPipeline(faults), Some(told)) = (error, told.as_object_mut()) {
        told.insert("faults".to_owned(), view(&faults.faults));
    }
    told
}

fn result(value: &Value, is_error: bool) -> Map<String, Value> {
    let text = serde_json::to_string_pretty(value).unwrap_or_default();
    let mut result = Map::from_iter([("content".to_owned(), json!([{ "type": "text", "text": text }]))]);
    match is_error {
        true => result.insert("isError".to_owned(), Value::Bool(true)),
        false => result.insert("structuredContent".to_owned(), value.clone()),
    };
    result
}

/// What does not fit is for the model to mend.
fn read<T: DeserializeOwned>(arguments: Option<&RawValue>) -> Result<T, EngineError> {
    let text = arguments.map_or("{}", RawValue::get);
    serde_json::from_str(text).map_err(|error| EngineError::Invalid(format!("the arguments do not fit: {error}")))
}

fn view<T: serde::Serialize>(value: &T) -> Value {
    serde_json::to_value(value).unwrap_or_default()
}

fn tenant_url(peer: &Peer) -> String {
    format!("{}/t/{}", peer.base_url, peer.tenant.slug)
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct Source {
    name: String,
    source: String,
    #[serde(default)]
    language: Language,
    #[serde(default)]
    unlisted: bool,
}

#[derive(Deserialize, Default)]
#[serde(rename_all = "lowercase")]
enum Language {
    #[default]
    Javascript,
    Typescript,
    Wat,
}

async fn deploy(peer: &Peer, wanted: Source) -> Result<Value, EngineError> {
    let ending = match wanted.language {
        Language::Javascript => "js",
        Language::Typescript => "ts",
        Language::Wat => "wat",
    };
    let upload = Upload {
        file_name: format!("{}.{ending}", wanted.name),
        bytes: wanted.source.into(),
        name: Some(wanted.name),
        visibility: wanted.unlisted.then_some(Visibility::Unlisted),
        grants: Vec::new(),
    };
    let report = peer.app.engine.deploy(&peer.tenant, &peer.principal, upload).await?;
    Ok(view(&Deployed::new(report, &tenant_url(peer))))
}

async fn list(peer: &Peer) -> Result<Value, EngineError> {
    let skills = peer.app.engine.functions(&peer.tenant, &peer.principal).await?;
    let url = tenant_url(peer);
    let all: Vec<Value> = skills.iter().map(|skill| view(&FunctionView::brief(skill, &url))).collect();
    Ok(json!({ "functions": all }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Named {
    name: String,
}

async fn show(peer: &Peer, wanted: Named) -> Result<Value, EngineError> {
    let (engine, tenant, principal) = (&peer.app.engine, &peer.tenant, &peer.principal);
    let skill = engine.function(tenant, principal, &wanted.name).await?;
    let versions = engine.versions(tenant, principal, &wanted.name).await?;
    let mut shown = view(&FunctionView::whole(&skill, &tenant_url(peer)));
    let versions: Vec<Value> = versions.into_iter().map(|row| view(&VersionView::from(row))).collect();
    if let Some(shown) = shown.as_object_mut() {
        shown.insert("versions".to_owned(), Value::from(versions));
    }
    Ok(shown)
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Input {
    name: String,
    #[serde(default)]
    input: Value,
}

/// The task as its owner sees it, its result included.
async fn invoke(peer: &Peer, wanted: Input) -> Result<Done, EngineError> {
    let catalog = peer.app.engine.catalog(&peer.tenant).await?;
    let skill = catalog.choose(&peer.principal, Some(&wanted.name))?;
    send(peer, skill, &wanted.input).await
}

async fn send(peer: &Peer, skill: Callable, input: &Value) -> Result<Done, EngineError> {
    let invocation = Box::new(Invocation {
        tenant: Arc::clone(&peer.tenant),
        principal: peer.principal.clone(),
        skill,
        input: json::raw(input),
        message: None,
        context: None,
        alias: None,
        once: None,
        push: None,
        door: Door::Control,
    });
    let task = peer.app.engine.send(invocation).await?;
    let failed = task.state.is_terminal() && task.state != TaskState::Completed;
    Ok(Done { value: view(&TaskView::from(Arc::unwrap_or_clone(task))), failed })
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Wanted {
    #[serde(default)]
    name: Option<String>,
    #[serde(default)]
    state: Option<String>,
    #[serde(default)]
    limit: Option<u32>,
}

impl Wanted {
    fn skill(&self) -> Result<Option<SkillName>, EngineError> {
        let parsed = self.name.as_deref().map(SkillName::parse_skill).transpose();
        parsed.map_err(|fault| EngineError::Invalid(fault.to_string()))
    }
}

async fn logs(peer: &Peer, wanted: Wanted) -> Result<Value, EngineError> {
    let query = LogQuery { skill: wanted.skill()?, limit: wanted.limit.unwrap_or(100), ..LogQuery::default() };
    let page = peer.app.engine.logs(&peer.tenant, &peer.principal, query).await?;
    let lines: Vec<Value> = page.entries.into_iter().map(|entry| view(&LogView::from(entry))).collect();
    Ok(json!({ "lines": lines }))
}

async fn tasks(peer: &Peer, wanted: Wanted) -> Result<Value, EngineError> {
    let state = match &wanted.state {
        None => None,
        Some(text) => {
            let known = TaskState::ALL.into_iter().find(|state| state.as_str() == text);
            Some(known.ok_or_else(|| EngineError::Invalid("`state` is no state of a task".to_owned()))?)
        }
    };
    let query = TaskQuery { skill: wanted.skill()?, state, limit: wanted.limit.unwrap_or(20), ..TaskQuery::default() };
    let page = peer.app.engine.list_tasks(&peer.tenant, &peer.principal, query).await?;
    let tasks: Vec<Value> = page.tasks.into_iter().map(|task| view(&TaskView::from(task))).collect();
    Ok(json!({ "tasks": tasks, "more": page.more }))
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Back {
    name: String,
    #[serde(default)]
    version: Option<i32>,
}

async fn rollback(peer: &Peer, wanted: Back) -> Result<Value, EngineError> {
    let engine = &peer.app.engine;
    let report = engine.rollback(&peer.tenant, &peer.principal, &wanted.name, wanted.version).await?;
    Ok(view(&RolledBack { name: wanted.name, version: report.version, warnings: report.warnings }))
}

async fn delete(peer: &Peer, wanted: Named) -> Result<Value, EngineError> {
    let warnings = peer.app.engine.delete_function(&peer.tenant, &peer.principal, &wanted.name).await?;
    Ok(match warnings.is_empty() {
        true => json!({ "deleted": wanted.name }),
        false => json!({ "deleted": wanted.name, "warnings": warnings }),
    })
}

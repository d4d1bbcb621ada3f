//! The operators' tools for pipelines.

use pleat_domain::SkillName;
use pleat_engine::{EngineError, PipelineUpload};
use serde::Deserialize;
use serde_json::{Value, json};

use super::{Done, Input, send, tenant_url, view};
use crate::control::views::pipelines::{DeployedPipeline, PipelineView};
use crate::mcp::Peer;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Definition {
    definition: String,
    #[serde(default)]
    activate: bool,
}

pub(super) async fn deploy(peer: &Peer, wanted: Definition) -> Result<Value, EngineError> {
    let upload = PipelineUpload { text: wanted.definition, activate: wanted.activate, visibility: None };
    let report = peer.app.engine.deploy_pipeline(&peer.tenant, &peer.principal, upload).await?;
    Ok(view(&DeployedPipeline::new(report, &tenant_url(peer))))
}

pub(super) async fn list(peer: &Peer) -> Result<Value, EngineError> {
    let rows = peer.app.engine.pipelines(&peer.tenant, &peer.principal, None).await?;
    let url = tenant_url(peer);
    let all: Vec<Value> = rows.iter().map(|row| view(&PipelineView::brief(row, &url))).collect();
    Ok(json!({ "pipelines": all }))
}

pub(super) async fn run(peer: &Peer, wanted: Input) -> Result<Done, EngineError> {
    let name = SkillName::parse(&wanted.name).map_err(|_| EngineError::UnknownSkill(wanted.name.clone()))?;
    let skill = peer.app.engine.catalog(&peer.tenant).await?.choose_pipeline(&peer.principal, &name)?;
    send(peer, skill, &wanted.input).await
}

//! What the control API says of pipelines, and of what is wrong with one.

use pleat_domain::{SkillName, timestamp};
use pleat_engine::{Fault, PipelineReport, PipelineRow, PipelineVersion};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineView {
    pub(crate) name: String,
    /// As callers name it.
    pub(crate) skill: String,
    /// draft, active or archived.
    pub(crate) state: String,
    pub(crate) version: i32,
    pub(crate) hash: String,
    pub(crate) visibility: String,
    pub(crate) description: String,
    pub(crate) updated_at: String,
    pub(crate) url: String,
    /// The text as it was sent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) source: Option<String>,
    /// Its canonical form.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(value_type = Option<Object>)]
    pub(crate) definition: Option<Value>,
}

impl PipelineView {
    pub(crate) fn brief(row: &PipelineRow, tenant_url: &str) -> Self {
        let skill = SkillName::pipeline(&row.name);
        let definition: Value = serde_json::from_str(&row.definition).unwrap_or_default();
        let description = definition.get("description").and_then(Value::as_str).unwrap_or_default().to_owned();
        Self {
            name: row.name.to_string(),
            state: row.state.as_str().to_owned(),
            version: row.version,
            hash: row.hash.to_hex(),
            visibility: row.visibility.as_str().to_owned(),
            description,
            updated_at: timestamp::format(row.updated_at),
            url: format!("{tenant_url}/{skill}"),
            skill: skill.into(),
            source: None,
            definition: None,
        }
    }

    pub(crate) fn whole(row: &PipelineRow, version: PipelineVersion, tenant_url: &str) -> Self {
        Self {
            source: Some(version.source),
            definition: serde_json::from_str(&row.definition).ok(),
            ..Self::brief(row, tenant_url)
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Pipelines {
    pub(crate) pipelines: Vec<PipelineView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeployedPipeline {
    pub(crate) name: String,
    pub(crate) skill: String,
    pub(crate) version: i32,
    /// False: this very definition was there already.
    pub(crate) created: bool,
    pub(crate) state: String,
    pub(crate) visibility: String,
    pub(crate) url: String,
    pub(crate) warnings: Vec<FaultView>,
    /// Active pipelines that call it and that the new version does not suit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) strained: Vec<String>,
}

impl DeployedPipeline {
    pub(crate) fn new(report: PipelineReport, tenant_url: &str) -> Self {
        let skill = SkillName::pipeline(&report.name);
        Self {
            name: report.name.to_string(),
            version: report.deployed.version,
            created: report.deployed.created,
            state: report.deployed.state.as_str().to_owned(),
            visibility: report.deployed.visibility.as_str().to_owned(),
            url: format!("{tenant_url}/{skill}"),
            skill: skill.into(),
            warnings: report.warnings.into_iter().map(FaultView::from).collect(),
            strained: report.strained,
        }
    }
}

/// What was only looked at.
#[derive(Serialize, ToSchema)]
pub(crate) struct CheckedPipeline {
    pub(crate) name: String,
    pub(crate) warnings: Vec<FaultView>,
}

/// One fault of a definition, with its place in the text.
#[derive(Serialize, ToSchema)]
pub(crate) struct FaultView {
    pub(crate) line: u32,
    pub(crate) column: u32,
    /// JSON pointer into the document.
    pub(crate) pointer: String,
    pub(crate) message: String,
    pub(crate) hint: String,
}

impl From<Fault> for FaultView {
    fn from(fault: Fault) -> Self {
        Self {
            line: fault.position.line,
            column: fault.position.column,
            pointer: fault.pointer,
            message: fault.message,
            hint: fault.hint,
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PipelineVersionView {
    pub(crate) version: i32,
    /// The one that runs.
    pub(crate) current: bool,
    pub(crate) hash: String,
    pub(crate) created_at: String,
    pub(crate) created_by: String,
}

impl From<PipelineVersion> for PipelineVersionView {
    fn from(row: PipelineVersion) -> Self {
        Self {
            version: row.version,
            current: row.current,
            hash: row.hash.to_hex(),
            created_at: timestamp::format(row.created_at),
            created_by: row.created_by,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PipelineVersions {
    pub(crate) versions: Vec<PipelineVersionView>,
}

#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Replay {
    /// The step from which everything is called again.
    pub(crate) from: String,
}

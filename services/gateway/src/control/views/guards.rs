//! Guardrails: policies as they were written, and findings, which never carry the value.

use pleat_domain::timestamp;
use pleat_engine::{FindingRow, GuardAction, PolicyRow, Replayed, SkillPolicy};
use serde::Serialize;
use serde_json::Value;
use time::OffsetDateTime;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PolicyView {
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) skill: String,
    pub(crate) policy: Value,
    pub(crate) updated_at: String,
    pub(crate) updated_by: String,
}

impl From<PolicyRow> for PolicyView {
    fn from(row: PolicyRow) -> Self {
        Self {
            skill: row.skill,
            policy: serde_json::from_str(&row.policy).unwrap_or_default(),
            updated_at: timestamp::format(row.updated_at),
            updated_by: row.updated_by,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct SkillPolicyView {
    pub(crate) skill: String,
    /// `skill`, `function` (its manifest) or `default`; `null` where no policy holds.
    pub(crate) from: Option<&'static str>,
    /// The skill's or the function's own.
    pub(crate) policy: Option<Value>,
    /// All that is checked, with what the default adds.
    pub(crate) effective: Value,
}

impl From<SkillPolicy> for SkillPolicyView {
    fn from(policy: SkillPolicy) -> Self {
        let SkillPolicy { skill, from, policy, effective } = policy;
        Self { skill: skill.to_string(), from, policy, effective }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Policies {
    /// The tenant's default; `null` where none is set.
    pub(crate) default: Option<PolicyView>,
    pub(crate) skills: Vec<PolicyView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct FindingView {
    pub(crate) at: String,
    /// None where the call was refused before it became a task.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) task: Option<String>,
    pub(crate) skill: String,
    pub(crate) caller: String,
    pub(crate) door: String,
    /// `input` or `output`.
    pub(crate) side: String,
    pub(crate) check: String,
    pub(crate) rule: String,
    pub(crate) action: String,
    pub(crate) severity: String,
    /// `enforce`, or `shadow`: then nothing was done.
    pub(crate) mode: String,
    /// JSON pointer of the place.
    pub(crate) pointer: String,
    /// Keyed: the same value of the same tenant has the same.
    pub(crate) hash: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) placeholder: Option<String>,
}

impl From<FindingRow> for FindingView {
    fn from(row: FindingRow) -> Self {
        Self {
            at: timestamp::format(moment(&row)),
            task: row.task.map(|task| task.to_string()),
            skill: row.skill,
            caller: row.caller,
            door: row.door,
            side: row.side,
            check: row.check,
            rule: row.rule,
            action: row.action,
            severity: row.severity,
            mode: row.mode,
            pointer: row.pointer,
            hash: row.hash,
            placeholder: row.placeholder,
        }
    }
}

/// Its id says when it was found.
fn moment(row: &FindingRow) -> OffsetDateTime {
    let (seconds, nanos) = row.id.get_timestamp().map_or((0, 0), |at| at.to_unix());
    let at = OffsetDateTime::from_unix_timestamp(i64::try_from(seconds).unwrap_or(0));
    at.unwrap_or(OffsetDateTime::UNIX_EPOCH) + std::time::Duration::from_nanos(u64::from(nanos))
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Findings {
    pub(crate) violations: Vec<FindingView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

/// What a draft would have done.
#[derive(Serialize, ToSchema)]
pub(crate) struct Replay {
    /// How many tasks were looked at, and what would have been done to so many of them.
    pub(crate) tasks: usize,
    pub(crate) blocked: usize,
    pub(crate) redacted: usize,
    pub(crate) warned: usize,
    pub(crate) logged: usize,
    /// The tasks in which something is found.
    pub(crate) found: Vec<ReplayedView>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct ReplayedView {
    pub(crate) task: String,
    pub(crate) skill: String,
    pub(crate) at: String,
    /// The strictest; `null` where all that is found is in shadow mode.
    pub(crate) action: Option<&'static str>,
    /// Each with `side`, `check`, `rule`, `pointer`, …
    pub(crate) findings: Vec<Value>,
}

impl Replay {
    pub(crate) fn of(tasks: &[Replayed]) -> Self {
        let count = |action: GuardAction| tasks.iter().filter(|task| task.action == Some(action)).count();
        Self {
            tasks: tasks.len(),
            blocked: count(GuardAction::Block),
            redacted: count(GuardAction::Redact),
            warned: count(GuardAction::Warn),
            logged: count(GuardAction::Log),
            found: tasks.iter().filter(|task| !task.findings.is_empty()).map(ReplayedView::of).collect(),
        }
    }
}

impl ReplayedView {
    fn of(task: &Replayed) -> Self {
        let finding = |(side, finding): &(pleat_engine::Side, pleat_engine::Finding)| {
            let mut value = serde_json::to_value(finding).unwrap_or_default();
            if let Some(fields) = value.as_object_mut() {
                fields.insert("side".to_owned(), Value::from(side.as_str()));
            }
            value
        };
        Self {
            task: task.task.to_string(),
            skill: task.skill.as_ref().map(ToString::to_string).unwrap_or_default(),
            at: timestamp::format(task.at),
            action: task.action.map(GuardAction::as_str),
            findings: task.findings.iter().map(finding).collect(),
        }
    }
}

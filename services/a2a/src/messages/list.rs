//! Lists of tasks: a method of 1.0, and for callers of 0.3 an extension in their words.

use pleat_domain::ids::ContextId;
use pleat_domain::task::{Task, TaskState};
use serde::{Serialize, Serializer};
use time::OffsetDateTime;

use super::params::tenant;
use super::{Dialect, Show, TaskView, message};
use crate::error::InvalidParams;
use crate::fields::Fields;

/// How many tasks a page has if nothing is said.
const PAGE: u32 = 50;
const PAGE_MOST: u32 = 100;

#[derive(Debug)]
pub struct ListParams {
    pub context: Option<ContextId>,
    pub state: Option<TaskState>,
    pub since: Option<OffsetDateTime>,
    pub page_size: u32,
    pub page_token: Option<String>,
    pub history_length: Option<u32>,
    pub artifacts: bool,
    pub tenant: Option<String>,
}

impl ListParams {
    pub(super) fn read(fields: &Fields<'_>, dialect: Dialect) -> Result<Self, InvalidParams> {
        Ok(Self {
            context: message::context(fields, dialect)?,
            state: state(fields, dialect)?,
            since: fields.time("statusTimestampAfter")?,
            page_size: page_size(fields)?.unwrap_or(PAGE),
            page_token: fields.string("pageToken")?.filter(|token| !token.is_empty()),
            history_length: fields.int32("historyLength")?,
            artifacts: fields.boolean("includeArtifacts")?.unwrap_or(false),
            tenant: tenant(fields, dialect)?,
        })
    }
}

/// What a page may have; none if nothing is said.
pub(super) fn page_size(fields: &Fields<'_>) -> Result<Option<u32>, InvalidParams> {
    let size = fields.int32("pageSize")?;
    match size {
        Some(size) if !(1..=PAGE_MOST).contains(&size) => Err(fields.invalid("pageSize", "must be 1 to 100")),
        size => Ok(size),
    }
}

fn state(fields: &Fields<'_>, dialect: Dialect) -> Result<Option<TaskState>, InvalidParams> {
    let Some(text) = fields.string("status")? else { return Ok(None) };
    // What an enumeration is when nobody has said anything.
    if dialect == Dialect::V1 && matches!(text.as_str(), "" | "TASK_STATE_UNSPECIFIED") {
        return Ok(None);
    }
    let names: Vec<&str> = TaskState::ALL.into_iter().map(|state| dialect.state(state)).collect();
    let unknown = || fields.invalid("status", &format!("must be one of {}", names.join(", ")));
    dialect.state_of(&text).map(Some).ok_or_else(unknown)
}

/// A page of a list.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PageView<'a> {
    tasks: Tasks<'a>,
    next_page_token: &'a str,
    page_size: u32,
    total_size: u32,
}

impl<'a> PageView<'a> {
    pub fn new(
        dialect: Dialect,
        tasks: &'a [Task],
        show: Show,
        next: Option<&'a str>,
        page_size: u32,
        total_size: u32,
    ) -> Self {
        Self { tasks: Tasks { dialect, tasks, show }, next_page_token: next.unwrap_or_default(), page_size, total_size }
    }
}

#[derive(Debug)]
struct Tasks<'a> {
    dialect: Dialect,
    tasks: &'a [Task],
    show: Show,
}

impl Serialize for Tasks<'_> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_seq(self.tasks.iter().map(|task| TaskView::new(self.dialect, task, self.show)))
    }
}

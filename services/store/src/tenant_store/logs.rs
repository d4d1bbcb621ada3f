//! Reading what a tenant's functions logged.

use pleat_domain::{LogLine, SkillName, TaskId};
use sqlx::types::Json;
use sqlx::{FromRow, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;

/// Which logs to read. The default is the newest 100 rows of the tenant.
#[derive(Debug, Clone)]
pub struct LogFilter {
    pub skill: Option<SkillName>,
    pub task: Option<TaskId>,
    /// Only rows written later than this.
    pub after: Option<OffsetDateTime>,
    pub limit: u32,
}

impl Default for LogFilter {
    fn default() -> Self {
        Self { skill: None, task: None, after: None, limit: 100 }
    }
}

/// The lines of one commit of one task.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogRow {
    pub task: TaskId,
    /// Counts the rows of a task; with `task` it names the row.
    pub seq: u32,
    pub skill: SkillName,
    pub version: i32,
    /// Of the last line.
    pub at: OffsetDateTime,
    pub lines: Vec<LogLine>,
}

impl TenantStore {
    /// The newest rows that fit, oldest first. Rows of several nodes may appear a little out of order: whoever follows
    /// reads again from shortly before the last `at` and leaves out the (task, seq) it knows.
    pub async fn logs(&self, filter: LogFilter) -> Result<Vec<LogRow>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new(
            "SELECT task_id, seq, skill, version, at, lines FROM task_logs WHERE tenant_id = ",
        );
        query.push_bind(self.tenant.as_uuid()).push(" AND task_id >= ").push_bind(self.oldest());
        if let Some(skill) = &filter.skill {
            query.push(" AND skill = ").push_bind(skill.as_str());
        }
        if let Some(task) = filter.task {
            query.push(" AND task_id = ").push_bind(task.as_uuid());
        }
        if let Some(after) = filter.after {
            query.push(" AND at > ").push_bind(after);
        }
        query.push(" ORDER BY at DESC, task_id DESC, seq DESC LIMIT ").push_bind(i64::from(filter.limit));
        let mut transaction = self.begin().await?;
        let rows = query.build_query_as::<StoredRow>().fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        rows.into_iter().rev().map(StoredRow::row).collect()
    }
}

#[derive(FromRow)]
struct StoredRow {
    task_id: Uuid,
    seq: i32,
    skill: String,
    version: i32,
    at: OffsetDateTime,
    lines: Json<Vec<LogLine>>,
}

impl StoredRow {
    fn row(self) -> Result<LogRow, StoreError> {
        Ok(LogRow {
            task: TaskId::from_uuid(self.task_id),
            seq: self.seq.unsigned_abs(),
            skill: SkillName::parse_skill(&self.skill).map_err(|_| StoreError::Corrupt { what: "skill name" })?,
            version: self.version,
            at: self.at,
            lines: self.lines.0,
        })
    }
}

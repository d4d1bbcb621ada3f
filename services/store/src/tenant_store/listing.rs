//! Lists of a tenant's tasks, page by page.

use futures::TryStreamExt;
use pleat_domain::{Caller, ContextId, SkillName, Task, TaskId, TaskState};
use sqlx::{Postgres, QueryBuilder};
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::rows::{TASK_COLUMNS, TaskRow};
use crate::tenant_store::TenantStore;

/// Which tasks to list. The default is the newest 50 of the tenant, whole.
#[derive(Debug, Clone)]
pub struct TaskFilter {
    /// Only this caller's.
    pub owner: Option<Caller>,
    pub skill: Option<SkillName>,
    pub state: Option<TaskState>,
    pub context: Option<ContextId>,
    /// Steps of runs too.
    pub steps: bool,
    /// Only those whose last status is of this moment or later.
    pub since: Option<OffsetDateTime>,
    pub limit: u32,
    /// The last task of the page before: its `updated_at` and id.
    pub before: Option<(OffsetDateTime, TaskId)>,
    /// Without them, a list is read without the largest part of its tasks.
    pub artifacts: bool,
    pub history: bool,
}

impl Default for TaskFilter {
    fn default() -> Self {
        Self {
            owner: None,
            skill: None,
            state: None,
            context: None,
            steps: true,
            since: None,
            limit: 50,
            before: None,
            artifacts: true,
            history: true,
        }
    }
}

#[derive(Debug)]
pub struct TaskList {
    pub tasks: Vec<Task>,
    /// There are more, which would have weighed too much.
    pub cut: bool,
}

/// What a page may weigh, roughly; it has one task in any case.
const PAGE_BYTES: usize = 16 << 20;

impl TenantStore {
    /// The newest status first.
    pub async fn list_tasks(&self, filter: &TaskFilter) -> Result<TaskList, StoreError> {
        let mut transaction = self.begin().await?;
        let mut query = self.list_query(filter);
        let mut tasks = Vec::new();
        let mut bytes = 0;
        let cut = {
            let mut rows = query.build_query_as::<TaskRow>().fetch(&mut *transaction);
            while bytes < PAGE_BYTES
                && let Some(row) = rows.try_next().await?
            {
                let task = row.task()?;
                bytes += weight(&task);
                tasks.push(task);
            }
            bytes >= PAGE_BYTES && rows.try_next().await?.is_some()
        };
        transaction.commit().await?;
        Ok(TaskList { tasks, cut })
    }

    /// How many tasks there are, on whichever page. Counts no further than `most`.
    pub async fn count_tasks(&self, filter: &TaskFilter, most: u32) -> Result<u32, StoreError> {
        let mut transaction = self.begin().await?;
        let mut query = QueryBuilder::new("SELECT count(*) FROM (SELECT FROM tasks WHERE ");
        self.conditions(&mut query, filter);
        query.push(" LIMIT ").push_bind(i64::from(most)).push(") AS counted");
        let count: i64 = query.build_query_scalar().fetch_one(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(u32::try_from(count).unwrap_or(most))
    }

    fn list_query(&self, filter: &TaskFilter) -> QueryBuilder<Postgres> {
        let mut columns = TASK_COLUMNS.to_owned();
        if !filter.artifacts {
            columns = columns.replace(" artifacts,", " NULL::text AS artifacts,");
        }
        if !filter.history {
            columns = columns.replace(" history,", " NULL::text AS history,");
        }
        let mut query = QueryBuilder::new("SELECT ");
        query.push(columns).push(" FROM tasks WHERE ");
        self.conditions(&mut query, filter);
        if let Some((at, id)) = filter.before {
            query.push(" AND (updated_at, id) < (").push_bind(at).push(", ").push_bind(id.as_uuid()).push(")");
        }
        query.push(" ORDER BY updated_at DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
        query
    }

    fn conditions(&self, query: &mut QueryBuilder<Postgres>, filter: &TaskFilter) {
        query.push("tenant_id = ").push_bind(self.tenant.as_uuid());
        query.push(" AND id >= ").push_bind(self.oldest());
        if let Some(owner) = &filter.owner {
            query.push(" AND caller = ").push_bind(owner.as_str());
        }
        if let Some(skill) = &filter.skill {
            query.push(" AND skill = ").push_bind(skill.as_str());
        }
        if let Some(state) = filter.state {
            query.push(" AND state = ").push_bind(state.to_code());
        }
        if !filter.steps {
            query.push(" AND step IS NULL");
        }
        if let Some(since) = filter.since {
            query.push(" AND updated_at >= ").push_bind(since);
        }
        if let Some(context) = &filter.context {
            query.push(" AND (context_id = ").push_bind(context.as_str());
            // With the task that it follows from, it is not stored; with those that joined that one later, it is.
            if let Some(task) = task_of(context) {
                query.push(" OR (context_id IS NULL AND id = ").push_bind(task.as_uuid()).push(")");
            }
            query.push(")");
        }
    }
}

/// What was read of it, roughly.
fn weight(task: &Task) -> usize {
    let value = |artifact: &pleat_domain::Artifact| artifact.value.as_ref().map_or(0, |value| value.get().len());
    let blocks = |artifact: &pleat_domain::Artifact| match artifact.blocks.as_slice() {
        [] => 0,
        blocks => pleat_domain::json::raw(blocks).get().len(),
    };
    let artifacts: usize = task.artifacts.iter().map(|artifact| value(artifact) + blocks(artifact)).sum();
    let history = if task.history.is_empty() { 0 } else { pleat_domain::json::raw(&task.history).get().len() };
    task.input.get().len() + artifacts + history
}

/// The task whose id gives this context, if it has that form.
fn task_of(context: &ContextId) -> Option<TaskId> {
    let digits = context.as_str().strip_prefix("ctx_")?;
    let task: TaskId = format!("task_{digits}").parse().ok()?;
    (ContextId::of_task(task) == *context).then_some(task)
}

//! What a draft of a guardrail policy would have done to the tasks that are kept.
//!
//! Tasks are kept as they passed: what today's guardrails have redacted cannot be found again.

use std::sync::Arc;

use pleat_domain::{Principal, SkillName, Task, TaskId, Tenant};
use pleat_guardrails::{Action, Finding, Guard, Mode, Policy, Side};
use pleat_policy::Action as Deed;
use time::OffsetDateTime;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::guarding::{BlockedBy, Watch};
use crate::listing::TaskQuery;

/// Tasks that one replay looks at, at most.
pub const MOST_REPLAYED: u32 = 1_000;

/// One task, as a draft would have seen it.
#[derive(Debug)]
pub struct Replayed {
    pub task: TaskId,
    pub skill: Option<SkillName>,
    pub at: OffsetDateTime,
    /// The strictest of what would have been done. `None`: there is nothing to find.
    pub action: Option<Action>,
    pub findings: Vec<(Side, Finding)>,
}

impl Engine {
    /// The latest tasks first.
    pub async fn replay_policy(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        policy: &str,
        skill: Option<SkillName>,
        limit: u32,
    ) -> Result<Vec<Replayed>, EngineError> {
        authorize(principal, Deed::Deploy, EngineError::UnknownTenant)?;
        let policy = Policy::parse(policy).map_err(EngineError::BadPolicy)?;
        let guard = Arc::new(Guard::new(&policy));
        let mut seen = Vec::new();
        let mut before = None;
        while seen.len() < limit.min(MOST_REPLAYED) as usize {
            let left = limit.min(MOST_REPLAYED).saturating_sub(u32::try_from(seen.len()).unwrap_or(u32::MAX));
            let query = TaskQuery { skill: skill.clone(), limit: left, before, ..TaskQuery::default() };
            let page = self.list_tasks(tenant, principal, query).await?;
            before = page.tasks.last().map(|task| (task.updated_at, task.id));
            seen.extend(page.tasks.into_iter().map(|task| self.replayed(tenant, &guard, task)));
            if !page.more {
                break;
            }
            // Reading is quick, looking is work: others have their turn.
            tokio::task::yield_now().await;
        }
        Ok(seen)
    }

    fn replayed(&self, tenant: &Tenant, guard: &Arc<Guard>, mut task: Task) -> Replayed {
        let findings = self.watch(tenant, guard, None).map(|mut watch| look(&mut watch, &mut task)).unwrap_or_default();
        let enforced = findings.iter().filter(|(_, finding)| finding.mode == Mode::Enforce);
        let action = enforced.map(|(_, finding)| finding.action).max();
        Replayed { task: task.id, skill: task.skill, at: task.created_at, action, findings }
    }
}

/// What is blocked would not have come further.
fn look(watch: &mut Watch, task: &mut Task) -> Vec<(Side, Finding)> {
    let _ = look_until_blocked(watch, task);
    watch.take_noted()
}

fn look_until_blocked(watch: &mut Watch, task: &mut Task) -> Result<(), BlockedBy> {
    watch.input(&mut task.input, None)?;
    task.history.iter_mut().try_for_each(|message| watch.message(message))?;
    task.artifacts.iter_mut().try_for_each(|artifact| watch.artifact(artifact))?;
    watch.words(task.ask.as_mut(), task.failure.as_mut())
}

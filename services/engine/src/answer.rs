//! Calls whose caller need not wait for their end: what is over within a moment is answered at once, and everything else
//! is a recorded task from then on, which the caller may follow, leave or cancel.

use std::sync::Arc;

use pleat_domain::{Failure, Principal, Raw, Reason, Task, TaskId, Tenant};
use pleat_policy::Action;
use pleat_schemas::Effort;
use serde_json::Value;
use tracing::Instrument;

use crate::ear::Ear;
use crate::engine::{Engine, authorize};
use crate::error::{EngineError, Violation};
use crate::hub::{Live, Phase};
use crate::invoke::{Invocation, Turn};
use crate::run::{Recorded, Run};
use crate::schema::Schema;

/// What a call came to within a moment.
pub enum Answer {
    Ended(Arc<Task>),
    Going(Going),
}

/// A turn that goes on, under a task that others may already see.
pub struct Going(Recorded);

pub(crate) enum Prompt {
    Ended(Arc<Task>),
    Going(Recorded),
}

impl Going {
    /// As it was recorded.
    pub fn task(&self) -> &Arc<Task> {
        self.0.task()
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        self.0.live()
    }

    /// The task at the end of the turn.
    pub async fn ended(self, engine: &Engine) -> Result<Arc<Task>, EngineError> {
        self.0.finished(engine).await
    }
}

impl Engine {
    /// Whether an answer is what was asked for. A schema that cannot be read asks for nothing.
    pub async fn check_answer(&self, tenant: &Tenant, schema: &Value, answer: &Raw) -> Result<(), EngineError> {
        let asked = schema.clone();
        let compiled = self.with_schemas(tenant.id, move || Schema::compile(Some(&asked), Effort::FULL)).await?;
        let Ok(schema) = compiled else { return Ok(()) };
        match self.violations(tenant.id, &schema, answer).await?.first() {
            None => Ok(()),
            Some(Violation { pointer, message }) => {
                Err(EngineError::Invalid(format!("the answer is not what was asked for: {message} (at `{pointer}`)")))
            }
        }
    }

    /// Whether this caller may come in at all: with a key that may invoke, or without one where there is something public.
    pub async fn may_visit(&self, tenant: &Tenant, principal: &Principal) -> Result<(), EngineError> {
        authorize(principal, Action::UseDoor, EngineError::UnknownTenant)?;
        if *principal == Principal::Anonymous && !self.catalog(tenant).await?.has_public() {
            return Err(EngineError::Unauthenticated);
        }
        Ok(())
    }

    /// The same by what the card says: where every skill on it needs a key, so does every request.
    pub async fn may_ask(&self, tenant: &Tenant, principal: &Principal) -> Result<(), EngineError> {
        match principal {
            Principal::Anonymous if self.catalog(tenant).await?.needs_key() => Err(EngineError::Unauthenticated),
            _ => Ok(()),
        }
    }

    /// The same at the operators' door: with a key that sees the tenant.
    pub fn may_look(&self, principal: &Principal) -> Result<(), EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)
    }

    /// `leaving_cancels`: who drops this before it is answered wants nothing more of it.
    pub async fn answer(
        &self,
        invocation: Box<Invocation>,
        ear: Option<Ear>,
        leaving_cancels: bool,
    ) -> Result<Answer, EngineError> {
        let run = self.admit(invocation, None).await?;
        if let Some(ear) = ear {
            run.live().hear(ear);
        }
        let span = run.span();
        let prompt = self.spawn_for(|done| run.prompt(leaving_cancels, done).instrument(span)).await?;
        Ok(match prompt {
            Prompt::Ended(task) => Answer::Ended(task),
            Prompt::Going(recorded) => Answer::Going(Going(recorded)),
        })
    }

    /// Continues a waiting task with what its caller or its caller's client said.
    pub async fn answer_turn(&self, turn: Turn) -> Result<Going, EngineError> {
        let run = self.readmit(turn).await?;
        if let Some(ear) = self.inner.ears.of(run.task().id) {
            run.live().hear(ear);
        }
        let recorded = self.spawn(run.span(), Run::resume(run)).await?;
        // Who waits here for the answer is not told by another node.
        self.inner.news.changed(&[recorded.task().id]);
        Ok(Going(recorded))
    }

    /// What the caller's client has answered to this turn so far, these answers included.
    pub async fn keep_replies(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &Task,
        replies: &[(String, Raw)],
    ) -> Result<Vec<(String, Raw)>, EngineError> {
        authorize(principal, Action::ContinueTask(&task.caller), EngineError::TaskNotFound)?;
        Ok(self.tenant_store(tenant).keep_replies(task.id, task.turn, replies).await?)
    }

    /// What was answered is refused: it is as if nothing had been, so that another answer counts.
    pub async fn drop_replies(&self, tenant: &Tenant, principal: &Principal, task: &Task) -> Result<(), EngineError> {
        authorize(principal, Action::ContinueTask(&task.caller), EngineError::TaskNotFound)?;
        Ok(self.tenant_store(tenant).drop_replies(task.id, task.turn).await?)
    }

    /// The same where nobody would hear of it, and so nobody would answer again: the task fails. What is only this
    /// node's trouble ends nothing.
    pub async fn refuse_answer(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &Task,
        error: &EngineError,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::ContinueTask(&task.caller), EngineError::TaskNotFound)?;
        let Some(failure) = refusal(error) else { return Ok(()) };
        self.tenant_store(tenant).fail_idle(task.id, failure).await?;
        self.ended_idle(tenant, task).await;
        Ok(())
    }

    /// Ends a task of this caller that waits and that nobody can answer.
    pub async fn abandon(&self, tenant: &Tenant, principal: &Principal, task: &Task) -> Result<(), EngineError> {
        authorize(principal, Action::ContinueTask(&task.caller), EngineError::TaskNotFound)?;
        self.tenant_store(tenant).cancel_idle(task.id).await?;
        self.ended_idle(tenant, task).await;
        Ok(())
    }

    /// Who waits here is not told by another node.
    async fn ended_idle(&self, tenant: &Tenant, task: &Task) {
        self.inner.news.changed(&[task.id]);
        self.wake_pushes(tenant.id, task.id).await;
    }

    /// The task at the end of a turn later than `turn`, or when it is final: wherever it runs.
    pub async fn next_end(&self, tenant: &Tenant, id: TaskId, turn: i16) -> Result<Arc<Task>, EngineError> {
        let store = self.tenant_store(tenant);
        let mut follower = self.inner.news.follow(id);
        loop {
            follower.looking();
            if let Some(live) = self.inner.hub.get(tenant.id, id) {
                // Its end is the answer, unless it moves: then the database says where it is.
                let _ = live.watch().wait_for(|now| now.phase != Phase::Running).await;
            }
            let now = store.task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
            let over = now.state.is_terminal() || (now.turn > turn && now.state.is_interrupted());
            if over {
                return Ok(Arc::new(now));
            }
            follower.wait(self).await?;
        }
    }
}

/// Why a waiting task fails whose answer was refused.
fn refusal(error: &EngineError) -> Option<Failure> {
    let (reason, code) = match error {
        EngineError::Guarded(check) => (Reason::Blocked, Some((*check).to_owned())),
        EngineError::Blocked(_) => (Reason::Blocked, None),
        EngineError::LimitReached(_) | EngineError::Busy(_) => (Reason::Busy, None),
        EngineError::InvalidInput(_) | EngineError::Invalid(_) => {
            (Reason::FunctionError, Some("invalid_input".to_owned()))
        }
        _ => return None,
    };
    Some(Failure { code, ..Failure::new(reason, error.to_string()) })
}

//! One task makes another: a function calls a skill, a pipeline runs a step. Each is a task of its own, in the name of the
//! same caller, under the same policies.

use std::sync::Arc;

use pleat_domain::json::{self, Raw};
use pleat_domain::{Artifact, Block, ContextId, Door, Failure, Task, TaskId, TaskState, Tenant};
use pleat_runtime::{CallError, GuestError};
use serde_json::json;
use tracing::Instrument;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Interrupt, Live};
use crate::invoke::{Invocation, Origin};
use crate::reach::Standing;
use crate::run::Run;

/// A call that a function makes.
pub(crate) struct Errand {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) standing: Standing,
    pub(crate) parent: TaskId,
    pub(crate) step: Option<String>,
    pub(crate) context: ContextId,
    pub(crate) skill: String,
    pub(crate) input: Raw,
}

impl Engine {
    /// Runs the call to its end. Dropping the future cancels the call.
    pub(crate) async fn run_errand(&self, errand: Errand) -> Result<Raw, CallError> {
        let tenant = Arc::clone(&errand.tenant);
        let task = self.send_errand(errand).await.map_err(refusal)?;
        match task.state {
            TaskState::Completed => Ok(value_of(&task)),
            TaskState::InputRequired | TaskState::AuthRequired => {
                // The question is the caller's failure.
                self.end_question(&tenant, &task).await;
                let prompt = task.ask.as_ref().map(|ask| ask.prompt.clone()).unwrap_or_default();
                Err(failed(task.state.as_str(), prompt))
            }
            state => Err(task.failure.as_ref().map_or_else(
                || failed(state.as_str(), format!("the call was {}", state.as_str())),
                |failure| of_failure(state, failure),
            )),
        }
    }

    async fn send_errand(&self, errand: Errand) -> Result<Arc<Task>, EngineError> {
        let Errand { tenant, standing, parent, step, context, skill, input } = errand;
        let skill = self.catalog(&tenant).await?.choose(&standing.principal, Some(&skill))?;
        let invocation = Box::new(Invocation {
            tenant,
            principal: standing.principal,
            skill,
            input,
            message: None,
            context: Some(context),
            alias: None,
            once: None,
            push: None,
            door: Door::Call,
        });
        let origin = Origin { parent, depth: standing.depth, label: step, step: None };
        self.call_child(invocation, origin, std::future::pending()).await
    }

    /// Runs a call of a task to its end. Dropping the future cancels the call; `stop` ends it for the cause that it gives,
    /// and its record is still waited for.
    pub(crate) async fn call_child(
        &self,
        invocation: Box<Invocation>,
        origin: Origin,
        stop: impl Future<Output = Interrupt>,
    ) -> Result<Arc<Task>, EngineError> {
        let run = self.admit(invocation, Some(origin)).await?;
        self.run_child(run, stop).await
    }

    /// The same for one that was let in.
    pub(crate) async fn run_child(
        &self,
        run: Box<Run>,
        stop: impl Future<Output = Interrupt>,
    ) -> Result<Arc<Task>, EngineError> {
        let (live, span) = (run.live(), run.span());
        let _cancel = CancelOnDrop(Arc::clone(&live));
        let answer = self.spawn_for(|done| run.blocking(done).instrument(span));
        tokio::pin!(answer, stop);
        tokio::select! {
            biased;
            task = &mut answer => task,
            cause = &mut stop => {
                live.interrupt(cause);
                answer.await
            }
        }
    }

    /// Nobody can answer a call that asks back: it must not wait for ever.
    pub(crate) async fn end_question(&self, tenant: &Tenant, task: &Task) {
        if let Err(error) = self.tenant_store(tenant).cancel_idle(task.id).await {
            tracing::warn!(task.id = %task.id, error = &error as &dyn std::error::Error, "a call that asks back could not be ended");
        }
    }
}

/// Who called no longer waits. After the end of the call this does nothing.
pub(crate) struct CancelOnDrop(pub(crate) Arc<Live>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.interrupt(Interrupt::Canceled);
    }
}

/// The same as the plain HTTP door would answer.
pub(crate) fn value_of(task: &Task) -> Raw {
    match task.artifacts.last() {
        None => json::raw(&()),
        Some(Artifact { value: Some(value), .. }) => value.clone(),
        Some(Artifact { blocks, .. }) => match blocks.as_slice() {
            [Block::Text { text, .. }] => json::raw(text),
            blocks => json::raw(&json!({ "content": blocks })),
        },
    }
}

fn of_failure(state: TaskState, failure: &Failure) -> CallError {
    let rejected = state == TaskState::Rejected;
    let reason = if rejected { "rejected" } else { failure.reason.as_str() };
    CallError::Failed(GuestError {
        code: failure.code.clone().unwrap_or_else(|| reason.to_owned()),
        message: failure.message.clone(),
        retryable: failure.retryable,
        details: failure.details.as_ref().map(ToString::to_string),
    })
}

fn failed(code: &str, message: String) -> CallError {
    CallError::Failed(GuestError { code: code.to_owned(), message, retryable: false, details: None })
}

fn refusal(error: EngineError) -> CallError {
    match error {
        EngineError::UnknownSkill(_) => CallError::UnknownSkill,
        EngineError::Unauthenticated | EngineError::Forbidden(_) => {
            failed("forbidden", "the caller may not call this skill".to_owned())
        }
        EngineError::InvalidInput(_) => failed("invalid_input", error.to_string()),
        EngineError::Guarded(_) => failed("blocked", error.to_string()),
        EngineError::Blocked(reason) => failed("blocked", reason),
        EngineError::LimitReached(_) => failed("limit_reached", error.to_string()),
        EngineError::Internal(source) => {
            tracing::error!(error = source.as_ref() as &dyn std::error::Error, "a call between functions failed");
            CallError::Unavailable
        }
        _ => CallError::Unavailable,
    }
}

//! One function calls another: a task of its own, in the name of the same caller, under the same policies.

use std::sync::Arc;

use pleat_domain::json::{self, Raw};
use pleat_domain::{Artifact, Block, ContextId, Door, Failure, Task, TaskId, TaskState, Tenant};
use pleat_runtime::{CallError, GuestError};
use serde_json::json;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Interrupt, Live};
use crate::invoke::{Invocation, Origin};
use crate::reach::Standing;

/// A call that a function makes.
pub(crate) struct Errand {
    pub(crate) tenant: Arc<Tenant>,
    pub(crate) standing: Standing,
    pub(crate) parent: TaskId,
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
                // Nobody could answer: the question is the caller's failure, and the task must not wait for ever.
                if let Err(error) = self.tenant_store(&tenant).cancel_idle(task.id).await {
                    tracing::warn!(task.id = %task.id, error = &error as &dyn std::error::Error, "a call that asks back could not be ended");
                }
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
        let Errand { tenant, standing, parent, context, skill, input } = errand;
        let skill = self.catalog(&tenant).await?.choose(&standing.principal, Some(&skill))?;
        let invocation = Invocation {
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
        };
        let run = self.admit(invocation, Some(Origin { parent, depth: standing.depth })).await?;
        let _cancel = CancelOnDrop(run.live());
        self.spawn_for(|done| run.blocking(done)).await
    }
}

/// Who called no longer waits. After the end of the call this does nothing.
struct CancelOnDrop(Arc<Live>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.interrupt(Interrupt::Canceled);
    }
}

/// The same as the plain HTTP door would answer.
fn value_of(task: &Task) -> Raw {
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

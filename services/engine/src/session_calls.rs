//! Which task a request of a session became: a cancel names the request alone, and may come to any node.
//!
//! What is over within a moment is never noted, so that a quick call writes nothing. A note outlives the stream that its
//! request is answered on, because who lost that stream may still cancel; it goes when the task is final, or with its
//! session.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Principal, SessionId, TaskId, Tenant};

use crate::answer::Going;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Live, Phase};

/// What is over by then is not noted.
pub(crate) const MOMENT: Duration = Duration::from_millis(250);

/// When a cancel looks again for what is not noted: it may still be within its moment, or not even have arrived.
const LATER: [Duration; 2] = [Duration::from_millis(350), Duration::from_millis(650)];

/// A request of a session, as its client names it.
#[derive(Debug, Clone)]
pub struct SessionCall {
    pub tenant: Arc<Tenant>,
    pub session: SessionId,
    /// As JSON, since 1 and "1" are two requests.
    pub request: String,
}

impl Engine {
    /// Notes which task a request became.
    pub async fn note_call(&self, call: &SessionCall, task: TaskId) -> Result<(), EngineError> {
        Ok(self.tenant_store(&call.tenant).begin_call(call.session, &call.request, task).await?)
    }

    /// The same once the call has lasted, or waits for its client; until its task is final.
    pub fn note_if_it_lasts(&self, call: SessionCall, going: &Going) {
        let (engine, live) = (self.clone(), Arc::clone(going.live()));
        self.inner.tracker.spawn(async move {
            if let Err(error) = engine.noted(call, &live).await {
                tracing::warn!(task.id = %live.id, error = &error as &dyn std::error::Error, "a request of a session could not be noted");
            }
        });
    }

    async fn noted(&self, call: SessionCall, live: &Live) -> Result<(), EngineError> {
        let lasted = tokio::time::timeout(MOMENT, turn_over(live)).await.is_err();
        if lasted {
            self.note_call(&call, live.id).await?;
            turn_over(live).await;
        }
        // What has moved is not over.
        let is_final = live.finished().is_some_and(|task| task.state.is_terminal());
        match (lasted, is_final) {
            (true, true) => self.forget_call(&call.tenant, call.session, live.id).await,
            (false, false) => self.note_call(&call, live.id).await,
            (true, false) | (false, true) => Ok(()),
        }
    }

    /// A later turn of a call, which its session's client has begun with an answer.
    pub fn forget_when_over(&self, tenant: Arc<Tenant>, session: SessionId, going: &Going) {
        let (engine, live) = (self.clone(), Arc::clone(going.live()));
        self.inner.tracker.spawn(async move {
            turn_over(&live).await;
            if live.finished().is_some_and(|task| task.state.is_terminal())
                && let Err(error) = engine.forget_call(&tenant, session, live.id).await
            {
                tracing::warn!(task.id = %live.id, error = &error as &dyn std::error::Error, "a request of a session could not be forgotten");
            }
        });
    }

    pub async fn forget_call(&self, tenant: &Tenant, session: SessionId, task: TaskId) -> Result<(), EngineError> {
        Ok(self.tenant_store(tenant).forget_call(session, task).await?)
    }

    /// Cancels what a request became, if anything, and if this caller may. Nobody waits for it.
    pub async fn cancel_call(&self, call: SessionCall, principal: Principal) -> Result<(), EngineError> {
        if self.cancel_noted(&call, &principal).await? {
            return Ok(());
        }
        // Where too many look already, once must do.
        let Ok(room) = Arc::clone(&self.inner.sessions.looking).try_acquire_owned() else { return Ok(()) };
        let engine = self.clone();
        self.inner.tracker.spawn(async move {
            let _room = room;
            for pause in LATER {
                tokio::time::sleep(pause).await;
                match engine.cancel_noted(&call, &principal).await {
                    Ok(true) => return,
                    Ok(false) => {}
                    Err(error) => {
                        tracing::warn!(error = &error as &dyn std::error::Error, "a request could not be cancelled");
                    }
                }
            }
        });
        Ok(())
    }

    async fn cancel_noted(&self, call: &SessionCall, principal: &Principal) -> Result<bool, EngineError> {
        let noted = self.tenant_store(&call.tenant).end_call(call.session, &call.request).await?;
        let Some(task) = noted else { return Ok(false) };
        if self.cancel_held(&call.tenant, task).await? {
            return Ok(true);
        }
        // It may have ended meanwhile, which is nobody's fault.
        let _ = self.cancel(&call.tenant, principal, &task.to_string()).await;
        Ok(true)
    }
}

async fn turn_over(live: &Live) {
    // Where nobody can say so any more, it is over too.
    let _ = live.watch().wait_for(|now| now.phase != Phase::Running).await;
}

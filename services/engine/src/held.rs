//! Requests of a session that are no task: what functions offer is given to who waits for it, and nobody asks for it
//! later. Their client cancels them by their id all the same, and answers what it is asked meanwhile, at any node.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use pleat_domain::{Raw, TaskId, Tenant};

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Again, Interrupt, Live};
use crate::news::IDLE;
use crate::session_calls::{MOMENT, SessionCall};

/// As long as a person may take over a form.
const PATIENCE: Duration = Duration::from_secs(3_600);

/// One of them, while it is being served. Who waits holds it: to drop it is to leave.
pub struct Held {
    engine: Engine,
    call: SessionCall,
    live: Arc<Live>,
    noted: AtomicBool,
}

impl Engine {
    pub fn hold(&self, call: SessionCall) -> Held {
        let live = Live::new(call.tenant.id, TaskId::new(), 0, self.inner.store.epoch(), Again::Never);
        // Where a cancel finds it, from whichever node it comes.
        self.inner.held.insert(Arc::clone(&live));
        Held { engine: self.clone(), call, live, noted: AtomicBool::new(false) }
    }

    /// An answer of its client, at whichever node it arrives. The first one to a question counts.
    pub async fn keep_held_reply(
        &self,
        tenant: &Tenant,
        held: TaskId,
        turn: i16,
        reply: (String, Raw),
    ) -> Result<(), EngineError> {
        self.tenant_store(tenant).keep_replies(held, turn, &[reply]).await?;
        // Who waits here is not told by another node.
        self.inner.news.changed(&[held]);
        Ok(())
    }

    /// Stops one, wherever it is served; `false`: this is a task.
    pub(crate) async fn cancel_held(&self, tenant: &Tenant, id: TaskId) -> Result<bool, EngineError> {
        let store = self.tenant_store(tenant);
        if store.task(id, None).await?.is_some() {
            return Ok(false);
        }
        match self.inner.held.get(tenant.id, id) {
            Some(live) => live.interrupt(Interrupt::Canceled),
            None => store.request_cancel(id).await?,
        }
        Ok(true)
    }
}

impl Held {
    /// As what its client is asked in its name.
    pub fn id(&self) -> TaskId {
        self.live.id
    }

    /// Writes down that it is there, so that a cancel finds it. What is over within a moment never is.
    pub async fn note(&self) -> Result<(), EngineError> {
        if !self.noted.swap(true, Ordering::Relaxed) {
            self.engine.note_call(&self.call, self.live.id).await?;
        }
        Ok(())
    }

    /// What comes of a part of its work; `None`: the client has cancelled it, and the work is dropped.
    pub async fn unless_cancelled<T>(
        &self,
        work: impl Future<Output = Result<T, EngineError>>,
    ) -> Result<Option<T>, EngineError> {
        tokio::pin!(work);
        if let Ok(done) = tokio::time::timeout(MOMENT, &mut work).await {
            return done.map(Some);
        }
        self.note().await?;
        tokio::select! {
            biased;
            done = &mut work => done.map(Some),
            () = self.live.token.cancelled() => self.stopped(),
        }
    }

    /// The answers to these questions of a turn, once all of them are there; `None`: the client has cancelled it.
    pub async fn replies(&self, turn: i16, asked: &[&str]) -> Result<Option<Vec<(String, Raw)>>, EngineError> {
        let Ok(replies) = tokio::time::timeout(PATIENCE, self.all_replies(turn, asked)).await else {
            return Err(EngineError::Invalid("nobody has answered in time".to_owned()));
        };
        replies
    }

    async fn all_replies(&self, turn: i16, asked: &[&str]) -> Result<Option<Vec<(String, Raw)>>, EngineError> {
        let (engine, id) = (&self.engine, self.live.id);
        let store = engine.tenant_store(&self.call.tenant);
        let mut follower = engine.inner.news.follow(id);
        loop {
            follower.looking();
            let all = store.keep_replies(id, turn, &[]).await?;
            if asked.iter().all(|wanted| all.iter().any(|(key, _)| key == wanted)) {
                store.drop_replies(id, turn).await?;
                return Ok(Some(all));
            }
            tokio::select! {
                biased;
                () = self.live.token.cancelled() => return self.stopped(),
                waited = follower.wait_for(engine, IDLE) => waited?,
            }
        }
    }

    fn stopped<T>(&self) -> Result<Option<T>, EngineError> {
        match self.live.interrupted() {
            Some(Interrupt::Canceled) => Ok(None),
            _ => Err(EngineError::ShuttingDown),
        }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        self.engine.inner.held.remove(&self.live);
        if !self.noted.load(Ordering::Relaxed) {
            return;
        }
        let (engine, call, id) = (self.engine.clone(), self.call.clone(), self.live.id);
        self.engine.inner.tracker.spawn(async move {
            if let Err(error) = engine.forget_call(&call.tenant, call.session, id).await {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "a request of a session could not be forgotten"
                );
            }
        });
    }
}

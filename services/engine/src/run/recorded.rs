//! A run from the moment on from which others may know of it.

use std::sync::Arc;

use pleat_domain::Task;

use crate::engine::Engine;
use crate::error::EngineError;
use crate::hub::{Live, Phase};
use crate::subscribe::{EventStream, Until};

/// A task whose row is committed.
pub(crate) struct Recorded {
    pub(super) task: Arc<Task>,
    pub(super) live: Arc<Live>,
}

impl Recorded {
    pub(crate) fn task(&self) -> &Arc<Task> {
        &self.task
    }

    pub(crate) fn live(&self) -> &Arc<Live> {
        &self.live
    }

    pub(crate) async fn finished(self, engine: &Engine) -> Result<Arc<Task>, EngineError> {
        let mut committed = self.live.watch();
        let gone = || EngineError::Internal("the call ended without a record".into());
        let phase = committed.wait_for(|now| now.phase != Phase::Running).await.map_err(|_| gone())?.phase;
        match phase {
            Phase::Moved => engine.settled(self.live.tenant, self.task.id).await,
            _ => self.live.finished().ok_or_else(gone),
        }
    }

    pub(crate) fn into_stream(self, engine: &Engine, after: u32) -> (Arc<Task>, EventStream) {
        let stream = engine.follow(self.live.tenant, self.task.id, after, Some(self.live), Until::TurnEnds);
        (self.task, stream)
    }
}

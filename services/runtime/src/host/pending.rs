//! Work that a guest has started and not yet taken the result of: several of these run at the same time.
//!
//! The work is on the threads that do input and output. It is stopped when the guest drops its handle, and when the
//! guest's store goes, however that happens.

use std::sync::Arc;

use futures::FutureExt;
use pleat_domain::limits;
use tokio_util::task::AbortOnDropHandle;
use wasmtime::component::Resource;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::p2::{DynPollable, Pollable, subscribe};

use crate::memory::MemoryCharge;
use crate::state::State;

/// A result, and what the platform is charged for keeping it until the guest takes it.
pub(super) type Kept<T> = (T, Option<MemoryCharge>);

pub(super) enum Pending<T> {
    Working {
        work: AbortOnDropHandle<Kept<T>>,
        /// What the guest is told when the threads end before the work does.
        lost: fn() -> T,
    },
    /// Empty when the result was taken.
    Done(Option<Kept<T>>),
}

impl<T: Send + 'static> Pending<T> {
    fn take(&mut self) -> Option<T> {
        if let Self::Working { work, lost } = self
            && work.is_finished()
        {
            // Without its own budget a finished task could still say that it is not.
            let result = tokio::task::unconstrained(work).now_or_never()?;
            *self = Self::Done(Some(result.unwrap_or_else(|_| (lost(), None))));
        }
        match self {
            Self::Working { .. } => None,
            Self::Done(result) => result.take().map(|(result, _charge)| result),
        }
    }
}

#[async_trait]
impl<T: Send + 'static> Pollable for Pending<T> {
    async fn ready(&mut self) {
        if let Self::Working { work, lost } = self {
            let result = work.await.unwrap_or_else(|_| (lost(), None));
            *self = Self::Done(Some(result));
        }
    }
}

impl State {
    /// One more would be too many.
    pub(super) fn holds_too_many(&self) -> bool {
        self.pending >= limits::PENDING_HELD
    }

    /// Starts work as soon as it is its turn.
    pub(super) fn pend<T: Send + 'static, Handle: 'static>(
        &mut self,
        work: impl Future<Output = Kept<T>> + Send + 'static,
        lost: fn() -> T,
    ) -> wasmtime::Result<Resource<Handle>> {
        let turns = Arc::clone(&self.traffic.turns);
        let in_turn = async move {
            // Never closed, so that this is always a permit.
            let _turn = turns.acquire().await;
            work.await
        };
        let work = AbortOnDropHandle::new(self.io.spawn(in_turn));
        let handle = self.table().push(Pending::Working { work, lost })?;
        self.pending += 1;
        // The contract's name for what the table knows by its own type.
        Ok(Resource::new_own(handle.rep()))
    }

    pub(super) fn pollable<T: Send + 'static, Handle: 'static>(
        &mut self,
        handle: &Resource<Handle>,
    ) -> wasmtime::Result<Resource<DynPollable>> {
        subscribe(self.table(), Resource::<Pending<T>>::new_borrow(handle.rep()))
    }

    pub(super) fn taken<T: Send + 'static, Handle: 'static>(
        &mut self,
        handle: &Resource<Handle>,
    ) -> wasmtime::Result<Option<T>> {
        Ok(self.table().get_mut(&Resource::<Pending<T>>::new_borrow(handle.rep()))?.take())
    }

    pub(super) fn forget<T: Send + 'static, Handle: 'static>(
        &mut self,
        handle: &Resource<Handle>,
    ) -> wasmtime::Result<()> {
        self.table().delete(Resource::<Pending<T>>::new_own(handle.rep()))?;
        self.pending = self.pending.saturating_sub(1);
        Ok(())
    }
}

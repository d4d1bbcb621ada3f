//! The tasks that run on this node: where cancels find them and where subscribers are fed from memory.
//!
//! Only committed events are in here, so a subscriber never sees what a crash could take back.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use pleat_domain::{Event, Task, TaskId, TenantId};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;

use crate::ear::Ear;

/// How many events a task keeps in memory. A reader that falls further behind reads them from the database.
const RING: usize = 64;

#[derive(Default)]
pub(crate) struct Hub {
    live: Mutex<HashMap<TaskId, Arc<Live>>>,
}

impl Hub {
    pub(crate) fn insert(&self, live: Arc<Live>) {
        lock(&self.live).insert(live.id, live);
    }

    /// Unless the task has begun anew here since.
    pub(crate) fn remove(&self, live: &Arc<Live>) {
        let mut all = lock(&self.live);
        if all.get(&live.id).is_some_and(|now| Arc::ptr_eq(now, live)) {
            all.remove(&live.id);
        }
    }

    pub(crate) fn ids(&self) -> Vec<TaskId> {
        lock(&self.live).keys().copied().collect()
    }

    /// Those of them that run here.
    pub(crate) fn cancel(&self, ids: &[TaskId]) {
        let live = lock(&self.live);
        ids.iter().filter_map(|id| live.get(id)).for_each(|live| live.interrupt(Interrupt::Canceled));
    }

    /// Only ever a task of the tenant that asks.
    pub(crate) fn get(&self, tenant: TenantId, id: TaskId) -> Option<Arc<Live>> {
        lock(&self.live).get(&id).filter(|live| live.tenant == tenant).cloned()
    }

    pub(crate) fn len(&self) -> usize {
        lock(&self.live).len()
    }

    /// Stops those for which there is a cause.
    pub(crate) fn stop_where(&self, cause: impl Fn(&Live) -> Option<Interrupt>) {
        lock(&self.live).values().for_each(|live| {
            if let Some(cause) = cause(live) {
                live.interrupt(cause);
            }
        });
    }

    pub(crate) fn stop_tenant(&self, tenant: TenantId) {
        let live = lock(&self.live);
        live.values().filter(|live| live.tenant == tenant).for_each(|live| live.interrupt(Interrupt::Canceled));
    }
}

/// Why a running call is stopped from outside.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Interrupt {
    Canceled,
    Shutdown,
    /// The node stops, and another one will run it again.
    HandedBack,
    /// The node has lost its lease: another one may run it by now.
    Fenced,
    /// What it emitted exceeds the output limit.
    OutputOverflow,
    /// Its record could not be written.
    NotRecorded,
    /// The step that it is has no time left.
    TimedOut,
}

impl Interrupt {
    /// Whether the end of the call is no longer this node's to record. What a node that lost its lease has finished may
    /// have begun again elsewhere, and some of its events are missing.
    pub(crate) const fn loses(self, stopped: bool) -> bool {
        match self {
            Self::Fenced => true,
            Self::HandedBack => stopped,
            _ => false,
        }
    }
}

/// Whether what is stopped with its node may go on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Again {
    Never,
    /// From its beginning, on another node that lives.
    Elsewhere,
    /// From its journal, whenever a node takes it.
    Anytime,
}

/// What is durable of a running task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Committed {
    pub(crate) seq: u32,
    pub(crate) phase: Phase,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Phase {
    Running,
    /// The turn is over: nothing follows.
    Ended,
    /// It no longer runs here. What follows is in the database.
    Moved,
}

/// One task that runs here.
pub(crate) struct Live {
    pub(crate) tenant: TenantId,
    pub(crate) id: TaskId,
    /// The epoch of this node under which it began.
    pub(crate) epoch: i64,
    pub(crate) again: Again,
    pub(crate) token: CancellationToken,
    cause: Mutex<Option<Interrupt>>,
    ring: Mutex<VecDeque<Arc<Event>>>,
    committed: watch::Sender<Committed>,
    finished: Mutex<Option<Arc<Task>>>,
    /// Who reads its events on this node now.
    readers: AtomicUsize,
    /// Who hears it while it runs.
    ear: Mutex<Option<Ear>>,
}

/// Counts as a reader of a task until it is dropped.
pub(crate) struct Reading<'a>(&'a Live);

impl Drop for Reading<'_> {
    fn drop(&mut self) {
        self.0.readers.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Live {
    /// `seq` is the last one that earlier turns used.
    pub(crate) fn new(tenant: TenantId, id: TaskId, seq: u32, epoch: i64, again: Again) -> Arc<Self> {
        Arc::new(Self {
            tenant,
            id,
            epoch,
            again,
            token: CancellationToken::new(),
            cause: Mutex::default(),
            ring: Mutex::default(),
            committed: watch::Sender::new(Committed { seq, phase: Phase::Running }),
            finished: Mutex::default(),
            readers: AtomicUsize::new(0),
            ear: Mutex::default(),
        })
    }

    /// From now on: who listened before has left, or hears it no more.
    pub(crate) fn hear(&self, ear: Ear) {
        *lock(&self.ear) = Some(ear);
    }

    /// Says something to who listens, if anybody does.
    pub(crate) fn say(&self, to: impl FnOnce(&Ear)) {
        if let Some(ear) = &*lock(&self.ear) {
            to(ear);
        }
    }

    pub(crate) fn reading(&self) -> Reading<'_> {
        self.readers.fetch_add(1, Ordering::Relaxed);
        Reading(self)
    }

    /// Whether somebody waits for its events.
    pub(crate) fn is_read(&self) -> bool {
        self.readers.load(Ordering::Relaxed) > 0
    }

    /// The first cause counts.
    pub(crate) fn interrupt(&self, cause: Interrupt) {
        lock(&self.cause).get_or_insert(cause);
        self.token.cancel();
    }

    pub(crate) fn interrupted(&self) -> Option<Interrupt> {
        *lock(&self.cause)
    }

    /// To be called after the commit.
    pub(crate) fn publish(&self, events: impl IntoIterator<Item = Event>, phase: Phase) {
        let mut last = self.committed.borrow().seq;
        {
            let mut ring = lock(&self.ring);
            for event in events {
                last = event.seq;
                if ring.len() == RING {
                    ring.pop_front();
                }
                ring.push_back(Arc::new(event));
            }
        }
        self.committed.send_replace(Committed { seq: last, phase });
    }

    pub(crate) fn finish(&self, task: Arc<Task>) {
        *lock(&self.finished) = Some(task);
    }

    pub(crate) fn finished(&self) -> Option<Arc<Task>> {
        lock(&self.finished).clone()
    }

    pub(crate) fn watch(&self) -> watch::Receiver<Committed> {
        self.committed.subscribe()
    }

    /// The events after `seq` that are still in memory; `None` when some of them no longer are.
    pub(crate) fn after(&self, seq: u32) -> Option<Vec<Arc<Event>>> {
        let ring = lock(&self.ring);
        let first = ring.front().map_or(u32::MAX, |event| event.seq);
        let committed = self.committed.borrow().seq;
        if seq < committed && first > seq.saturating_add(1) {
            return None;
        }
        Some(ring.iter().filter(|event| event.seq > seq).cloned().collect())
    }
}

/// A poisoned lock holds data that is whole: nothing here panics between two changes.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

//! Who hears a function while it runs: lines and progress as they are said, before they are recorded and without being
//! merged. What is not taken up in time is dropped: everything that counts is in the record.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pleat_domain::event::Progress;
use pleat_domain::{LogLine, TaskId, Tenant};
use tokio::sync::mpsc;

use crate::engine::Engine;
use crate::hub::lock;

/// What may wait to be heard.
const BACKLOG: usize = 256;

/// Something that a running function says.
#[derive(Debug, Clone, PartialEq)]
pub enum Said {
    Log(LogLine),
    Progress(Progress),
}

/// Where it says it.
#[derive(Debug, Clone)]
pub struct Ear(mpsc::Sender<Said>);

impl Ear {
    pub fn new() -> (Self, mpsc::Receiver<Said>) {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        (Self(sender), receiver)
    }

    pub(crate) fn log(&self, line: &LogLine) {
        let _ = self.0.try_send(Said::Log(line.clone()));
    }

    pub(crate) fn progress(&self, progress: &Progress) {
        let _ = self.0.try_send(Said::Progress(progress.clone()));
    }
}

/// Ears by task: a later turn may be begun by another request than the one that listens.
#[derive(Default)]
pub(crate) struct Ears(Mutex<HashMap<TaskId, Ear>>);

impl Ears {
    pub(crate) fn of(&self, task: TaskId) -> Option<Ear> {
        lock(&self.0).get(&task).cloned()
    }
}

/// Listens to a task until it is dropped.
pub struct Listening {
    ears: Arc<Ears>,
    task: TaskId,
    ear: Ear,
}

impl Drop for Listening {
    fn drop(&mut self) {
        let mut ears = lock(&self.ears.0);
        // Somebody else may listen by now.
        if ears.get(&self.task).is_some_and(|now| now.0.same_channel(&self.ear.0)) {
            ears.remove(&self.task);
        }
    }
}

impl Engine {
    /// To the turn that runs, and to later ones. Only on this node: elsewhere nobody is heard before the record is.
    pub fn listen(&self, tenant: &Tenant, task: TaskId, ear: Ear) -> Listening {
        if let Some(live) = self.inner.hub.get(tenant.id, task) {
            live.hear(ear.clone());
        }
        let ears = Arc::clone(&self.inner.ears);
        lock(&ears.0).insert(task, ear.clone());
        Listening { ears, task, ear }
    }
}

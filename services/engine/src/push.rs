//! Push configurations: set, read and deleted by callers for their own tasks.
//!
//! A URL is looked at before it is kept, and again at every delivery. What leads to a receiver is kept sealed, and its
//! token and credentials are shown to nobody but the caller who gave them.

mod answer;
mod destinations;
mod follow;
mod letter;
mod log;

pub(crate) use follow::Pushes;
pub use follow::{Encode, PushTimes, ToTell};
pub use letter::Notice;
pub use log::{DeliveryPage, DeliveryQuery, PushPage, PushQuery};

use pleat_domain::push::{BadPush, Receiver};
use pleat_domain::{Caller, Dialect, NewPush, Principal, PushConfig, Task, TaskId, Tenant};
use pleat_egress::{EgressError, HostGrants};
use pleat_policy::Action;
use pleat_store::{PushEntry, PushRow};
use uuid::Uuid;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;

impl Engine {
    /// Tells a receiver what becomes of a task: all that follows its turn's beginning, or where that is over, its end.
    pub async fn set_push(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &str,
        push: NewPush,
    ) -> Result<PushConfig, EngineError> {
        let task = self.task_to_tell_of(tenant, principal, task).await?;
        authorize(principal, Action::ChangePush(&task.caller), EngineError::TaskNotFound)?;
        self.may_store(tenant, principal)?;
        let entry = self.push_entry(tenant, principal, task.id, &push, before_what_is_told(&task)).await?;
        self.tenant_store(tenant).set_push(task.id, &entry).await?;
        self.inner.pushes.look();
        let NewPush { url, token, auth, .. } = push;
        Ok(PushConfig { id: entry.id, task: task.id, url, token, auth })
    }

    /// One of a task; without an id, the one that was set first.
    pub async fn push(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &str,
        id: Option<&str>,
    ) -> Result<PushConfig, EngineError> {
        let mut all = self.pushes(tenant, principal, task).await?.into_iter();
        let found = match id {
            Some(id) => all.find(|push| push.id == id),
            None => all.next(),
        };
        found.ok_or(EngineError::PushNotFound)
    }

    /// All of a task, in the order in which they were set.
    pub async fn pushes(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &str,
    ) -> Result<Vec<PushConfig>, EngineError> {
        let task = self.task_to_tell_of(tenant, principal, task).await?;
        let rows = self.tenant_store(tenant).pushes(task.id).await?;
        let own = principal.caller();
        rows.into_iter().map(|row| self.shown_push(tenant, row, &own)).collect()
    }

    /// One that is not there is deleted already.
    pub async fn delete_push(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &str,
        id: &str,
    ) -> Result<(), EngineError> {
        let task = self.task_to_tell_of(tenant, principal, task).await?;
        authorize(principal, Action::ChangePush(&task.caller), EngineError::TaskNotFound)?;
        self.tenant_store(tenant).delete_push(task.id, id).await?;
        Ok(())
    }

    /// With a message that continues a task: what follows it is told.
    pub(crate) async fn set_push_of_turn(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &Task,
        push: &NewPush,
    ) -> Result<(), EngineError> {
        let entry = self.push_entry(tenant, principal, task.id, push, last_event(task)).await?;
        Ok(self.tenant_store(tenant).set_push(task.id, &entry).await?)
    }

    /// Whoever has no key is told so before anything is looked up.
    async fn task_to_tell_of(&self, tenant: &Tenant, principal: &Principal, id: &str) -> Result<Task, EngineError> {
        authorize(principal, Action::UsePush, EngineError::TaskNotFound)?;
        self.task(tenant, principal, id).await
    }

    /// What is kept of a wish, if it can be granted.
    pub(crate) async fn push_entry(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: TaskId,
        push: &NewPush,
        delivered: u32,
    ) -> Result<PushEntry, EngineError> {
        let destination = self.push_destination(principal, push).await?;
        self.sealed_push(tenant, principal, task, push, destination, delivered)
    }

    /// Where a wish leads, if it can be granted.
    pub(crate) async fn push_destination(&self, principal: &Principal, push: &NewPush) -> Result<String, EngineError> {
        authorize(principal, Action::UsePush, EngineError::TaskNotFound)?;
        push.check().map_err(|fault: BadPush| EngineError::Invalid(fault.to_string()))?;
        self.inner.pushes.egress.check(&push.url, &HostGrants::any()).await.map_err(refused)
    }

    /// What is kept of a wish that is granted.
    pub(crate) fn sealed_push(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: TaskId,
        push: &NewPush,
        destination: String,
        delivered: u32,
    ) -> Result<PushEntry, EngineError> {
        let id = push.id.clone().unwrap_or_else(|| fresh_id(push.dialect));
        let receiver = serde_json::to_string(&push.receiver()).map_err(internal)?;
        let sealed = self.inner.vault.seal_push(tenant.id, task, &id, &receiver).map_err(internal)?;
        Ok(PushEntry { id, caller: principal.caller(), dialect: push.dialect, destination, sealed, delivered })
    }

    pub(crate) fn receiver(
        &self,
        tenant: pleat_domain::TenantId,
        task: TaskId,
        id: &str,
        sealed: &[u8],
    ) -> Result<Receiver, EngineError> {
        let opened = self.inner.vault.open_push(tenant, task, id, sealed).map_err(internal)?;
        serde_json::from_str(&opened).map_err(internal)
    }

    fn shown_push(&self, tenant: &Tenant, row: PushRow, own: &Caller) -> Result<PushConfig, EngineError> {
        let Receiver { url, token, auth } = self.receiver(tenant.id, row.task, &row.id, &row.sealed)?;
        let PushRow { id, task, caller, destination, .. } = row;
        if caller == *own {
            return Ok(PushConfig { id, task, url, token, auth });
        }
        Ok(PushConfig { id, task, url: destination, token: None, auth: None })
    }
}

/// The last event that a receiver that comes now is not told. A running task's row is at its turn's beginning.
fn before_what_is_told(task: &Task) -> u32 {
    let settled = task.state.is_terminal() || task.state.is_interrupted();
    if settled { last_event(task).saturating_sub(1) } else { task.last_seq }
}

/// 0.1 knows one configuration for each task: setting it again is setting that one.
fn fresh_id(dialect: Dialect) -> String {
    match dialect {
        Dialect::A2a01 => "default".to_owned(),
        Dialect::A2a03 | Dialect::A2a10 => Uuid::now_v7().simple().to_string(),
    }
}

fn last_event(task: &Task) -> u32 {
    match task.last_seq {
        0 => task.derived_events().last().map_or(0, |event| event.seq),
        stored => stored,
    }
}

fn refused(error: EgressError) -> EngineError {
    let why = match error {
        EgressError::NotGranted(_) => "its host is not one of those that the operator allows".to_owned(),
        EgressError::DeniedAddress => "its address is not a public one; only the operator can allow it".to_owned(),
        other => other.to_string(),
    };
    EngineError::Invalid(format!("the URL of a push configuration cannot be used: {why}"))
}

fn internal(error: impl std::error::Error + Send + Sync + 'static) -> EngineError {
    EngineError::Internal(Box::new(error))
}

//! What the tenant sees of notifications: who is told, what became of each, and the key they are signed with.

use pleat_domain::{AuditAction, Principal, TaskId, Tenant};
use pleat_policy::Action;
use pleat_store::{DeliveryFilter, DeliveryRow, PushFilter, PushRow};
use time::OffsetDateTime;
use uuid::Uuid;

use super::letter::message_name;
use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// Which configurations to list.
#[derive(Debug, Clone, Default)]
pub struct PushQuery {
    pub task: Option<TaskId>,
    /// Only those that were given up.
    pub dead: bool,
    pub limit: u32,
    pub before: Option<(OffsetDateTime, TaskId, String)>,
}

#[derive(Debug)]
pub struct PushPage {
    /// The youngest first. What leads to a receiver is sealed in here, and stays so.
    pub pushes: Vec<PushRow>,
    pub more: bool,
}

/// Which deliveries to list.
#[derive(Debug, Clone, Default)]
pub struct DeliveryQuery {
    pub task: Option<TaskId>,
    pub state: Option<String>,
    pub limit: u32,
    pub before: Option<(OffsetDateTime, Uuid)>,
}

#[derive(Debug)]
pub struct DeliveryPage {
    /// The latest attempt first.
    pub deliveries: Vec<DeliveryRow>,
    pub more: bool,
}

impl DeliveryPage {
    /// What the receiver was told that it is.
    pub fn message_name(delivery: &DeliveryRow) -> String {
        message_name(delivery.id)
    }
}

impl Engine {
    pub async fn list_pushes(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: PushQuery,
    ) -> Result<PushPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let limit = query.limit.clamp(1, 100);
        let filter = PushFilter { task: query.task, dead: query.dead, limit: limit + 1, before: query.before };
        let mut pushes = self.tenant_store(tenant).list_pushes(&filter).await?;
        let more = pushes.len() > limit as usize;
        pushes.truncate(limit as usize);
        Ok(PushPage { pushes, more })
    }

    pub async fn deliveries(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: DeliveryQuery,
    ) -> Result<DeliveryPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let limit = query.limit.clamp(1, 100);
        let filter = DeliveryFilter { task: query.task, state: query.state, limit: limit + 1, before: query.before };
        let mut deliveries = self.tenant_store(tenant).deliveries(&filter).await?;
        let more = deliveries.len() > limit as usize;
        deliveries.truncate(limit as usize);
        Ok(DeliveryPage { deliveries, more })
    }

    /// Goes on where a receiver was given up, or does not wait any longer.
    pub async fn retry_push(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        task: &str,
        id: &str,
    ) -> Result<(), EngineError> {
        authorize(principal, Action::RetryPush, EngineError::TaskNotFound)?;
        let task = self.tenant_task(tenant, principal, task).await?;
        if !self.tenant_store(tenant).retry_push(task.id, id).await? {
            return Err(EngineError::PushNotFound);
        }
        self.audit_done(tenant, principal, AuditAction::PushRetry, &format!("{}/{id}", task.id)).await;
        self.inner.pushes.look();
        Ok(())
    }

    /// What receivers check signatures with. The same for all notifications of the tenant.
    pub fn push_key(&self, tenant: &Tenant, principal: &Principal) -> Result<String, EngineError> {
        authorize(principal, Action::ManageSecrets, EngineError::UnknownTenant)?;
        Ok(self.inner.pushes.signer.shown(tenant.id))
    }
}

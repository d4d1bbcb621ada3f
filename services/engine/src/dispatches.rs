//! The dispatch log: the subscriber of the hook bus that writes a row for every call that went to an external agent. A
//! call of what is deployed here is a task, whose row says all that.

use pleat_domain::{Principal, Tenant};
use pleat_policy::Action;
use pleat_store::{DispatchRow, StoreError};
use uuid::Uuid;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::hooks::{Denied, Hook, VerbEvent, VerbOutcome};
use crate::waiting::Waiting;

#[derive(Default)]
pub(crate) struct DispatchLog(Waiting<DispatchRow>);

impl Hook for DispatchLog {
    fn after(&self, event: &VerbEvent<'_>, outcome: &VerbOutcome<'_>) -> Result<(), Denied> {
        if let Some(agent_url) = event.agent_url {
            self.0.add([row(event, agent_url, outcome)]);
        }
        Ok(())
    }
}

fn row(event: &VerbEvent<'_>, agent_url: &str, outcome: &VerbOutcome<'_>) -> DispatchRow {
    let failure = outcome.failure;
    DispatchRow {
        id: Uuid::now_v7(),
        tenant: event.tenant.id,
        task: event.task,
        verb: event.verb.to_string(),
        legacy_alias: event.legacy_alias.map(str::to_owned),
        agent_card_id: event.agent_card_id.map(str::to_owned),
        agent_url: agent_url.to_owned(),
        skill_id: event.skill_id.to_owned(),
        session_id: event.session_id.to_owned(),
        caller: event.caller.to_owned(),
        outcome: outcome.outcome.as_str().to_owned(),
        error_code: failure.map(|failure| failure.code.clone().unwrap_or_else(|| failure.reason.as_str().to_owned())),
        error_message: failure.map(|failure| failure.message.clone()),
        duration_ms: i64::try_from(outcome.duration.as_millis()).unwrap_or(i64::MAX),
        emitted_at: event.emitted_at,
    }
}

impl Engine {
    /// The calls of a tenant that went to external agents, the latest first.
    pub async fn dispatches(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        limit: u32,
    ) -> Result<Vec<DispatchRow>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        self.write_dispatches().await?;
        Ok(self.tenant_store(tenant).dispatches(limit.clamp(1, 100)).await?)
    }

    pub(crate) async fn write_dispatches(&self) -> Result<(), StoreError> {
        let mut taken = self.inner.dispatches.0.take().await;
        while let Some(rows) = taken.part() {
            self.inner.store.add_dispatches(rows).await?;
            taken.arrived();
        }
        Ok(())
    }
}

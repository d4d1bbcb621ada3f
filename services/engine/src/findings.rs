//! What guardrails found, on its way to the database and out of it.

use std::sync::Weak;
use std::time::Duration;

use pleat_domain::{Caller, Door, Principal, Task, TaskId, Tenant};
use pleat_guardrails::{Finding, Side};
use pleat_policy::Action;
use pleat_store::{FindingFilter, FindingRow, StoreError};
use tokio_util::sync::CancellationToken;
use uuid::Uuid;

use crate::engine::{Engine, Inner, authorize};
use crate::error::EngineError;
use crate::waiting::Waiting;

/// How often they, and what else waits, are written.
const PERIOD: Duration = Duration::from_millis(100);

/// Findings shown of a task or of a trace.
const MOST_SHOWN: u32 = 1_000;

#[derive(Default)]
pub(crate) struct Findings(Waiting<FindingRow>);

/// Whose call it was.
pub(crate) struct Circumstances<'a> {
    pub(crate) tenant: &'a Tenant,
    pub(crate) task: Option<TaskId>,
    pub(crate) skill: &'a str,
    pub(crate) caller: &'a Caller,
    pub(crate) door: Door,
}

#[derive(Debug)]
pub struct FindingPage {
    pub findings: Vec<FindingRow>,
    pub more: bool,
}

impl Findings {
    pub(crate) fn add(&self, of: &Circumstances<'_>, noted: Vec<(Side, Finding)>) {
        if !noted.is_empty() {
            self.0.add(noted.into_iter().map(|(side, finding)| row(of, side, finding)));
        }
    }
}

fn row(of: &Circumstances<'_>, side: Side, finding: Finding) -> FindingRow {
    FindingRow {
        id: Uuid::now_v7(),
        tenant: of.tenant.id,
        task: of.task,
        skill: of.skill.to_owned(),
        caller: of.caller.to_string(),
        door: of.door.as_str().to_owned(),
        side: side.as_str().to_owned(),
        check: finding.check.name().to_owned(),
        rule: finding.rule,
        action: finding.action.as_str().to_owned(),
        severity: finding.severity.as_str().to_owned(),
        mode: finding.mode.as_str().to_owned(),
        // A pointer goes through keys that a caller has chosen.
        pointer: finding.pointer.chars().filter(|one| *one != '\0').take(500).collect(),
        hash: finding.hash,
        placeholder: finding.placeholder,
    }
}

impl Engine {
    /// What the guardrails of a tenant found, the latest first.
    pub async fn findings(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        mut filter: FindingFilter,
    ) -> Result<FindingPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        self.write_findings().await?;
        let limit = filter.limit.clamp(1, 100);
        filter.limit = limit + 1;
        let mut findings = self.tenant_store(tenant).findings(&filter).await?;
        let more = findings.len() > limit as usize;
        findings.truncate(limit as usize);
        Ok(FindingPage { findings, more })
    }

    /// What was found in these tasks of the tenant, oldest first.
    pub async fn findings_of(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        tasks: &[Task],
    ) -> Result<FindingPage, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        self.write_findings().await?;
        let tasks: Vec<TaskId> = tasks.iter().map(|task| task.id).collect();
        let mut findings = self.tenant_store(tenant).findings_of(&tasks, MOST_SHOWN + 1).await?;
        let more = findings.len() > MOST_SHOWN as usize;
        findings.truncate(MOST_SHOWN as usize);
        Ok(FindingPage { findings, more })
    }

    pub(crate) async fn write_findings(&self) -> Result<(), StoreError> {
        let mut taken = self.inner.findings.0.take().await;
        while let Some(rows) = taken.part() {
            self.inner.store.add_findings(rows).await?;
            taken.arrived();
        }
        Ok(())
    }
}

/// Until the engine stops or is gone. What is left then is written by the shutdown.
pub(crate) async fn keep(engine: Weak<Inner>, stopping: CancellationToken) {
    let mut ticks = tokio::time::interval(PERIOD);
    ticks.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let Some(inner) = Weak::upgrade(&engine) else { return };
        let engine = Engine { inner };
        for written in [engine.write_findings().await, engine.write_dispatches().await] {
            if let Err(error) = written {
                tracing::warn!(
                    error = &error as &dyn std::error::Error,
                    "records could not be written; it is tried again"
                );
            }
        }
    }
}

//! Usage: summed up in memory, written every few seconds, and shown.
//!
//! A node that is killed loses what it had not written yet; one that is stopped loses nothing.

use std::sync::{Arc, Weak};

use pleat_domain::{Principal, SkillName, Tenant, TenantId, TenantSlug, Usage};
use pleat_policy::Action;
use pleat_store::{StoreError, UsageRow};
use time::{Date, OffsetDateTime};
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::book::{Book, Books, Unwritten};
use crate::engine::{Engine, Inner, authorize};
use crate::error::EngineError;

/// Which days, both included, and which skill.
#[derive(Debug, Clone)]
pub struct UsageQuery {
    pub from: Date,
    pub to: Date,
    pub skill: Option<SkillName>,
}

/// What was used of one skill on one day.
#[derive(Debug, Clone)]
pub struct SkillUsage {
    pub day: Date,
    pub skill: SkillName,
    pub usage: Usage,
}

/// Years: more than is kept.
const MOST_DAYS: i64 = 800;

impl Engine {
    /// A tenant's own usage, by day and skill, the latest first.
    pub async fn usage(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        query: &UsageQuery,
    ) -> Result<Vec<SkillUsage>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        check(query)?;
        self.write_usage().await?;
        let rows = self.tenant_store(tenant).usage(query.from, query.to, query.skill.as_ref()).await?;
        Ok(rows.into_iter().map(|(day, skill, usage)| SkillUsage { day, skill, usage }).collect())
    }

    /// The sums of all tenants that exist, for the operator.
    pub async fn usage_of_all(
        &self,
        principal: &Principal,
        query: &UsageQuery,
    ) -> Result<Vec<(TenantSlug, Usage)>, EngineError> {
        authorize(principal, Action::ManageTenants, EngineError::UnknownTenant)?;
        check(query)?;
        self.write_usage().await?;
        let sums = self.inner.store.usage_by_tenant(query.from, query.to, None).await?;
        let tenants = self.inner.store.list_tenants().await?;
        let sum = |tenant: Tenant| (tenant.slug, sums.get(&tenant.id).copied().unwrap_or_default());
        Ok(tenants.into_iter().map(sum).collect())
    }

    /// Writes what was counted since the last time, and learns what other nodes have.
    pub(crate) async fn write_usage(&self) -> Result<(), StoreError> {
        self.charge_compiling();
        self.write_callers().await?;
        let mut taken = Taken::from(&self.inner.books);
        if taken.0.is_empty() {
            return Ok(());
        }
        let rows = taken.0.iter().flat_map(|(tenant, _, unwritten)| {
            let row = |((day, skill), usage): (&(Date, SkillName), &Usage)| UsageRow {
                tenant: *tenant,
                day: *day,
                skill: skill.clone(),
                usage: *usage,
            };
            unwritten.iter().map(row)
        });
        self.inner.store.add_usage(rows.collect()).await?;
        let written = std::mem::take(&mut taken.0);
        let today = OffsetDateTime::now_utc().date();
        let tenants = written.iter().map(|(tenant, ..)| *tenant).collect();
        let sums = self.inner.store.usage_by_tenant(today, today, Some(tenants)).await?;
        for (tenant, book, _) in written {
            book.set_today(today, sums.get(&tenant).copied().unwrap_or_default());
        }
        Ok(())
    }

    async fn keep_books(&self) -> Result<(), StoreError> {
        self.write_usage().await?;
        self.inner.books.set_nodes(self.inner.store.live_nodes().await?);
        Ok(())
    }
}

/// Counts on their way to the database. What does not arrive there goes back into the books.
struct Taken(Vec<(TenantId, Arc<Book>, Unwritten)>);

impl Taken {
    fn from(books: &Books) -> Self {
        let take = |(tenant, book): (TenantId, Arc<Book>)| {
            let unwritten = book.take_unwritten()?;
            Some((tenant, book, unwritten))
        };
        Self(books.all().into_iter().filter_map(take).collect())
    }
}

impl Drop for Taken {
    fn drop(&mut self) {
        self.0.drain(..).for_each(|(_, book, unwritten)| book.put_back(unwritten));
    }
}

/// Until the engine stops or is gone. What is left then is written by the shutdown.
pub(crate) async fn keep_books(engine: Weak<Inner>, period: std::time::Duration, stopping: CancellationToken) {
    let mut ticks = tokio::time::interval(period);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            _ = ticks.tick() => {}
        }
        let Some(inner) = Weak::upgrade(&engine) else { return };
        let engine = Engine { inner };
        let kept = tokio::select! {
            biased;
            () = stopping.cancelled() => return,
            kept = engine.keep_books() => kept,
        };
        if let Err(error) = kept {
            tracing::warn!(error = &error as &dyn std::error::Error, "usage could not be written; it is tried again");
        }
    }
}

fn check(query: &UsageQuery) -> Result<(), EngineError> {
    if (query.to - query.from).whole_days().unsigned_abs() > MOST_DAYS.unsigned_abs() || query.from > query.to {
        let text = format!("`from` must not be after `to`, nor more than {MOST_DAYS} days before it");
        return Err(EngineError::Invalid(text));
    }
    Ok(())
}

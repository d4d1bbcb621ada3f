//! Receivers that have something to hear: which node looks after which. What they are told is not decided here.

use std::time::Duration;

use pleat_domain::{Caller, Dialect, TaskId, TenantId};
use sqlx::postgres::types::PgInterval;
use sqlx::{FromRow, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::node::Lease;
use crate::store::Store;

/// A receiver that this node looks after, until it lays it down or is fenced.
#[derive(Debug, Clone)]
pub struct HeldPush {
    pub tenant: TenantId,
    pub task: TaskId,
    pub id: String,
    /// Who set it.
    pub caller: Caller,
    pub dialect: Dialect,
    pub destination: String,
    pub sealed: Vec<u8>,
    /// The last event that it has, or need not have.
    pub delivered: u32,
    /// How often the next one was tried in vain.
    pub attempts: u32,
    /// Since when: another time, also of this node, is not this one.
    held_at: OffsetDateTime,
}

/// One attempt to tell a receiver of one event.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushAttempt {
    /// The same at every attempt.
    pub message: Uuid,
    pub seq: u32,
    /// Which one of this event it was.
    pub number: u32,
    pub became: PushBecame,
    /// What the receiver answered.
    pub status: Option<u16>,
    pub fault: Option<String>,
    pub took: Duration,
}

/// What follows from an attempt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum PushBecame {
    Delivered,
    /// To be tried again after this time, by whichever node.
    Retrying(Duration),
    Dead,
}

impl PushBecame {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Delivered => "delivered",
            Self::Retrying(_) => "retrying",
            Self::Dead => "dead",
        }
    }
}

impl Store {
    /// Takes receivers that somebody has to look after and nobody does. Those of the tenants in `but` are left.
    pub async fn claim_pushes(&self, but: &[TenantId], most: usize) -> Result<Vec<HeldPush>, StoreError> {
        claim(self.keepers(), self.own_lease(), but, most).await
    }

    /// Records an attempt. `false`: this node does not look after the receiver any more.
    pub async fn push_tried(&self, held: &HeldPush, attempt: &PushAttempt) -> Result<bool, StoreError> {
        let pause = match attempt.became {
            PushBecame::Retrying(pause) => Some(interval(pause)),
            PushBecame::Delivered | PushBecame::Dead => None,
        };
        let known =
            sqlx::query_scalar("SELECT pleat_push_tried($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)")
                .bind(held.tenant.as_uuid())
                .bind(held.task.as_uuid())
                .bind(&held.id)
                .bind(self.node().as_uuid())
                .bind(held.held_at)
                .bind(attempt.message)
                .bind(integer(attempt.seq))
                .bind(attempt.became.as_str())
                .bind(integer(attempt.number))
                .bind(pause)
                .bind(attempt.status.map(i32::from))
                .bind(&attempt.fault)
                .bind(i32::try_from(attempt.took.as_millis()).unwrap_or(i32::MAX))
                .fetch_one(self.readers())
                .await?;
        Ok(known)
    }

    /// Lays a receiver down, to be looked after again after `pause`, or never.
    pub async fn rest_push(&self, held: &HeldPush, through: u32, pause: Option<Duration>) -> Result<(), StoreError> {
        sqlx::query("SELECT pleat_rest_push($1, $2, $3, $4, $5, $6, $7)")
            .bind(held.tenant.as_uuid())
            .bind(held.task.as_uuid())
            .bind(&held.id)
            .bind(self.node().as_uuid())
            .bind(held.held_at)
            .bind(integer(through))
            .bind(pause.map(interval))
            .execute(self.readers())
            .await?;
        Ok(())
    }
}

/// Whoever holds one and gave no sign of life for the length of a lease holds it no more. They are found first and locked
/// then, if nobody has claimed them in between, as with lost tasks.
async fn claim(pool: &PgPool, lease: &Lease, but: &[TenantId], most: usize) -> Result<Vec<HeldPush>, StoreError> {
    let own = lease.current();
    let but: Vec<Uuid> = but.iter().map(TenantId::as_uuid).collect();
    let rows = sqlx::query_as::<_, HeldRow>(
        "WITH chosen AS (
             SELECT c.task_id, c.id
             FROM (SELECT d.task_id, d.id, d.holder, d.holder_epoch FROM push_configs d
                   WHERE d.next_at <= now() AND d.tenant_id <> ALL ($4) AND NOT EXISTS (
                       SELECT FROM nodes n WHERE n.id = d.holder AND n.epoch = d.holder_epoch
                           AND n.beat_at > now() - make_interval(secs => $3))
                   ORDER BY d.next_at LIMIT $5) found
             JOIN push_configs c ON c.task_id = found.task_id AND c.id = found.id
             WHERE c.next_at <= now() AND c.holder IS NOT DISTINCT FROM found.holder
                 AND c.holder_epoch IS NOT DISTINCT FROM found.holder_epoch
             FOR UPDATE OF c SKIP LOCKED
         )
         UPDATE push_configs c SET holder = $1, holder_epoch = $2, held_at = now()
         FROM chosen WHERE c.task_id = chosen.task_id AND c.id = chosen.id
         RETURNING c.tenant_id, c.task_id, c.id, c.caller, c.dialect, c.destination, c.sealed, c.delivered, c.attempts,
             c.held_at",
    )
    .bind(own.node)
    .bind(own.epoch)
    .bind(lease.seconds())
    .bind(but)
    .bind(i64::try_from(most).unwrap_or(i64::MAX))
    .fetch_all(pool)
    .await?;
    rows.into_iter().map(HeldRow::held).collect()
}

#[derive(FromRow)]
struct HeldRow {
    tenant_id: Uuid,
    task_id: Uuid,
    id: String,
    caller: String,
    dialect: String,
    destination: String,
    sealed: Vec<u8>,
    delivered: i32,
    attempts: i32,
    held_at: OffsetDateTime,
}

impl HeldRow {
    fn held(self) -> Result<HeldPush, StoreError> {
        Ok(HeldPush {
            tenant: TenantId::from_row(self.tenant_id),
            task: TaskId::from_uuid(self.task_id),
            id: self.id,
            caller: Caller::from_stored(self.caller),
            dialect: Dialect::from_stored(&self.dialect).ok_or(StoreError::Corrupt { what: "dialect" })?,
            destination: self.destination,
            sealed: self.sealed,
            delivered: self.delivered.unsigned_abs(),
            attempts: self.attempts.unsigned_abs(),
            held_at: self.held_at,
        })
    }
}

fn interval(pause: Duration) -> PgInterval {
    PgInterval { months: 0, days: 0, microseconds: i64::try_from(pause.as_micros()).unwrap_or(i64::MAX) }
}

pub(crate) fn integer(number: u32) -> i32 {
    i32::try_from(number).unwrap_or(i32::MAX)
}

//! Writing a batch and answering its callers, also when the connection is lost or a row is bad.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use time::OffsetDateTime;
use tokio::sync::Semaphore;
use tokio::time::Instant;
use uuid::Uuid;

use crate::connect::{self, Role};
use crate::error::{Kind, StoreError};
use crate::node::{Epoch, Lease};
use crate::partitions;
use crate::wake::Bell;
use crate::writer::batch::{bind, integer, shape};
use crate::writer::encoded::Encoded;
use crate::writer::{Change, Operation, Written};

/// Longer than the server's own statement time-out: only a dead network gets here.
const ANSWER: Duration = Duration::from_secs(40);
/// After a batch of this size a connection gives back what has grown for it.
const LARGE: usize = 1024 * 1024;
/// One commit of this size keeps the database busy for long enough to be felt by others.
pub(super) const HEAVY: usize = 64 * 1024;
/// How long a database that is away is waited for; it may be restarting after a crash.
const RECONNECT: Duration = Duration::from_secs(10);
const RECONNECT_STEP: Duration = Duration::from_millis(100);

/// Whose step was taken. The others are asked after one by one.
enum Settled {
    /// The common batch is told by its number alone: what is written seldom was there before.
    All,
    These(HashSet<Uuid>),
}

impl Settled {
    fn has(&self, id: Uuid) -> bool {
        match self {
            Self::All => true,
            Self::These(ids) => ids.contains(&id),
        }
    }
}

pub(super) struct Flusher {
    options: PgConnectOptions,
    lease: Arc<Lease>,
    bell: Arc<Bell>,
    retention: Duration,
    /// Heavy batches take turns, so that they never keep all processors busy.
    turns: Arc<Semaphore>,
    connection: Option<PgConnection>,
}

impl Flusher {
    pub(super) fn new(
        options: PgConnectOptions,
        lease: &Arc<Lease>,
        bell: &Arc<Bell>,
        retention: Duration,
        turns: &Arc<Semaphore>,
    ) -> Self {
        let (lease, bell, turns) = (Arc::clone(lease), Arc::clone(bell), Arc::clone(turns));
        Self { options, lease, bell, retention, turns, connection: None }
    }

    /// Every operation is answered when this returns.
    pub(super) async fn flush(&mut self, batch: Vec<Operation>) {
        let bytes: usize = batch.iter().map(|operation| operation.encoded.bytes).sum();
        let is_heavy = batch.iter().any(|operation| operation.encoded.bytes > HEAVY);
        let turns = Arc::clone(&self.turns);
        // Never closed.
        let _turn = if is_heavy { turns.acquire().await.ok() } else { None };
        self.write_all(batch).await;
        if bytes > LARGE
            && let Some(connection) = &mut self.connection
        {
            connection.shrink_buffers();
        }
    }

    async fn write_all(&mut self, batch: Vec<Operation>) {
        // Whether an earlier try may have taken effect, and whether missing partitions were made.
        let (mut unsure, mut partitioned) = (false, false);
        let mut parts = vec![batch];
        while let Some(part) = parts.pop() {
            let reached = self.connected().await.map(drop);
            // After that: while the database was away, the lease may have lapsed.
            let lease = self.lease.current();
            let mut part = still_held(part, lease);
            if part.is_empty() {
                continue;
            }
            let written = match reached {
                Ok(()) => self.write(&part, lease, unsure).await,
                Err(error) => Err(error),
            };
            let error = match written {
                Ok(settled) => {
                    self.answer(part, &settled, unsure).await;
                    continue;
                }
                Err(error) => error,
            };
            match Kind::of(&error) {
                Kind::ConnectionLost if !unsure => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a writer lost its connection");
                    self.connection = None;
                    unsure = true;
                    parts.push(part);
                }
                // What a plain batch runs into, it has to look for.
                Kind::Duplicate if !unsure => {
                    unsure = true;
                    parts.push(part);
                }
                Kind::NoPartition if !partitioned => {
                    partitioned = true;
                    self.make_partitions().await;
                    parts.push(part);
                }
                Kind::NoPartition | Kind::BadCharacter | Kind::Duplicate | Kind::BadRow if part.len() > 1 => {
                    let second = part.split_off(part.len() / 2);
                    parts.push(second);
                    parts.push(part);
                }
                kind => self.refuse(part, kind, error).await,
            }
        }
    }

    /// The statement is its own transaction.
    async fn write(&mut self, part: &[Operation], lease: Epoch, again: bool) -> Result<Settled, sqlx::Error> {
        let commits: Vec<&Encoded> = part.iter().map(|operation| &operation.encoded).collect();
        let shape = shape(commits.iter().copied());
        let oldest = partitions::bound(OffsetDateTime::now_utc() - self.retention);
        let connection = self.connected().await?;
        let query = bind(sqlx::query(AssertSqlSafe(shape.sql(again))), &commits, lease, oldest, shape);
        if shape.is_plain() {
            let done = tokio::time::timeout(ANSWER, query.execute(connection)).await.map_err(|_| timed_out())??;
            let all = usize::try_from(done.rows_affected()) == Ok(commits.len());
            return Ok(if all { Settled::All } else { Settled::These(HashSet::new()) });
        }
        let rows = tokio::time::timeout(ANSWER, query.fetch_all(connection)).await.map_err(|_| timed_out())??;
        rows.iter().map(|row| sqlx::Row::try_get(row, 0)).collect::<Result<_, _>>().map(Settled::These)
    }

    async fn connected(&mut self) -> Result<&mut PgConnection, sqlx::Error> {
        if self.connection.is_none() {
            let deadline = Instant::now() + RECONNECT;
            self.connection = Some(loop {
                match connect::single(&self.options, Role::Writer).await {
                    Ok(connection) => break connection,
                    Err(error) if Instant::now() >= deadline => {
                        return Err(sqlx::Error::Io(std::io::Error::other(error)));
                    }
                    Err(_) => tokio::time::sleep(RECONNECT_STEP).await,
                }
            });
        }
        self.connection.as_mut().ok_or(sqlx::Error::WorkerCrashed)
    }

    /// The clock may have run ahead of the maintenance, as after a machine's sleep.
    async fn make_partitions(&self) {
        if let Err(error) = partitions::ensure(&self.options, OffsetDateTime::now_utc()).await {
            tracing::error!(error = &error as &dyn std::error::Error, "partitions could not be made");
        }
    }

    async fn answer(&mut self, part: Vec<Operation>, settled: &Settled, unsure: bool) {
        // Nobody can follow a task that was not there before.
        let followed = part.iter().filter(|operation| !operation.encoded.commit.change.is_new());
        self.bell.changed(followed.map(|operation| operation.encoded.task().id));
        for operation in part {
            let outcome = if settled.has(operation.encoded.id()) {
                Ok(Written::Done)
            } else {
                self.explain(&operation.encoded, unsure).await
            };
            // A caller that went away does not undo its commit.
            let _ = operation.reply.send(outcome);
        }
    }

    /// Why a step was not taken this time: it had been before, or it may not be.
    async fn explain(&mut self, encoded: &Encoded, unsure: bool) -> Result<Written, StoreError> {
        let insert = encoded.commit.change == Change::Insert;
        if (encoded.commit.change.is_new() || unsure) && self.took_effect(encoded).await? {
            return Ok(Written::Done);
        }
        match &encoded.task().alias {
            Some(alias) if insert => Err(StoreError::AliasTaken(alias.clone())),
            None if insert && encoded.commit.once.is_some() => Err(StoreError::Repeated),
            _ => Ok(Written::Fenced),
        }
    }

    async fn took_effect(&mut self, encoded: &Encoded) -> Result<bool, StoreError> {
        let connection = self.connected().await?;
        let task = encoded.task();
        let last = encoded.commit.events.last();
        let found = match encoded.commit.change {
            Change::Insert | Change::Step => sqlx::query("SELECT FROM tasks WHERE tenant_id = $1 AND id = $2")
                .bind(encoded.commit.tenant.as_uuid())
                .bind(encoded.id()),
            Change::Update | Change::Resume => sqlx::query(
                "SELECT FROM tasks WHERE tenant_id = $1 AND id = $2 AND state = $3 AND turn = $4 AND updated_at = $5",
            )
            .bind(encoded.commit.tenant.as_uuid())
            .bind(encoded.id())
            .bind(task.state.to_code())
            .bind(task.turn)
            .bind(task.updated_at),
            Change::Append => sqlx::query(
                "SELECT FROM task_events
                 WHERE tenant_id = $1 AND task_id = $2 AND seq = $3 AND at = $4 AND body::text = $5",
            )
            .bind(encoded.commit.tenant.as_uuid())
            .bind(encoded.id())
            .bind(last.map(|event| integer(event.seq)))
            .bind(last.map(|event| event.at))
            .bind(encoded.events.last()),
        };
        Ok(found.fetch_optional(connection).await?.is_some())
    }

    /// The end of a part that could not be written.
    async fn refuse(&mut self, part: Vec<Operation>, kind: Kind, error: sqlx::Error) {
        if kind == Kind::ConnectionLost {
            self.connection = None;
        }
        let error = StoreError::from(error);
        for operation in part {
            // A taken sequence number means that somebody else writes this task's events now, or that we did before.
            let outcome = match kind {
                Kind::Duplicate => self
                    .took_effect(&operation.encoded)
                    .await
                    .map(|done| if done { Written::Done } else { Written::Fenced }),
                _ => Err(error.clone()),
            };
            let _ = operation.reply.send(outcome);
        }
    }
}

/// Without what was begun under another epoch, which is answered.
fn still_held(part: Vec<Operation>, lease: Epoch) -> Vec<Operation> {
    let is_held = |operation: &Operation| operation.encoded.commit.held.is_none_or(|epoch| epoch == lease.epoch);
    let (held, stale): (Vec<_>, Vec<_>) = part.into_iter().partition(is_held);
    for operation in stale {
        let _ = operation.reply.send(Ok(Written::Fenced));
    }
    held
}

fn timed_out() -> sqlx::Error {
    sqlx::Error::Io(std::io::ErrorKind::TimedOut.into())
}

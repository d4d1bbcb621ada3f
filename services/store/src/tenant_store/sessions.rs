//! Sessions of the Model Context Protocol, and the requests of theirs that are being served.

use std::time::Duration;

use pleat_domain::{Caller, Raw, SessionId, TaskId};
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;
use crate::wake::Wake;

/// A session to be opened.
#[derive(Debug, Clone)]
pub struct NewSession {
    pub id: SessionId,
    /// At the operators' door.
    pub control: bool,
    pub caller: Caller,
    pub version: String,
    pub capabilities: Raw,
    pub expires_at: OffsetDateTime,
}

/// How many there may be.
#[derive(Debug, Clone, Copy)]
pub struct SessionRoom {
    pub caller: i32,
    pub tenant: i32,
}

#[derive(Debug, Clone)]
pub struct SessionRecord {
    pub id: SessionId,
    pub control: bool,
    pub caller: Caller,
    pub version: String,
    pub capabilities: Raw,
    pub initialized: bool,
    /// What is to be logged to the client, as a number of the protocol's levels.
    pub log_level: Option<i16>,
    pub subscriptions: Vec<String>,
    pub expires_at: OffsetDateTime,
}

/// What may change in a session.
#[derive(Debug, Clone)]
pub enum SessionChange {
    /// The handshake is over.
    Initialized,
    LogLevel(i16),
    /// With the number of what its client knows of it, where its changes are numbered.
    Subscribed(String, Option<i64>),
    Unsubscribed(String),
    /// It was used.
    Touched,
}

impl TenantStore {
    /// `false`: the tenant has as many as it may have.
    pub async fn open_session(&self, new: &NewSession, room: SessionRoom) -> Result<bool, StoreError> {
        Ok(sqlx::query_scalar("SELECT pleat_open_session($1, $2, $3, $4, $5, $6::text::json, $7, $8, $9)")
            .bind(self.tenant.as_uuid())
            .bind(new.id.as_uuid())
            .bind(new.control)
            .bind(new.caller.as_str())
            .bind(&new.version)
            .bind(new.capabilities.get())
            .bind(new.expires_at)
            .bind(room.caller)
            .bind(room.tenant)
            .fetch_one(self.readers())
            .await?)
    }

    /// One that has not expired.
    pub async fn session(&self, id: SessionId) -> Result<Option<SessionRecord>, StoreError> {
        let row = sqlx::query_as::<_, SessionRow>(
            "SELECT id, control, caller, version, capabilities, initialized, log_level, subscriptions, expires_at
             FROM pleat_session($1, $2)",
        )
        .bind(self.tenant.as_uuid())
        .bind(id.as_uuid())
        .fetch_optional(self.readers())
        .await?;
        Ok(row.map(SessionRow::record))
    }

    /// `false`: there is no such session, or what was to be added is too much. Every change is a sign of life.
    pub async fn change_session(
        &self,
        id: SessionId,
        change: &SessionChange,
        idle: Duration,
        most_subscriptions: i32,
    ) -> Result<bool, StoreError> {
        let (level, added, removed) = match change {
            SessionChange::LogLevel(level) => (Some(*level), None, None),
            SessionChange::Subscribed(uri, _) => (None, Some(uri.as_str()), None),
            SessionChange::Unsubscribed(uri) => (None, None, Some(uri.as_str())),
            SessionChange::Initialized | SessionChange::Touched => (None, None, None),
        };
        let mut transaction = self.begin().await?;
        let done = sqlx::query(
            "UPDATE mcp_sessions SET
               initialized = initialized OR $3,
               log_level = coalesce($4, log_level),
               subscriptions = CASE
                 WHEN $5::text IS NOT NULL AND NOT $5 = ANY(subscriptions) THEN array_append(subscriptions, $5)
                 ELSE array_remove(subscriptions, $6::text) END,
               expires_at = CASE WHEN initialized OR $3 THEN now() + make_interval(secs => $7) ELSE expires_at END
             WHERE tenant_id = $1 AND id = $2 AND expires_at > now()
               AND ($5::text IS NULL OR $5 = ANY(subscriptions) OR cardinality(subscriptions) < $8)",
        )
        .bind(self.tenant.as_uuid())
        .bind(id.as_uuid())
        .bind(matches!(change, SessionChange::Initialized))
        .bind(level)
        .bind(added)
        .bind(removed)
        .bind(idle.as_secs_f64())
        .bind(most_subscriptions)
        .execute(&mut *transaction)
        .await?;
        let changed = done.rows_affected() > 0;
        if changed {
            self.change_told(&mut transaction, id, change).await?;
        }
        transaction.commit().await?;
        if changed && !matches!(change, SessionChange::Touched) {
            self.store.announce(Wake::Session(id));
        }
        Ok(changed)
    }

    /// What its client was told of is kept for as long as it is subscribed to.
    async fn change_told(
        &self,
        connection: &mut PgConnection,
        id: SessionId,
        change: &SessionChange,
    ) -> Result<(), StoreError> {
        let query = match change {
            SessionChange::Subscribed(uri, Some(mark)) => sqlx::query(
                "INSERT INTO mcp_told (tenant_id, session_id, subject, mark) VALUES ($1, $2, $3, $4)
                 ON CONFLICT DO NOTHING",
            )
            .bind(self.tenant.as_uuid())
            .bind(id.as_uuid())
            .bind(uri)
            .bind(mark),
            // No subject is what stands for all that is deployed.
            SessionChange::Unsubscribed(uri) if !uri.is_empty() => {
                sqlx::query("DELETE FROM mcp_told WHERE tenant_id = $1 AND session_id = $2 AND subject = $3")
                    .bind(self.tenant.as_uuid())
                    .bind(id.as_uuid())
                    .bind(uri)
            }
            _ => return Ok(()),
        };
        query.execute(connection).await?;
        Ok(())
    }

    /// `false`: there was none.
    pub async fn close_session(&self, id: SessionId) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query("DELETE FROM mcp_sessions WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant.as_uuid())
            .bind(id.as_uuid())
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.store.announce(Wake::Session(id));
        Ok(done.rows_affected() > 0)
    }

    /// Notes which task a request became.
    pub async fn begin_call(&self, session: SessionId, request: &str, task: TaskId) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query(
            "INSERT INTO mcp_calls (tenant_id, session_id, request_id, task_id)
             SELECT $1, $2, $3, $4 WHERE EXISTS (SELECT FROM mcp_sessions WHERE tenant_id = $1 AND id = $2)
             ON CONFLICT (tenant_id, session_id, request_id) DO UPDATE SET task_id = excluded.task_id",
        )
        .bind(self.tenant.as_uuid())
        .bind(session.as_uuid())
        .bind(request)
        .bind(task.as_uuid())
        .execute(&mut *transaction)
        .await?;
        Ok(transaction.commit().await?)
    }

    /// The task of a request, which is forgotten.
    pub async fn end_call(&self, session: SessionId, request: &str) -> Result<Option<TaskId>, StoreError> {
        let mut transaction = self.begin().await?;
        let task: Option<Uuid> = sqlx::query_scalar(
            "DELETE FROM mcp_calls WHERE tenant_id = $1 AND session_id = $2 AND request_id = $3 RETURNING task_id",
        )
        .bind(self.tenant.as_uuid())
        .bind(session.as_uuid())
        .bind(request)
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(task.map(TaskId::from_uuid))
    }

    /// The same for who knows the task alone.
    pub async fn forget_call(&self, session: SessionId, task: TaskId) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM mcp_calls WHERE tenant_id = $1 AND session_id = $2 AND task_id = $3")
            .bind(self.tenant.as_uuid())
            .bind(session.as_uuid())
            .bind(task.as_uuid())
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }
}

#[derive(FromRow)]
struct SessionRow {
    id: Uuid,
    control: bool,
    caller: String,
    version: String,
    capabilities: Json<Raw>,
    initialized: bool,
    log_level: Option<i16>,
    subscriptions: Vec<String>,
    expires_at: OffsetDateTime,
}

impl SessionRow {
    fn record(self) -> SessionRecord {
        SessionRecord {
            id: SessionId::from_uuid(self.id),
            control: self.control,
            caller: Caller::from_stored(self.caller),
            version: self.version,
            capabilities: self.capabilities.0,
            initialized: self.initialized,
            log_level: self.log_level,
            subscriptions: self.subscriptions,
            expires_at: self.expires_at,
        }
    }
}

//! Sessions of the Model Context Protocol: bound to a tenant, a door and a caller, known on every node, and ended by
//! not being used.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use pleat_domain::{Limit, Principal, Raw, SessionId, Tenant, TenantId};
use pleat_store::{NewSession, SessionChange, SessionRecord, SessionRoom};
use rand::TryRng;
use time::OffsetDateTime;
use tokio::sync::{Semaphore, watch};

use crate::engine::{Engine, STALE};
use crate::error::{EngineError, Reached};
use crate::hub::lock;

/// How long sessions live, and how many there may be.
#[derive(Debug, Clone, Copy)]
pub struct SessionLimits {
    /// A session that is not used for so long is over.
    pub idle: Duration,
    /// The same for one whose client has not finished the handshake.
    pub handshake: Duration,
    pub per_tenant: u32,
    /// Of one caller. One more ends the oldest.
    pub per_caller: u32,
    pub subscriptions: u32,
    /// Streams on which one caller listens for changes, on one node.
    pub listeners: u32,
}

impl Default for SessionLimits {
    fn default() -> Self {
        Self {
            idle: Duration::from_secs(30 * 60),
            handshake: Duration::from_secs(30),
            per_tenant: 10_000,
            per_caller: 2_000,
            subscriptions: 100,
            listeners: 1_000,
        }
    }
}

/// The count of changes comes first: who began to read before a change cannot spoil what is read after it.
type Place = (u64, TenantId, SessionId);

/// What this node knows of sessions, and who waits for their changes.
pub(crate) struct Sessions {
    known: moka::sync::Cache<Place, Arc<SessionRecord>>,
    /// Counts of changes, each of some of the sessions.
    changes: [AtomicU64; 256],
    watched: Mutex<HashMap<SessionId, watch::Sender<()>>>,
    /// Room for cancels that look for their request again.
    pub(crate) looking: Arc<Semaphore>,
}

/// Cancels that do so at the same time.
const LOOKING: usize = 256;

impl Sessions {
    pub(crate) fn new() -> Self {
        let known = moka::sync::Cache::builder().max_capacity(10_000).time_to_live(STALE).build();
        let looking = Arc::new(Semaphore::new(LOOKING));
        Self { known, changes: [const { AtomicU64::new(0) }; 256], watched: Mutex::default(), looking }
    }

    fn changes_of(&self, id: SessionId) -> &AtomicU64 {
        let (uuid, [first, ..]) = (id.as_uuid(), &self.changes);
        let [.., last] = uuid.as_bytes();
        self.changes.get(usize::from(*last)).unwrap_or(first)
    }

    /// It has changed, here or elsewhere.
    pub(crate) fn forget(&self, id: SessionId) {
        self.changes_of(id).fetch_add(1, Ordering::Release);
        if let Some(sender) = lock(&self.watched).get(&id) {
            sender.send_replace(());
        }
    }
}

/// Told when a session changes.
pub struct SessionWatch {
    engine: Engine,
    id: SessionId,
    receiver: watch::Receiver<()>,
}

impl SessionWatch {
    pub async fn changed(&mut self) {
        // The sender is kept as long as this is.
        let _ = self.receiver.changed().await;
    }
}

impl Drop for SessionWatch {
    fn drop(&mut self) {
        let mut watched = lock(&self.engine.inner.sessions.watched);
        if watched.get(&self.id).is_some_and(|sender| sender.receiver_count() <= 1) {
            watched.remove(&self.id);
        }
    }
}

impl Engine {
    fn session_limits(&self) -> SessionLimits {
        self.inner.config.sessions
    }

    /// `control`: at the operators' door.
    pub async fn open_session(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        control: bool,
        version: &str,
        capabilities: Raw,
    ) -> Result<SessionId, EngineError> {
        let limits = self.session_limits();
        let mut entropy = [0; 16];
        rand::rngs::SysRng.try_fill_bytes(&mut entropy).map_err(|error| EngineError::Internal(Box::new(error)))?;
        let id = SessionId::from_random(entropy);
        let new = NewSession {
            id,
            control,
            caller: principal.caller(),
            version: version.to_owned(),
            capabilities,
            expires_at: OffsetDateTime::now_utc() + limits.handshake,
        };
        let room = SessionRoom { caller: stored(limits.per_caller), tenant: stored(limits.per_tenant) };
        if self.tenant_store(tenant).open_session(&new, room).await? {
            return Ok(id);
        }
        let (limit, most) = (Limit::Sessions, u64::from(limits.per_tenant));
        Err(Reached { limit, most, retry_after: Some(limits.handshake) }.into())
    }

    /// A session of this caller at this door. Anybody else's is none.
    pub async fn session(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        control: bool,
        id: &str,
    ) -> Result<Arc<SessionRecord>, EngineError> {
        let id = SessionId::parse(id).ok_or(EngineError::SessionNotFound)?;
        let now = OffsetDateTime::now_utc();
        let sessions = &self.inner.sessions;
        let place = (sessions.changes_of(id).load(Ordering::Acquire), tenant.id, id);
        let known = sessions.known.get(&place).filter(|record| record.expires_at > now);
        let record = match known {
            Some(record) => record,
            None => {
                let store = self.tenant_store(tenant);
                let found = Box::pin(store.session(id)).await?.ok_or(EngineError::SessionNotFound)?;
                let record = Arc::new(found);
                sessions.known.insert(place, Arc::clone(&record));
                record
            }
        };
        if record.caller != principal.caller() || record.control != control {
            return Err(EngineError::SessionNotFound);
        }
        self.keep_alive(tenant, &record, now).await?;
        Ok(record)
    }

    /// Written once in half an idle time, not with every request.
    async fn keep_alive(
        &self,
        tenant: &Tenant,
        record: &SessionRecord,
        now: OffsetDateTime,
    ) -> Result<(), EngineError> {
        let left = record.expires_at - now;
        if record.initialized && left < self.session_limits().idle / 2 {
            Box::pin(self.change_session(tenant, record.id, SessionChange::Touched)).await?;
        }
        Ok(())
    }

    pub async fn session_ready(&self, tenant: &Tenant, session: &SessionRecord) -> Result<(), EngineError> {
        self.change_session(tenant, session.id, SessionChange::Initialized).await
    }

    pub async fn set_session_level(
        &self,
        tenant: &Tenant,
        session: &SessionRecord,
        level: i16,
    ) -> Result<(), EngineError> {
        self.change_session(tenant, session.id, SessionChange::LogLevel(level)).await
    }

    /// `mark`: of a task, the number of what the client can know of it.
    pub async fn subscribe_session(
        &self,
        tenant: &Tenant,
        session: &SessionRecord,
        uri: &str,
        mark: Option<i64>,
    ) -> Result<(), EngineError> {
        let most = self.session_limits().subscriptions;
        if session.subscriptions.len() >= most as usize && !session.subscriptions.iter().any(|held| held == uri) {
            let text = format!("a session holds at most {most} subscriptions; unsubscribe from one");
            return Err(EngineError::Invalid(text));
        }
        self.change_session(tenant, session.id, SessionChange::Subscribed(uri.to_owned(), mark)).await
    }

    pub async fn unsubscribe_session(
        &self,
        tenant: &Tenant,
        session: &SessionRecord,
        uri: &str,
    ) -> Result<(), EngineError> {
        self.change_session(tenant, session.id, SessionChange::Unsubscribed(uri.to_owned())).await
    }

    pub async fn close_session(&self, tenant: &Tenant, session: &SessionRecord) -> Result<(), EngineError> {
        self.tenant_store(tenant).close_session(session.id).await?;
        self.inner.sessions.forget(session.id);
        Ok(())
    }

    pub fn watch_session(&self, session: &SessionRecord) -> SessionWatch {
        let mut watched = lock(&self.inner.sessions.watched);
        let receiver = watched.entry(session.id).or_insert_with(|| watch::Sender::new(())).subscribe();
        SessionWatch { engine: self.clone(), id: session.id, receiver }
    }

    async fn change_session(&self, tenant: &Tenant, id: SessionId, change: SessionChange) -> Result<(), EngineError> {
        let limits = self.session_limits();
        let most = stored(limits.subscriptions);
        let changed = self.tenant_store(tenant).change_session(id, &change, limits.idle, most).await?;
        self.inner.sessions.forget(id);
        if changed { Ok(()) } else { Err(EngineError::SessionNotFound) }
    }
}

fn stored(most: u32) -> i32 {
    i32::try_from(most).unwrap_or(i32::MAX)
}

//! The engine: what every door holds. Cheap to clone.

use std::sync::Arc;
use std::time::Duration;

use pleat_domain::{Plans, Principal, Tenant, TenantSlug};
use pleat_egress::{BadConfig, Egress, EgressConfig};
use pleat_policy::{Action, Decision, Denial, decide};
use pleat_runtime::Runtime;
use pleat_store::{Store, TenantStore};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::absent_tenants::AbsentTenants;
use crate::audit::DeniedCounts;
use crate::auth::KeyCache;
use crate::book::Books;
use crate::card_keys::CardKeyCache;
use crate::catalog::Catalogs;
use crate::dispatches::DispatchLog;
use crate::ear::Ears;
use crate::error::EngineError;
use crate::findings::{self, Findings};
use crate::hooks::{Hook, Hooks};
use crate::hub::{Again, Hub, Interrupt};
use crate::keyring::{KeyHasher, MasterKey, PageSeal, Vault};
use crate::listeners::Listeners;
use crate::measure::{Measures, Ping};
use crate::meter::Meter;
use crate::news::News;
use crate::nodes;
use crate::push::{PushTimes, Pushes};
use crate::sessions::{SessionLimits, Sessions};
use crate::settings::SettingCache;
use crate::slots::Slots;
use crate::tokens::{KeySetTimes, Tokens};
use crate::usage;

/// What the operator chooses.
#[derive(Clone)]
pub struct EngineConfig {
    pub master_key: MasterKey,
    /// A blocking call that finishes within this is recorded once, when it is finished.
    pub grace: Duration,
    /// How often at most a running task's events are made durable.
    pub event_interval: Duration,
    /// How long running calls may take to finish at shutdown.
    pub drain: Duration,
    /// The tenant whose functions are public unless said otherwise: the demo tenant of `pleat dev`.
    pub public_by_default: Option<TenantSlug>,
    pub hooks: Vec<Arc<dyn Hook>>,
    /// How far requests to the outside may go.
    pub egress: EgressConfig,
    /// Whether invocations are counted by tenant too.
    pub measure_tenants: bool,
    /// What tenants may use.
    pub plans: Plans,
    /// How long a call may wait for an instance slot.
    pub slot_wait: Duration,
    /// How many calls may.
    pub slot_queue: usize,
    /// How long the windows are in which CPU time per minute is counted.
    pub cpu_window: Duration,
    /// How often usage is written.
    pub usage_interval: Duration,
    /// The sets of keys that issuers of tokens serve at a URL.
    pub key_sets: KeySetTimes,
    /// The receivers of push notifications.
    pub push: PushTimes,
    /// Sessions of the Model Context Protocol.
    pub sessions: SessionLimits,
}

impl EngineConfig {
    pub fn new(master_key: MasterKey) -> Self {
        Self {
            master_key,
            grace: Duration::from_millis(25),
            event_interval: Duration::from_millis(50),
            drain: Duration::from_secs(5),
            public_by_default: None,
            hooks: Vec::new(),
            egress: EgressConfig::default(),
            measure_tenants: false,
            plans: Plans::default(),
            slot_wait: Duration::from_secs(5),
            slot_queue: 1_000,
            cpu_window: Duration::from_secs(60),
            usage_interval: Duration::from_secs(2),
            key_sets: KeySetTimes::default(),
            push: PushTimes::default(),
            sessions: SessionLimits::default(),
        }
    }
}

/// Operations of guests that may wait for a turn at the database; a call has few at once.
const TURNS_QUEUE: usize = 16_384;
/// Long checks and compilations of schemas at once, and those that wait.
const SCHEMA_TURNS: usize = 4;
const SCHEMA_QUEUE: usize = 256;

/// How long a node may go on with what it knows of tenants and keys, should another node's notice of a change be lost.
pub(crate) const STALE: Duration = Duration::from_millis(800);

#[derive(Clone)]
pub struct Engine {
    pub(crate) inner: Arc<Inner>,
}

pub(crate) struct Inner {
    pub(crate) store: Store,
    pub(crate) runtime: Runtime,
    pub(crate) config: EngineConfig,
    pub(crate) hasher: KeyHasher,
    pub(crate) vault: Vault,
    pub(crate) pages: PageSeal,
    pub(crate) settings: SettingCache,
    pub(crate) keys: KeyCache,
    pub(crate) denied: DeniedCounts,
    pub(crate) card_keys: CardKeyCache,
    pub(crate) tenants: moka::sync::Cache<TenantSlug, Arc<Tenant>>,
    pub(crate) absent_tenants: AbsentTenants,
    pub(crate) ping: Ping,
    pub(crate) catalogs: Catalogs,
    pub(crate) hub: Hub,
    /// Requests of sessions that are no tasks.
    pub(crate) held: Hub,
    pub(crate) news: Arc<News>,
    pub(crate) ears: Arc<Ears>,
    pub(crate) sessions: Sessions,
    pub(crate) listeners: Listeners,
    pub(crate) hooks: Hooks,
    pub(crate) findings: Findings,
    pub(crate) dispatches: Arc<DispatchLog>,
    /// What guardrails hash with, for all tenants.
    pub(crate) guard_key: [u8; 64],
    pub(crate) egress: Egress,
    pub(crate) tokens: Tokens,
    pub(crate) pushes: Pushes,
    pub(crate) books: Arc<Books>,
    pub(crate) measures: Measures,
    pub(crate) slots: Arc<Slots>,
    /// Turns for long work on schemas.
    pub(crate) schema_turns: Arc<Slots>,
    /// Turns at the database for what guests keep there: one tenant's flood must not take all connections.
    pub(crate) turns: Arc<Slots>,
    /// Calls.
    pub(crate) tracker: TaskTracker,
    /// No further calls.
    pub(crate) stopping: CancellationToken,
    /// What goes on as long as the engine does.
    pub(crate) chores: TaskTracker,
    pub(crate) closed: CancellationToken,
    /// Asks for a look at what lost nodes left.
    pub(crate) sweep: Arc<Notify>,
}

impl Engine {
    /// Must be called inside a tokio runtime: the books are kept by a task of their own.
    pub fn new(store: Store, runtime: Runtime, config: EngineConfig) -> Result<Self, BadConfig> {
        let (stopping, period) = (CancellationToken::new(), config.usage_interval);
        let books = Arc::new(Books::new(config.cpu_window));
        let dispatches = Arc::new(DispatchLog::default());
        // Behind the operator's own, so that they are told what is left of a call after those.
        let subscribers: [Arc<dyn Hook>; 2] =
            [Arc::new(Meter(Arc::clone(&books))), Arc::<DispatchLog>::clone(&dispatches)];
        let inner = Inner {
            slots: Slots::new(runtime.occupancy().capacity, config.slot_queue),
            schema_turns: Slots::of(SCHEMA_TURNS, SCHEMA_QUEUE),
            turns: Slots::of(store.connections() / 2, TURNS_QUEUE),
            books,
            measures: Measures::default(),
            dispatches,
            store,
            runtime,
            hasher: KeyHasher::new(&config.master_key),
            vault: Vault::new(&config.master_key),
            pages: PageSeal::new(&config.master_key),
            settings: SettingCache::new(),
            keys: KeyCache::new(),
            denied: DeniedCounts::new(),
            card_keys: CardKeyCache::new(),
            tenants: moka::sync::Cache::builder().max_capacity(100_000).time_to_live(STALE).build(),
            absent_tenants: AbsentTenants::new(),
            ping: Ping::default(),
            catalogs: Catalogs::new(),
            hub: Hub::default(),
            held: Hub::default(),
            news: Arc::default(),
            ears: Arc::default(),
            sessions: Sessions::new(),
            listeners: Listeners::default(),
            hooks: Hooks::new(config.hooks.iter().cloned().chain(subscribers).collect()),
            findings: Findings::default(),
            guard_key: config.master_key.entropy_for("guardrails"),
            egress: Egress::new(config.egress.clone())?,
            tokens: Tokens::new(&config.egress, config.key_sets)?,
            pushes: Pushes::new(&config.master_key, &config.egress, config.push)?,
            tracker: TaskTracker::new(),
            stopping: stopping.clone(),
            chores: TaskTracker::new(),
            closed: CancellationToken::new(),
            sweep: Arc::default(),
            config,
        };
        let engine = Self { inner: Arc::new(inner) };
        engine.inner.tracker.spawn(findings::keep(Arc::downgrade(&engine.inner), stopping.clone()));
        engine.inner.tracker.spawn(usage::keep_books(Arc::downgrade(&engine.inner), period, stopping));
        nodes::attend(&engine);
        Ok(engine)
    }

    /// The tenant of a route.
    pub async fn tenant(&self, slug: &TenantSlug) -> Result<Arc<Tenant>, EngineError> {
        if let Some(tenant) = self.inner.tenants.get(slug) {
            return Ok(tenant);
        }
        let absent = &self.inner.absent_tenants;
        if absent.has(slug) {
            return Err(EngineError::UnknownTenant);
        }
        let created = absent.created();
        // Boxed, as all that is seldom needed: every request carries the room for what it might have to wait for.
        let Some(found) = Box::pin(self.inner.store.tenant_by_slug(slug)).await? else {
            absent.insert(slug, created);
            return Err(EngineError::UnknownTenant);
        };
        let tenant = Arc::new(found);
        self.inner.tenants.insert(slug.clone(), Arc::clone(&tenant));
        Ok(tenant)
    }

    /// Where every call is told of, also those that are not made here.
    pub fn hooks(&self) -> &Hooks {
        &self.inner.hooks
    }

    /// The way out, for whatever of the platform has to ask somebody else.
    pub fn egress(&self) -> &Egress {
        &self.inner.egress
    }

    /// For the server that starts, before anything else: refuses a master key that is not the platform's.
    pub async fn check_master_key(&self) -> Result<(), EngineError> {
        let vault = &self.inner.vault;
        let mine = vault.seal_check().map_err(|error| EngineError::Internal(Box::new(error)))?;
        let kept = self.inner.store.master_key_check(&mine).await?;
        if vault.knows_check(&kept) { Ok(()) } else { Err(EngineError::WrongMasterKey) }
    }

    /// Does now what the first deploy of a script would wait for.
    pub fn warm_up(&self) {
        let (runtime, stopping) = (self.inner.runtime.clone(), self.inner.stopping.clone());
        self.inner.tracker.spawn(async move {
            if let Some(Err(error)) = stopping.run_until_cancelled(runtime.warm_up()).await {
                tracing::warn!(error = &error as &dyn std::error::Error, "the script engine could not be prepared");
            }
        });
    }

    /// No new calls; running ones get the drain time. What is left then is stopped: it is recorded as lost, or, where
    /// its function may run again and another node lives, left to that one. Runs of pipelines are left to whoever takes
    /// them. Reading goes on.
    pub async fn drain(&self) {
        self.inner.stopping.cancel();
        self.inner.tracker.close();
        if tokio::time::timeout(self.inner.config.drain, self.inner.tracker.wait()).await.is_ok() {
            return;
        }
        self.inner.held.stop_where(|_| Some(Interrupt::Shutdown));
        let company = self.inner.store.other_nodes() > 0;
        self.inner.hub.stop_where(|live| match live.again {
            Again::Anytime => Some(Interrupt::HandedBack),
            Again::Elsewhere if company => Some(Interrupt::HandedBack),
            Again::Elsewhere | Again::Never => Some(Interrupt::Shutdown),
        });
        if tokio::time::timeout(Duration::from_secs(5), self.inner.tracker.wait()).await.is_err() {
            tracing::warn!("some calls did not stop in time; they will be recorded as lost");
        }
    }

    /// Drains, if that has not been done, and ends everything. Returns when all is written.
    pub async fn shutdown(&self) {
        self.drain().await;
        self.inner.closed.cancel();
        self.inner.chores.close();
        self.inner.chores.wait().await;
        self.inner.runtime.shutdown().await;
        match tokio::time::timeout(Duration::from_secs(5), self.write_usage()).await {
            Ok(Ok(())) => {}
            _ => tracing::warn!("the last of the usage could not be written"),
        }
        if !matches!(tokio::time::timeout(Duration::from_secs(5), self.write_findings()).await, Ok(Ok(()))) {
            tracing::warn!("the last findings of guardrails could not be written");
        }
        if !matches!(tokio::time::timeout(Duration::from_secs(5), self.write_dispatches()).await, Ok(Ok(()))) {
            tracing::warn!("the last of the dispatch log could not be written");
        }
        self.inner.store.close().await;
    }

    pub(crate) fn tenant_store(&self, tenant: &Tenant) -> TenantStore {
        self.inner.store.tenant(tenant.id)
    }
}

/// Asks the policy and turns a denial into the engine's words.
pub(crate) fn authorize(principal: &Principal, action: Action<'_>, hidden: EngineError) -> Result<(), EngineError> {
    match decide(principal, action) {
        Decision::Allow => Ok(()),
        Decision::Deny(Denial::NeedsKey) => Err(EngineError::Unauthenticated),
        Decision::Deny(Denial::NeedsScope(scope)) => Err(EngineError::Forbidden(scope)),
        Decision::Deny(Denial::Hidden) => Err(hidden),
    }
}

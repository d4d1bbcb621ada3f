//! What the tests share: the cluster, fresh databases, and tasks to write.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use pleat_domain::event::StatusChange;
use pleat_domain::{
    Artifact, Caller, ContextId, Door, Event, EventBody, PlanName, Raw, SkillName, Task, TaskId, TaskState, Tenant,
    TenantSlug, json,
};
use pleat_store::embedded::{Database, EmbeddedConfig};
use pleat_store::{Change, Commit, Store, StoreConfig, TenantStore};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use time::OffsetDateTime;
use tokio::sync::OnceCell;
use uuid::Uuid;

/// Ends with this process; see `Database::make_temporary`.
static CLUSTER: OnceCell<Database> = OnceCell::const_new();
static NEXT: AtomicU32 = AtomicU32::new(0);

/// A store on a database of its own, with the address for looking at it from outside.
pub struct Fixture {
    pub store: Store,
    pub url: String,
}

impl Fixture {
    pub async fn new() -> Self {
        Self::with(|_| ()).await
    }

    pub async fn with(adjust: impl FnOnce(&mut StoreConfig)) -> Self {
        let url = database().await;
        let mut config = StoreConfig::new(url.as_str());
        config.readers = 3;
        adjust(&mut config);
        Self { store: Store::open(config).await.unwrap(), url }
    }

    pub async fn tenant(&self, slug: &str) -> (Tenant, TenantStore) {
        let tenant = self
            .store
            .create_tenant(&TenantSlug::parse(slug).unwrap(), &PlanName::standard(), &audit_entry())
            .await
            .unwrap();
        let handle = self.store.tenant(tenant.id);
        (tenant, handle)
    }

    /// The login's own connection: no role, no tenant, no row security for a superuser.
    pub async fn outside(&self) -> PgConnection {
        PgConnection::connect(&self.url).await.unwrap()
    }

    pub async fn run(&self, statement: &str) {
        sqlx::raw_sql(AssertSqlSafe(statement.to_owned())).execute(&mut self.outside().await).await.unwrap();
    }

    pub async fn count(&self, query: &str) -> i64 {
        count(&mut self.outside().await, query).await
    }
}

pub async fn count(connection: &mut PgConnection, query: &str) -> i64 {
    sqlx::query_scalar(AssertSqlSafe(format!("SELECT count(*) FROM {query}"))).fetch_one(connection).await.unwrap()
}

/// The address of a new, empty database.
pub async fn database() -> String {
    let cluster = CLUSTER.get_or_init(start).await;
    let name = format!("test_{}", NEXT.fetch_add(1, Ordering::Relaxed));
    let mut connection = PgConnection::connect(cluster.url()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(format!("CREATE DATABASE {name}"))).execute(&mut connection).await.unwrap();
    assert!(cluster.url().contains("/pleat?"));
    cluster.url().replace("/pleat?", &format!("/{name}?"))
}

async fn start() -> Database {
    let parent = std::env::temp_dir().join("pleat-store-tests");
    std::fs::create_dir_all(&parent).unwrap();
    // The cluster's files go with the process; the empty directories of earlier runs go here.
    for left in std::fs::read_dir(&parent).unwrap().flatten() {
        let _ = std::fs::remove_dir(left.path());
    }
    let data_dir = parent.join(std::process::id().to_string());
    let config = EmbeddedConfig { data_dir, database_url: None, durable: false };
    let mut database = Database::open(&config, &|_| ()).await.unwrap();
    database.make_temporary().unwrap();
    database
}

pub fn caller(name: &str) -> Caller {
    Caller::from_stored(format!("key:{name}"))
}

pub fn raw(text: &str) -> Raw {
    Raw::from(serde_json::value::RawValue::from_string(text.to_owned()).unwrap())
}

/// A task id of a moment.
pub fn id_at(at: OffsetDateTime) -> TaskId {
    let milliseconds = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap();
    let random = Uuid::now_v7().as_u128() & ((1 << 80) - 1);
    TaskId::from_uuid(Uuid::from_u128((milliseconds << 80) | random))
}

/// Without the digits that the database does not keep.
pub fn now() -> OffsetDateTime {
    let now = OffsetDateTime::now_utc();
    now.replace_microsecond(now.microsecond()).unwrap()
}

/// A finished task.
pub fn task() -> Task {
    let id = TaskId::new();
    let at = now();
    Task {
        id,
        skill: Some(SkillName::parse("echo").unwrap()),
        version: 1,
        context: ContextId::of_task(id),
        parent: None,
        step: None,
        run: None,
        caller: caller("a"),
        door: Door::A2a01,
        alias: None,
        state: TaskState::Completed,
        failure: None,
        ask: None,
        guard: None,
        input: raw(r#"{"say":"hi"}"#),
        history: Vec::new(),
        artifacts: vec![Artifact::of_value("echo-result", raw(r#"{"say":"hi"}"#))],
        attempt: 1,
        turn: 1,
        last_seq: 0,
        cpu_us: 20,
        wall_us: 30,
        created_at: at,
        updated_at: at,
    }
}

/// A task that runs, with its first event stored.
pub fn running() -> Task {
    Task { state: TaskState::Working, artifacts: Vec::new(), last_seq: 1, ..task() }
}

/// The same task, one step on.
pub fn then(task: &Task, state: TaskState) -> Task {
    Task { state, last_seq: task.last_seq + 1, updated_at: now(), ..task.clone() }
}

/// A step whose last event says the task's state.
pub fn step(tenant: &Tenant, task: &Task, change: Change) -> Commit {
    let status = StatusChange::to(task.state);
    let event = Event { seq: task.last_seq, at: task.updated_at, body: EventBody::Status(status) };
    Commit { events: vec![event], ..plain(tenant, task, change) }
}

/// A step without events.
pub fn plain(tenant: &Tenant, task: &Task, change: Change) -> Commit {
    Commit {
        tenant: tenant.id,
        task: Arc::new(task.clone()),
        change,
        held: None,
        events: Vec::new(),
        logs: Vec::new(),
        log_seq: 0,
        once: None,
        push: None,
    }
}

/// All that is kept of a task, for comparison.
pub fn spelled(task: &Task) -> String {
    format!("{task:?} {}", json::raw(&task.artifacts).get())
}

/// The states that the stored events tell, with their numbers.
pub async fn told(handle: &TenantStore, task: TaskId) -> Vec<(u32, Option<TaskState>)> {
    let events = handle.events_after(task, 0, 100).await.unwrap();
    events.iter().map(|event| (event.seq, event.state())).collect()
}

/// For changes that are recorded.
pub fn audit_entry() -> pleat_store::AuditEntry {
    pleat_store::AuditEntry {
        actor_kind: "system",
        actor: "test".to_owned(),
        actor_label: String::new(),
        action: pleat_domain::AuditAction::TenantCreate,
        target: String::new(),
        details: None,
        denied: false,
        client: None,
    }
}

//! What a tenant has deployed, functions and pipelines, ready to be called: kept in memory, renewed when its generation
//! changes.

use std::borrow::Cow;
use std::collections::{BTreeMap, HashMap};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use pleat_domain::{
    CallLimits, Grants, Manifest, PipelineState, Principal, SkillName, Tenant, TenantId, VersionHash, Visibility,
};
use pleat_egress::HostGrants;
use pleat_guardrails::Guard;
use pleat_pipelines::{Definition, Plan};
use pleat_policy::Action;
use pleat_runtime::VersionRef;
use pleat_store::{ActiveFunction, PipelineRow, TenantStore};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use tokio::sync::watch;

use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::hub::lock;
use crate::policies::Policies;
use crate::schema::{Schema, SchemaCache, apart};

/// A deployed version of a function or of a pipeline, with everything compiled that a call needs.
#[derive(Debug)]
pub struct Skill {
    pub name: SkillName,
    pub version: i32,
    pub hash: VersionHash,
    pub manifest: Manifest,
    pub grants: Grants,
    pub updated_at: OffsetDateTime,
    pub language: String,
    pub file_name: String,
    pub(crate) target: Target,
    pub(crate) input: Schema,
    pub(crate) output: Schema,
    /// The granted hosts, read.
    pub(crate) hosts: HostGrants,
    /// The guardrails that hold for it.
    pub(crate) guard: Arc<Guard>,
}

/// What a call of a skill leads to.
#[derive(Debug)]
pub(crate) enum Target {
    Function(VersionRef),
    Pipeline(Box<Pipeline>),
}

#[derive(Debug)]
pub(crate) struct Pipeline {
    pub(crate) definition: Definition,
    pub(crate) plan: Arc<Plan>,
}

/// The hint with which a pipeline is shown to those who choose a skill.
const PIPELINE_TAG: &str = "pipeline";

impl Skill {
    pub(crate) fn from_row(
        row: ActiveFunction,
        policies: &Policies,
        schemas: &SchemaCache,
    ) -> Result<Self, EngineError> {
        let corrupt = |what: String| EngineError::Internal(what.into());
        let manifest: Manifest = serde_json::from_str(&row.manifest).map_err(|error| corrupt(error.to_string()))?;
        let input = schemas.get(manifest.input.as_ref());
        let output = schemas.get(manifest.output.as_ref());
        let language = row.language.parse().map_err(|_| corrupt(format!("unknown language `{}`", row.language)))?;
        let hosts = HostGrants::parse(row.grants.hosts.iter().map(String::as_str));
        let hosts = hosts.map_err(|error| corrupt(error.to_string()))?;
        let guard = policies.guard_of(&row.name, &manifest)?;
        let code = VersionRef { hash: row.hash, language, file_name: row.file_name.clone() };
        Ok(Self {
            name: row.name,
            version: row.version,
            hash: row.hash,
            manifest,
            grants: row.grants,
            updated_at: row.updated_at,
            language: row.language,
            file_name: row.file_name,
            target: Target::Function(code),
            input,
            output,
            hosts,
            guard,
        })
    }

    pub(crate) fn from_pipeline(
        row: &PipelineRow,
        policies: &Policies,
        schemas: &SchemaCache,
    ) -> Result<Self, EngineError> {
        let corrupt = |what: String| EngineError::Internal(what.into());
        let definition = pleat_pipelines::parse(&row.definition).map_err(|faults| corrupt(faults.to_string()))?;
        let manifest = Manifest {
            title: Some(row.name.to_string()),
            description: definition.description.clone(),
            input: definition.input_schema.clone(),
            output: definition.output_schema.clone(),
            tags: vec![PIPELINE_TAG.to_owned()],
            ..Manifest::default()
        };
        let input = schemas.get(manifest.input.as_ref());
        let output = schemas.get(manifest.output.as_ref());
        let plan = Arc::new(Plan::from(definition.clone()));
        let name = SkillName::pipeline(&row.name);
        let guard = policies.guard_of(&name, &manifest)?;
        Ok(Self {
            name,
            version: row.version,
            hash: row.hash,
            manifest,
            grants: Grants { visibility: row.visibility, ..Grants::default() },
            updated_at: row.updated_at,
            language: String::new(),
            file_name: String::new(),
            target: Target::Pipeline(Box::new(Pipeline { definition, plan })),
            input,
            output,
            hosts: HostGrants::default(),
            guard,
        })
    }

    pub(crate) fn pipeline(&self) -> Option<&Pipeline> {
        match &self.target {
            Target::Pipeline(pipeline) => Some(pipeline),
            Target::Function(_) => None,
        }
    }

    /// The name among tools, whose alphabet has no colon.
    pub fn tool_name(&self) -> Cow<'_, str> {
        match self.name.as_pipeline() {
            Some(name) => Cow::Owned(pipeline_tool(name)),
            None => Cow::Borrowed(self.name.as_str()),
        }
    }

    pub fn limits(&self) -> CallLimits {
        self.manifest.limits()
    }

    pub fn is_public(&self) -> bool {
        self.grants.visibility == Visibility::Public
    }
}

/// What the names of pipelines begin with among tools.
const TOOL_PREFIX: &str = "pipeline_";

/// What models take for the name of a tool.
const TOOL_CHARACTERS: usize = 64;

/// A name that would be too long is cut, and told from others by a hash of the whole.
pub(crate) fn pipeline_tool(name: &str) -> String {
    let whole = format!("{TOOL_PREFIX}{name}");
    if whole.len() <= TOOL_CHARACTERS {
        return whole;
    }
    let hash = hex::encode(Sha256::digest(name));
    let cut = |text: &str, length: usize| text.get(..length).unwrap_or_default().to_owned();
    format!("{}_{}", cut(&whole, TOOL_CHARACTERS - 9), cut(&hash, 8))
}

fn is_tool(skill: &SkillName, tool: &str) -> bool {
    skill.as_pipeline().is_some_and(|name| pipeline_tool(name) == tool)
}

/// A skill that this caller may call: only `Catalog::choose` makes one, after asking the policy.
#[derive(Debug, Clone)]
pub struct Callable(pub(crate) Arc<Skill>);

impl Callable {
    pub fn skill(&self) -> &Arc<Skill> {
        &self.0
    }
}

/// All active skills of a tenant at one generation.
#[derive(Debug)]
pub struct Catalog {
    pub generation: i64,
    pub skills: BTreeMap<SkillName, Arc<Skill>>,
    /// Pipelines that run only when they are asked for directly.
    pub(crate) drafts: BTreeMap<SkillName, Arc<Skill>>,
    pub updated_at: OffsetDateTime,
    pub(crate) policies: Policies,
}

impl Catalog {
    /// The skills that anybody may know of.
    pub fn listed(&self) -> impl Iterator<Item = &Arc<Skill>> {
        self.skills.values().filter(|skill| skill.grants.visibility != Visibility::Unlisted)
    }

    /// Exactly the skills that this caller may call, unlisted ones too.
    pub fn callable<'a>(&'a self, principal: &'a Principal) -> impl Iterator<Item = Callable> + 'a {
        let may = move |skill: &&Arc<Skill>| may_call(principal, skill);
        self.skills.values().filter(may).map(|skill| Callable(Arc::clone(skill)))
    }

    /// The same for a caller that is somebody: what nobody may call is on the card already.
    pub fn extended(&self, principal: &Principal) -> Result<Vec<Callable>, EngineError> {
        authorize(principal, Action::Invoke(Visibility::Listed), EngineError::Unauthenticated)?;
        Ok(self.callable(principal).collect())
    }

    /// Whether there is anything for who has no key.
    pub fn has_public(&self) -> bool {
        self.skills.values().any(|skill| skill.is_public())
    }

    /// Whether nothing that is on the card can be called without a key.
    pub fn needs_key(&self) -> bool {
        let mut listed = self.listed().peekable();
        listed.peek().is_some() && listed.all(|skill| !skill.is_public())
    }

    /// The skill a caller means and may call. Without a name: the only one there is.
    pub fn choose(&self, principal: &Principal, name: Option<&str>) -> Result<Callable, EngineError> {
        let skill = match name {
            Some(name) => self.find(name)?,
            None => self.only(principal)?,
        };
        let hidden = EngineError::UnknownSkill(skill.name.to_string());
        authorize(principal, Action::Invoke(skill.grants.visibility), hidden)?;
        Ok(Callable(skill))
    }

    /// The same for who names a tool: a pipeline goes by either of its names.
    pub fn choose_tool(&self, principal: &Principal, name: &str) -> Result<Callable, EngineError> {
        match self.choose(principal, Some(name)) {
            Err(EngineError::UnknownSkill(_)) if name.starts_with(TOOL_PREFIX) => {
                let direct = name.strip_prefix(TOOL_PREFIX).and_then(|name| SkillName::parse(name).ok());
                let direct =
                    direct.map(|name| SkillName::pipeline(&name)).filter(|skill| self.skills.contains_key(skill));
                let cut = || self.skills.keys().find(|skill| is_tool(skill, name)).cloned();
                self.choose(principal, Some(direct.or_else(cut).as_ref().map_or(name, SkillName::as_str)))
            }
            chosen => chosen,
        }
    }

    /// The pipeline that has this name among tools, whether it may be called yet or not.
    pub(crate) fn pipeline_of_tool(&self, tool: &str) -> Option<&SkillName> {
        let mut pipelines = self.skills.keys().chain(self.drafts.keys());
        pipelines.find(|skill| is_tool(skill, tool))
    }

    /// A pipeline that its owner wants to run: a draft too.
    pub fn choose_pipeline(&self, principal: &Principal, name: &SkillName) -> Result<Callable, EngineError> {
        authorize(principal, Action::Invoke(Visibility::Listed), EngineError::UnknownTenant)?;
        let skill = SkillName::pipeline(name);
        let Some(draft) = self.drafts.get(&skill) else { return self.choose(principal, Some(skill.as_str())) };
        authorize(principal, Action::Deploy, EngineError::UnknownSkill(skill.to_string()))?;
        Ok(Callable(Arc::clone(draft)))
    }

    /// A pipeline that may run, whether it is a draft or not.
    pub(crate) fn runnable(&self, skill: &SkillName) -> Option<&Arc<Skill>> {
        self.skills.get(skill).or_else(|| self.drafts.get(skill))
    }

    /// The skills that a caller may choose from. One that is on no list is called by who knows its name.
    pub fn choices(&self, principal: &Principal) -> Vec<Arc<Skill>> {
        self.listed().filter(|skill| may_call(principal, skill)).cloned().collect()
    }

    fn find(&self, name: &str) -> Result<Arc<Skill>, EngineError> {
        let unknown = || EngineError::UnknownSkill(name.chars().take(80).collect());
        let name = SkillName::parse_skill(name).map_err(|_| unknown())?;
        self.skills.get(&name).cloned().ok_or_else(unknown)
    }

    /// One that is on no list does not stand in the way of one that is, and is meant only where there is nothing else.
    fn only(&self, principal: &Principal) -> Result<Arc<Skill>, EngineError> {
        let first_two = |unlisted: bool| {
            let is_such = |skill: &Skill| (skill.grants.visibility == Visibility::Unlisted) == unlisted;
            let mut fitting = self.skills.values().filter(|skill| is_such(skill) && may_call(principal, skill));
            (fitting.next(), fitting.next())
        };
        let found = match first_two(false) {
            (None, _) => first_two(true),
            listed => listed,
        };
        match found {
            (Some(skill), None) => Ok(Arc::clone(skill)),
            _ => Err(EngineError::SkillNeeded(self.listed().map(|skill| skill.name.to_string()).collect())),
        }
    }
}

fn may_call(principal: &Principal, skill: &Skill) -> bool {
    pleat_policy::decide(principal, Action::Invoke(skill.grants.visibility)) == pleat_policy::Decision::Allow
}

/// How long another node's deploy may go unnoticed.
const RECHECK: Duration = Duration::from_millis(500);

/// The memory of catalogs that are kept, about; the ones not used for longest are loaded again.
const CATALOG_BYTES: u64 = 512 * 1024 * 1024;
/// What a catalog and each skill in it take besides schemas, about.
const SKILL_BYTES: usize = 16 * 1024;

fn weigh(_: &TenantId, entry: &Arc<Entry>) -> u32 {
    let skills = entry.catalog.skills.values().chain(entry.catalog.drafts.values());
    let bytes = skills.map(|skill| SKILL_BYTES + skill.input.bytes() + skill.output.bytes()).sum::<usize>();
    u32::try_from(SKILL_BYTES + bytes).unwrap_or(u32::MAX)
}

/// Compiled schemas that are kept, catalogs that use one share it.
const SCHEMA_CACHE_BYTES: u64 = 128 * 1024 * 1024;

pub(crate) struct Catalogs {
    cache: moka::sync::Cache<TenantId, Arc<Entry>>,
    born: Instant,
    watched: Mutex<HashMap<TenantId, watch::Sender<()>>>,
    pub(crate) schemas: Arc<SchemaCache>,
}

/// Told when what a tenant has deployed may have changed.
pub struct CatalogWatch {
    engine: Engine,
    tenant: TenantId,
    receiver: watch::Receiver<()>,
}

impl CatalogWatch {
    pub async fn changed(&mut self) {
        // The sender is kept as long as this is.
        let _ = self.receiver.changed().await;
    }
}

impl Drop for CatalogWatch {
    fn drop(&mut self) {
        let mut watched = lock(&self.engine.inner.catalogs.watched);
        if watched.get(&self.tenant).is_some_and(|sender| sender.receiver_count() <= 1) {
            watched.remove(&self.tenant);
        }
    }
}

struct Entry {
    catalog: Arc<Catalog>,
    /// Milliseconds since `Catalogs::born`.
    checked: AtomicU64,
}

impl Catalogs {
    pub(crate) fn new() -> Self {
        Self {
            cache: moka::sync::Cache::builder().weigher(weigh).max_capacity(CATALOG_BYTES).build(),
            born: Instant::now(),
            watched: Mutex::default(),
            schemas: Arc::new(SchemaCache::new(SCHEMA_CACHE_BYTES)),
        }
    }

    pub(crate) fn forget(&self, tenant: TenantId) {
        self.cache.invalidate(&tenant);
        if let Some(sender) = lock(&self.watched).get(&tenant) {
            sender.send_replace(());
        }
    }

    /// Notices may have been missed.
    pub(crate) fn all_changed(&self) {
        lock(&self.watched).values().for_each(|sender| sender.send_replace(()));
    }

    async fn get(&self, tenant: TenantId, store: &TenantStore) -> Result<Arc<Catalog>, EngineError> {
        let now = u64::try_from(self.born.elapsed().as_millis()).unwrap_or(u64::MAX);
        if let Some(entry) = self.cache.get(&tenant) {
            let checked = entry.checked.load(Ordering::Relaxed);
            let fresh = now.saturating_sub(checked) < RECHECK.as_millis() as u64;
            // One request asks the database; the others go on with what they have.
            let mine =
                !fresh && entry.checked.compare_exchange(checked, now, Ordering::Relaxed, Ordering::Relaxed).is_ok();
            if !mine || Box::pin(store.generation()).await? == entry.catalog.generation {
                return Ok(Arc::clone(&entry.catalog));
            }
        }
        let catalog = Arc::new(Box::pin(load(store, Arc::clone(&self.schemas))).await?);
        let entry = Entry { catalog: Arc::clone(&catalog), checked: AtomicU64::new(now) };
        self.cache.insert(tenant, Arc::new(entry));
        Ok(catalog)
    }
}

async fn load(store: &TenantStore, schemas: Arc<SchemaCache>) -> Result<Catalog, EngineError> {
    let rows = store.catalog().await?;
    // Schemas and patterns are compiled: not on a thread that does I/O.
    apart(move || compile(rows, &schemas)).await?
}

fn compile(rows: pleat_store::Catalog, schemas: &SchemaCache) -> Result<Catalog, EngineError> {
    let policies = Policies::read(&rows.policies)?;
    let (mut skills, mut drafts) = (BTreeMap::new(), BTreeMap::new());
    let mut updated_at = OffsetDateTime::UNIX_EPOCH;
    for row in rows.functions {
        let name = row.name.clone();
        match Skill::from_row(row, &policies, schemas) {
            Ok(skill) => {
                updated_at = updated_at.max(skill.updated_at);
                skills.insert(name, Arc::new(skill));
            }
            Err(error) => {
                tracing::error!(skill.id = %name, error = &error as &dyn std::error::Error, "a stored function cannot be read")
            }
        }
    }
    for row in rows.pipelines {
        let (state, changed) = (row.state, row.updated_at);
        match Skill::from_pipeline(&row, &policies, schemas) {
            Ok(skill) => {
                let place = if state == PipelineState::Active { &mut skills } else { &mut drafts };
                updated_at = if state == PipelineState::Active { updated_at.max(changed) } else { updated_at };
                place.insert(skill.name.clone(), Arc::new(skill));
            }
            Err(error) => {
                tracing::error!(skill.id = %row.name, error = &error as &dyn std::error::Error, "a stored pipeline cannot be read")
            }
        }
    }
    Ok(Catalog { generation: rows.generation, skills, drafts, updated_at, policies })
}

impl Engine {
    /// What the tenant offers now.
    pub async fn catalog(&self, tenant: &Tenant) -> Result<Arc<Catalog>, EngineError> {
        self.inner.catalogs.get(tenant.id, &self.tenant_store(tenant)).await
    }

    pub fn watch_catalog(&self, tenant: &Tenant) -> CatalogWatch {
        let mut watched = lock(&self.inner.catalogs.watched);
        let receiver = watched.entry(tenant.id).or_insert_with(|| watch::Sender::new(())).subscribe();
        CatalogWatch { engine: self.clone(), tenant: tenant.id, receiver }
    }

    /// A version that a task began with, which may no longer be the active one.
    pub(crate) async fn skill_version(
        &self,
        tenant: &Tenant,
        name: &SkillName,
        version: i32,
    ) -> Result<Arc<Skill>, EngineError> {
        let catalog = self.catalog(tenant).await?;
        if let Some(skill) = catalog.runnable(name).filter(|skill| skill.version == version) {
            return Ok(Arc::clone(skill));
        }
        let (store, unknown) = (self.tenant_store(tenant), || EngineError::UnknownSkill(name.to_string()));
        let schemas = Arc::clone(&self.inner.catalogs.schemas);
        let skill = match name.as_pipeline().and_then(|name| SkillName::parse(name).ok()) {
            Some(name) => {
                let row = store.pipeline_at(&name, version).await?.ok_or_else(unknown)?;
                apart(move || Skill::from_pipeline(&row, &catalog.policies, &schemas)).await?
            }
            None => {
                let row = store.version(name, version).await?.ok_or_else(unknown)?;
                apart(move || Skill::from_row(row, &catalog.policies, &schemas)).await?
            }
        };
        Ok(Arc::new(skill?))
    }
}

//! Deployments: validate, compile, ask the function to describe itself, switch. A bad deploy changes nothing.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytes::Bytes;
use pleat_domain::{
    AuditAction, Bundle, Caller, Grants, Manifest, Plan, Principal, SkillName, Tenant, VersionHash, Visibility,
};
use pleat_policy::Action;
use pleat_runtime::{Language, Prepared, Source, VersionRef};
use pleat_store::{AuditEntry, NewVersion, Room, VersionRow};
use serde_json::json;

use crate::audit::{system_entry, with_details};
use crate::catalog::Skill;
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::grant::{self, Wish};
use crate::load::party;
use crate::policies;
use crate::schema::{Schema, SchemaCache};

/// What is uploaded, and what the deployer wishes.
#[derive(Debug, Clone)]
pub struct Upload {
    pub file_name: String,
    pub bytes: Bytes,
    pub name: Option<String>,
    pub visibility: Option<Visibility>,
    /// Capabilities that the deployer grants, by name: `public`, `secret:NAME`, `host:NAME`, …, or `all`.
    pub grants: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct DeployReport {
    pub name: SkillName,
    pub version: i32,
    pub hash: VersionHash,
    /// False: this very code was already active.
    pub created: bool,
    pub language: String,
    pub manifest: Manifest,
    pub requested: Grants,
    /// What the version that was replaced had.
    pub before: Grants,
    pub granted: Grants,
    pub took: Duration,
    /// Active pipelines that the new version does not suit.
    pub warnings: Vec<String>,
}

#[derive(Debug, Clone)]
pub struct RollbackReport {
    pub version: i32,
    /// Active pipelines that this version does not suit.
    pub warnings: Vec<String>,
}

/// A source on its way to becoming a version.
struct Compiled {
    source: Source,
    prepared: Prepared,
    started: Instant,
}

/// Compiles what a manifest brings along.
fn check_manifest(manifest: &Manifest, schemas: &SchemaCache) -> Result<(), EngineError> {
    for (field, schema) in [("input", &manifest.input), ("output", &manifest.output)] {
        if let Schema::Refused(fault) = schemas.get(schema.as_ref()) {
            return Err(EngineError::NotDeployable(format!("`{field}` is not a valid JSON Schema: {fault}")));
        }
    }
    policies::check(manifest)
}

impl Engine {
    /// Whether an upload is worth reading at all.
    pub fn may_deploy(&self, principal: &Principal) -> Result<(), EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)
    }

    pub async fn deploy(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        upload: Upload,
    ) -> Result<DeployReport, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        self.may_compile(tenant, principal)?;
        let entry = self.audit_entry(principal, AuditAction::FunctionDeploy, "").await;
        self.install(tenant, &principal.caller(), upload, entry).await
    }

    /// For the server that starts: a demo function, unless the tenant has or had one of that name.
    pub async fn bootstrap_function(
        &self,
        tenant: &Arc<Tenant>,
        name: &str,
        upload: Upload,
    ) -> Result<(), EngineError> {
        if !self.tenant_store(tenant).was_deployed(&parse(name)?).await? {
            let entry = system_entry(AuditAction::FunctionDeploy, "");
            self.install(tenant, &Caller::from_stored("bootstrap".to_owned()), upload, entry).await?;
        }
        Ok(())
    }

    async fn install(
        &self,
        tenant: &Arc<Tenant>,
        by: &Caller,
        upload: Upload,
        entry: AuditEntry,
    ) -> Result<DeployReport, EngineError> {
        let source = source_of(&upload)?;
        let started = Instant::now();
        let prepared = self.inner.runtime.prepare(&source, party(tenant.id)).await?;
        let installed = self.install_prepared(tenant, by, upload, Compiled { source, prepared, started }, entry).await;
        if installed.is_err() && prepared.is_new {
            self.inner.runtime.discard(prepared.hash, party(tenant.id)).await;
        }
        installed
    }

    async fn install_prepared(
        &self,
        tenant: &Arc<Tenant>,
        by: &Caller,
        upload: Upload,
        compiled: Compiled,
        entry: AuditEntry,
    ) -> Result<DeployReport, EngineError> {
        let Compiled { source, prepared, started } = compiled;
        let hash = prepared.hash;
        let code = VersionRef { hash, language: source.language, file_name: source.file_name.clone() };
        let described = self.inner.runtime.describe(&code, party(tenant.id)).await;
        let described = described.map_err(|failure| EngineError::Describe(Box::new(failure)))?;
        let manifest = Manifest::parse(&described).map_err(|fault| EngineError::NotDeployable(fault.to_string()))?;
        let (checked, schemas) = (manifest.clone(), Arc::clone(&self.inner.catalogs.schemas));
        self.with_schemas(tenant.id, move || check_manifest(&checked, &schemas)).await??;
        let name = name_of(&upload, &manifest)?;
        let requested = manifest.requested();
        let before = self.grants_of(tenant, &name).await?;
        self.check_tool_name(tenant, &name).await?;
        let wish = Wish {
            visibility: upload.visibility,
            grants: &upload.grants,
            public_by_default: self.inner.config.public_by_default.as_ref() == Some(&tenant.slug),
        };
        let granted = grant::decide(&wish, &requested, &before)?;
        let version = NewVersion {
            name: name.clone(),
            hash,
            language: source.language.as_str().to_owned(),
            file_name: source.file_name,
            size: i32::try_from(upload.bytes.len()).unwrap_or(i32::MAX),
            compiled_bytes: prepared.compiled_bytes,
            manifest: pleat_domain::json::raw(&manifest),
            grants: granted.clone(),
            created_by: by.to_string(),
        };
        let room = room_of(&self.plan_of(tenant));
        let entry = AuditEntry { target: name.to_string(), ..entry };
        let deployed = self.tenant_store(tenant).audited(entry).deploy(version, &upload.bytes, room).await?;
        if deployed.created {
            self.count_upload(tenant, by, &name, upload.bytes.len());
        }
        self.inner.catalogs.forget(tenant.id);
        tracing::info!(tenant.id = %tenant.slug, skill.id = %name, version = deployed.version, "deployed");
        let warnings = if deployed.created { self.strained_pipelines(tenant, &name).await } else { Vec::new() };
        Ok(DeployReport {
            name,
            version: deployed.version,
            hash,
            created: deployed.created,
            language: source.language.as_str().to_owned(),
            manifest,
            requested,
            before,
            granted,
            took: started.elapsed(),
            warnings,
        })
    }

    /// Among tools no two have one name.
    async fn check_tool_name(&self, tenant: &Tenant, name: &SkillName) -> Result<(), EngineError> {
        match self.catalog(tenant).await?.pipeline_of_tool(name.as_str()) {
            Some(pipeline) => Err(EngineError::Exists { what: "skill", name: pipeline.to_string() }),
            None => Ok(()),
        }
    }

    /// What the active version of a function has; nothing, if there is none.
    async fn grants_of(&self, tenant: &Tenant, name: &SkillName) -> Result<Grants, EngineError> {
        // Another node may have deployed it a moment ago.
        self.inner.catalogs.forget(tenant.id);
        let catalog = self.catalog(tenant).await?;
        Ok(catalog.skills.get(name).map(|skill| skill.grants.clone()).unwrap_or_default())
    }

    /// The active functions, unlisted ones included.
    pub async fn functions(&self, tenant: &Tenant, principal: &Principal) -> Result<Vec<Arc<Skill>>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let catalog = self.catalog(tenant).await?;
        Ok(catalog.skills.values().filter(|skill| skill.pipeline().is_none()).cloned().collect())
    }

    pub async fn function(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<Arc<Skill>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let name = parse(name)?;
        self.catalog(tenant).await?.skills.get(&name).cloned().ok_or_else(|| unknown(&name))
    }

    pub async fn versions(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<Vec<VersionRow>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let name = parse(name)?;
        let versions = self.tenant_store(tenant).versions(&name).await?;
        if versions.is_empty() { Err(unknown(&name)) } else { Ok(versions) }
    }

    /// Back to a version, or to the one before the active one. Instant: its code is still there.
    pub async fn rollback(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
        to: Option<i32>,
    ) -> Result<RollbackReport, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let name = parse(name)?;
        let store = self.tenant_store(tenant);
        let versions = store.versions(&name).await?;
        let active = versions.iter().find(|row| row.active).ok_or_else(|| unknown(&name))?.version;
        let previous = versions.iter().map(|row| row.version).filter(|version| *version < active).max();
        let target = to.or(previous).ok_or_else(|| {
            EngineError::Invalid(format!("`{name}` has no version before {active}; name one with `version`"))
        })?;
        let entry = self.audit_entry(principal, AuditAction::FunctionRollback, name.as_str()).await;
        let entry = with_details(entry, json!({ "from": active, "to": target }));
        if !store.audited(entry).activate(&name, target).await? {
            return Err(EngineError::NotFound { what: "version", name: format!("{name}@{target}") });
        }
        self.inner.catalogs.forget(tenant.id);
        Ok(RollbackReport { version: target, warnings: self.strained_pipelines(tenant, &name).await })
    }

    /// Answers which active pipelines miss it.
    pub async fn delete_function(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<Vec<String>, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let name = parse(name)?;
        let deleted = self
            .audited(tenant, principal, AuditAction::FunctionDelete, name.as_str())
            .await
            .delete_function(&name)
            .await?;
        self.inner.catalogs.forget(tenant.id);
        if deleted { Ok(self.strained_pipelines(tenant, &name).await) } else { Err(unknown(&name)) }
    }
}

/// The room that a plan leaves for deploys.
pub(crate) fn room_of(plan: &Plan) -> Room {
    Room {
        functions: plan.functions.most(),
        source_bytes: plan.source_bytes.most(),
        compiled_bytes: plan.compiled_bytes.most(),
    }
}

fn unknown(name: &SkillName) -> EngineError {
    EngineError::NotFound { what: "function", name: name.to_string() }
}

/// A name that cannot exist is not found, as any other that does not.
fn parse(name: &str) -> Result<SkillName, EngineError> {
    let missing = || EngineError::NotFound { what: "function", name: name.chars().take(80).collect() };
    SkillName::parse(name).map_err(|_| missing())
}

fn source_of(upload: &Upload) -> Result<Source, EngineError> {
    let refuse = |reason: String| Err(EngineError::NotDeployable(reason));
    let mut file_name = upload.file_name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    if file_name.is_empty() || file_name.len() > 200 || file_name.chars().any(char::is_control) {
        return refuse("the file name must have 1 to 200 characters".to_owned());
    }
    let Some(language) = Language::of_file(&file_name) else {
        return refuse(format!("`{file_name}`: deploy a .js or .ts file, a .wasm component or a component as .wat"));
    };
    let most = language.most_bytes();
    if upload.bytes.is_empty() {
        return refuse(format!("`{file_name}` is empty"));
    }
    if upload.bytes.len() > most {
        return refuse(format!("`{file_name}` has {} bytes; the most is {most}", upload.bytes.len()));
    }
    if language == Language::Bundle {
        let bundle = Bundle::parse(&upload.bytes).map_err(|fault| EngineError::NotDeployable(fault.to_string()))?;
        file_name = bundle.entry().to_owned();
    }
    Ok(Source { language, file_name, bytes: upload.bytes.clone() })
}

/// The deployer's choice, else what the function calls itself, else the file's name.
fn name_of(upload: &Upload, manifest: &Manifest) -> Result<SkillName, EngineError> {
    let stem = upload.file_name.rsplit(['/', '\\']).next().unwrap_or_default().split('.').next().unwrap_or_default();
    let wish = upload.name.as_deref().or(manifest.name.as_deref()).unwrap_or(stem);
    SkillName::parse(wish).map_err(|fault| EngineError::NotDeployable(format!("{fault}; `--name` sets one")))
}

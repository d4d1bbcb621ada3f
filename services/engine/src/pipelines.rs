//! Pipelines as their owner has them: checked and deployed, activated, archived, looked at.

use pleat_domain::{AuditAction, PipelineState, Principal, SkillName, Tenant, Visibility};
use pleat_pipelines::{Checked, Definition, Fault};
use pleat_policy::Action;
use pleat_store::{NewPipeline, PipelineDeployed, PipelineRow, PipelineVersion};

use crate::catalog::{Catalog, Target, pipeline_tool};
use crate::deploy::room_of;
use crate::engine::{Engine, authorize};
use crate::error::EngineError;

/// A definition, and what its deployer wishes.
#[derive(Debug, Clone, Default)]
pub struct PipelineUpload {
    /// YAML or JSON.
    pub text: String,
    pub activate: bool,
    pub visibility: Option<Visibility>,
}

#[derive(Debug, Clone)]
pub struct PipelineReport {
    pub name: SkillName,
    pub deployed: PipelineDeployed,
    /// What may be meant, and mostly is not.
    pub warnings: Vec<Fault>,
    /// Active pipelines that call it and that the new version does not suit.
    pub strained: Vec<String>,
}

impl Engine {
    /// Only looks: the name, and what may be meant otherwise.
    pub async fn check_pipeline(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        text: &str,
    ) -> Result<(SkillName, Vec<Fault>), EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let catalog = self.catalog_now(tenant).await?;
        let checked = check(&catalog, text, Calls::Drafts)?;
        Ok((checked.definition.name, checked.warnings))
    }

    /// A pipeline is a draft until it is activated; a new version of an active one is active at once.
    pub async fn deploy_pipeline(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        upload: PipelineUpload,
    ) -> Result<PipelineReport, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        self.may_store(tenant, principal)?;
        let catalog = self.catalog_now(tenant).await?;
        let mut checked = check(&catalog, &upload.text, Calls::Drafts)?;
        let name = checked.definition.name.clone();
        let before = self.tenant_store(tenant).pipeline(&name).await?;
        let stays = before.as_ref().is_some_and(|row| row.state == PipelineState::Active);
        if upload.activate || stays {
            checked = check(&catalog, &upload.text, Calls::Active)?;
        }
        check_tool(&catalog, &name)?;
        let public = before.is_none() && self.inner.config.public_by_default.as_ref() == Some(&tenant.slug);
        let new = NewPipeline {
            name: name.clone(),
            hash: checked.definition.hash(),
            definition: checked.definition.canonical(),
            visibility: upload.visibility.or(public.then_some(Visibility::Public)),
            activate: upload.activate,
            created_by: principal.caller().as_str().to_owned(),
            source: upload.text,
        };
        let room = room_of(&self.plan_of(tenant));
        let size = new.source.len();
        let store = self.audited(tenant, principal, AuditAction::PipelineDeploy, name.as_str()).await;
        let deployed = store.deploy_pipeline(new, room).await?;
        let skill = SkillName::pipeline(&name);
        if deployed.created {
            self.count_upload(tenant, &principal.caller(), &skill, size);
        }
        self.inner.catalogs.forget(tenant.id);
        tracing::info!(tenant.id = %tenant.slug, skill.id = %skill, version = deployed.version, "deployed");
        let strained = if deployed.created { self.strained_pipelines(tenant, &skill).await } else { Vec::new() };
        Ok(PipelineReport { name, deployed, warnings: checked.warnings, strained })
    }

    /// From now on a skill like any other, if it still fits what there is.
    pub async fn activate_pipeline(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<PipelineRow, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let (row, current) = self.current_source(tenant, name).await?;
        if row.state == PipelineState::Active {
            return Ok(row);
        }
        let catalog = self.catalog_now(tenant).await?;
        check_tool(&catalog, &row.name)?;
        check(&catalog, &current.source, Calls::Active)?;
        self.set_state(tenant, principal, row, PipelineState::Active).await
    }

    /// Refused everywhere from now on; not while an active pipeline needs it.
    pub async fn archive_pipeline(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<PipelineRow, EngineError> {
        authorize(principal, Action::Deploy, EngineError::UnknownTenant)?;
        let (row, _) = self.current_source(tenant, name).await?;
        if row.state == PipelineState::Archived {
            return Ok(row);
        }
        let catalog = self.catalog_now(tenant).await?;
        let callers = callers(&catalog, &SkillName::pipeline(&row.name));
        if !callers.is_empty() {
            return Err(EngineError::PipelineInUse { name: row.name.to_string(), callers });
        }
        self.set_state(tenant, principal, row, PipelineState::Archived).await
    }

    /// All of them, or those in one state.
    pub async fn pipelines(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        state: Option<PipelineState>,
    ) -> Result<Vec<PipelineRow>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let mut rows = self.tenant_store(tenant).pipelines().await?;
        rows.retain(|row| state.is_none_or(|state| row.state == state));
        Ok(rows)
    }

    /// A pipeline with one of its versions, or the one that runs.
    pub async fn pipeline(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
        version: Option<i32>,
    ) -> Result<(PipelineRow, PipelineVersion), EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let (row, current) = self.current_source(tenant, name).await?;
        let Some(number) = version.filter(|number| *number != row.version) else { return Ok((row, current)) };
        let missing = || EngineError::NotFound { what: "version", name: format!("{name}@{number}") };
        let store = self.tenant_store(tenant);
        let row = store.pipeline_at(&row.name, number).await?.ok_or_else(missing)?;
        let versions = store.pipeline_versions(&row.name).await?;
        let version = versions.into_iter().find(|one| one.version == number).ok_or_else(missing)?;
        Ok((row, version))
    }

    /// The same, parsed.
    pub async fn pipeline_definition(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
        version: Option<i32>,
    ) -> Result<Definition, EngineError> {
        let (row, _) = self.pipeline(tenant, principal, name, version).await?;
        pleat_pipelines::parse(&row.definition).map_err(|faults| EngineError::Internal(Box::new(faults)))
    }

    pub async fn pipeline_versions(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        name: &str,
    ) -> Result<Vec<PipelineVersion>, EngineError> {
        authorize(principal, Action::ReadTenant, EngineError::UnknownTenant)?;
        let name = parse(name)?;
        let versions = self.tenant_store(tenant).pipeline_versions(&name).await?;
        if versions.is_empty() { Err(unknown(name.as_str())) } else { Ok(versions) }
    }

    /// What active pipelines have to say to a new version of what they call. Runs that go on are bound to the old one.
    pub(crate) async fn strained_pipelines(&self, tenant: &Tenant, called: &SkillName) -> Vec<String> {
        let Ok(catalog) = self.catalog_now(tenant).await else { return Vec::new() };
        let mut strained = Vec::new();
        for caller in callers(&catalog, called) {
            let name = caller.strip_prefix("pipeline:").unwrap_or(&caller);
            let Ok((_, current)) = self.current_source(tenant, name).await else { continue };
            if let Err(EngineError::BadPipeline(faults)) = check(&catalog, &current.source, Calls::Active) {
                let first = faults.faults.first().map(ToString::to_string).unwrap_or_default();
                strained.push(format!("pipeline `{name}` does not fit any more: {first}"));
            }
        }
        for warning in &strained {
            tracing::warn!(tenant.id = %tenant.slug, skill.id = %called, "{warning}");
        }
        strained
    }

    async fn set_state(
        &self,
        tenant: &Tenant,
        principal: &Principal,
        row: PipelineRow,
        state: PipelineState,
    ) -> Result<PipelineRow, EngineError> {
        let action = match state {
            PipelineState::Archived => AuditAction::PipelineArchive,
            _ => AuditAction::PipelineActivate,
        };
        let store = self.audited(tenant, principal, action, row.name.as_str()).await;
        let changed = store.set_pipeline_state(&row.name, &[row.state], state).await?;
        self.inner.catalogs.forget(tenant.id);
        if changed { Ok(PipelineRow { state, ..row }) } else { Err(EngineError::Busy("changes of this pipeline")) }
    }

    async fn current_source(&self, tenant: &Tenant, name: &str) -> Result<(PipelineRow, PipelineVersion), EngineError> {
        let (name, store) = (parse(name)?, self.tenant_store(tenant));
        let row = store.pipeline(&name).await?.ok_or_else(|| unknown(name.as_str()))?;
        let versions = store.pipeline_versions(&name).await?;
        let current = versions.into_iter().find(|version| version.version == row.version);
        current.map(|current| (row, current)).ok_or_else(|| unknown(name.as_str()))
    }

    /// Another node may have deployed a moment ago.
    async fn catalog_now(&self, tenant: &Tenant) -> Result<std::sync::Arc<Catalog>, EngineError> {
        self.inner.catalogs.forget(tenant.id);
        self.catalog(tenant).await
    }
}

/// Which pipelines a definition may call.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Calls {
    Active,
    Drafts,
}

fn check(catalog: &Catalog, text: &str, calls: Calls) -> Result<Checked, EngineError> {
    let mut known = pleat_pipelines::Catalog::default();
    let drafts = catalog.drafts.values().filter(|_| calls == Calls::Drafts);
    for skill in catalog.skills.values().chain(drafts) {
        match &skill.target {
            Target::Function(_) => {
                known.function(&skill.name, skill.manifest.input.as_ref(), skill.manifest.output.as_ref());
            }
            Target::Pipeline(pipeline) => known.pipeline(&pipeline.definition),
        }
    }
    pleat_pipelines::read(text, &known).map_err(|faults| EngineError::BadPipeline(Box::new(faults)))
}

/// Among tools no two have one name.
fn check_tool(catalog: &Catalog, pipeline: &SkillName) -> Result<(), EngineError> {
    let tool = pipeline_tool(pipeline.as_str());
    match SkillName::parse(&tool).is_ok_and(|tool| catalog.skills.contains_key(&tool)) {
        true => Err(EngineError::Exists { what: "function", name: tool }),
        false => Ok(()),
    }
}

/// The active pipelines that call this skill.
fn callers(catalog: &Catalog, called: &SkillName) -> Vec<String> {
    let calls = |pipeline: &crate::catalog::Pipeline| {
        pipeline.definition.calls().into_iter().any(|call| call.skill().as_deref() == Some(called.as_str()))
    };
    let active = catalog.skills.values().filter(|skill| skill.pipeline().is_some_and(calls));
    active.map(|skill| skill.name.to_string()).collect()
}

/// A name that cannot exist is not found, as any other that does not.
fn parse(name: &str) -> Result<SkillName, EngineError> {
    SkillName::parse(name).map_err(|_| unknown(&name.chars().take(80).collect::<String>()))
}

fn unknown(name: &str) -> EngineError {
    EngineError::NotFound { what: "pipeline", name: name.to_owned() }
}

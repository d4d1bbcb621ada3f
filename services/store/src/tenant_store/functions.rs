//! Deployed functions and their versions. A version is written once; what changes is which one is active.

pub(super) mod rows;
mod sources;

use pleat_domain::{AuditAction, Capability, Grants, Limit, Raw, SkillName, VersionHash};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{PgConnection, Postgres, Transaction};
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;
use crate::tenant_store::functions::rows::{FunctionRow, HistoryRow};
use crate::tenant_store::guards::PolicyRow;
use crate::tenant_store::pipelines::PipelineRow;
use crate::wake::Wake;

/// A version to be deployed.
#[derive(Debug, Clone)]
pub struct NewVersion {
    pub name: SkillName,
    pub hash: VersionHash,
    pub language: String,
    pub file_name: String,
    /// Bytes of the source.
    pub size: i32,
    /// Bytes of the compiled code.
    pub compiled_bytes: u64,
    pub manifest: Raw,
    pub grants: Grants,
    pub created_by: String,
}

/// What a tenant may have deployed at most.
#[derive(Debug, Clone, Copy, Default)]
pub struct Room {
    pub functions: Option<u64>,
    pub source_bytes: Option<u64>,
    pub compiled_bytes: Option<u64>,
}

/// What a deploy came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deployed {
    pub version: i32,
    /// `false`: the active version has the same hash and grants, and stays.
    pub created: bool,
}

/// All that a tenant has deployed, as of a generation.
#[derive(Debug, Clone)]
pub struct Catalog {
    pub generation: i64,
    pub functions: Vec<ActiveFunction>,
    /// Drafts too, but nothing that is archived.
    pub pipelines: Vec<PipelineRow>,
    pub policies: Vec<PolicyRow>,
}

/// One version of a function, with what is needed to run it.
#[derive(Debug, Clone)]
pub struct ActiveFunction {
    pub name: SkillName,
    pub version: i32,
    pub hash: VersionHash,
    pub language: String,
    pub file_name: String,
    pub size: i32,
    /// JSON text.
    pub manifest: String,
    pub grants: Grants,
    /// When the function was last deployed, rolled back or deleted.
    pub updated_at: OffsetDateTime,
}

/// A version in the history of a function.
#[derive(Debug, Clone)]
pub struct VersionRow {
    pub version: i32,
    pub active: bool,
    pub hash: VersionHash,
    pub language: String,
    pub file_name: String,
    pub size: i32,
    pub grants: Grants,
    pub created_at: OffsetDateTime,
    pub created_by: String,
}

impl TenantStore {
    /// Adds the version with its source and switches to it, or changes nothing: also where there is no room for it.
    pub async fn deploy(&self, new: NewVersion, source: &[u8], room: Room) -> Result<Deployed, StoreError> {
        let mut transaction = self.begin().await?;
        // The generation's row lock also puts a tenant's deploys in line.
        self.raise_generation(&mut transaction).await?;
        let active = self.active_version(&mut transaction, &new.name).await?;
        if let Some(version) = active.as_ref().filter(|active| active.is_same(&new)).map(|active| active.version) {
            // Rolled back: nothing changed, so nobody needs to load anything.
            transaction.rollback().await?;
            return Ok(Deployed { version, created: false });
        }
        let before = self.deployed(&mut transaction).await?;
        let version = self.insert_version(&mut transaction, &new).await?;
        let after = self.deployed(&mut transaction).await?;
        if let Some(full) = before.grown_beyond(room, after) {
            transaction.rollback().await?;
            return Err(full);
        }
        self.keep_source(&mut transaction, new.hash, source).await?;
        self.record_deploy(&mut transaction, &new, version, active).await?;
        transaction.commit().await?;
        self.store.announce(Wake::Catalog(self.tenant));
        Ok(Deployed { version, created: true })
    }

    pub async fn catalog(&self) -> Result<Catalog, StoreError> {
        let mut transaction = self.begin().await?;
        // Read first: functions that are newer than the generation are merely loaded once more.
        let generation = self.read_generation(&mut *transaction).await?;
        let rows = sqlx::query_as::<_, FunctionRow>(
            "SELECT f.name, v.version, v.hash, v.language, v.file_name, v.size, v.manifest, v.grants, f.updated_at
             FROM functions f
             JOIN function_versions v
               ON v.tenant_id = f.tenant_id AND v.function = f.name AND v.version = f.active_version
             WHERE f.tenant_id = $1 AND f.deleted_at IS NULL
             ORDER BY f.name",
        )
        .bind(self.tenant.as_uuid())
        .fetch_all(&mut *transaction)
        .await?;
        let pipelines = self.runnable_pipelines(&mut transaction).await?;
        let policies = self.read_policies(&mut transaction).await?;
        transaction.commit().await?;
        let functions = rows.into_iter().map(FunctionRow::function).collect::<Result<_, _>>()?;
        Ok(Catalog { generation, functions, pipelines, policies })
    }

    /// Changes whenever the catalog does; 0 for a tenant that was deleted.
    pub async fn generation(&self) -> Result<i64, StoreError> {
        self.read_generation(self.readers()).await
    }

    /// All versions, newest first; empty for a function that does not exist.
    pub async fn versions(&self, name: &SkillName) -> Result<Vec<VersionRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = sqlx::query_as::<_, HistoryRow>(
            "SELECT v.version, v.version = f.active_version AS active, v.hash, v.language, v.file_name, v.size,
                    v.grants, v.created_at, v.created_by
             FROM function_versions v
             JOIN functions f ON f.tenant_id = v.tenant_id AND f.name = v.function
             WHERE v.tenant_id = $1 AND v.function = $2 AND f.deleted_at IS NULL
             ORDER BY v.version DESC",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter().map(HistoryRow::version).collect()
    }

    /// One version, active or not, even of a deleted function: for a task that goes on with the version it began on.
    pub async fn version(&self, name: &SkillName, number: i32) -> Result<Option<ActiveFunction>, StoreError> {
        let mut transaction = self.begin().await?;
        let row = sqlx::query_as::<_, FunctionRow>(
            "SELECT function AS name, version, hash, language, file_name, size, manifest, grants,
                    created_at AS updated_at
             FROM function_versions WHERE tenant_id = $1 AND function = $2 AND version = $3",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .bind(number)
        .fetch_optional(&mut *transaction)
        .await?;
        transaction.commit().await?;
        row.map(FunctionRow::function).transpose()
    }

    /// Switches to an earlier (or later) version; `false` when there is no such function or version.
    pub async fn activate(&self, name: &SkillName, version: i32) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        self.raise_generation(&mut transaction).await?;
        let done = sqlx::query(
            "UPDATE functions f SET active_version = $3, updated_at = now()
             WHERE f.tenant_id = $1 AND f.name = $2 AND f.deleted_at IS NULL
               AND EXISTS (SELECT FROM function_versions v
                           WHERE v.tenant_id = $1 AND v.function = $2 AND v.version = $3 FOR UPDATE)",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .bind(version)
        .execute(&mut *transaction)
        .await?;
        self.commit_if(transaction, done.rows_affected() > 0).await
    }

    /// Whether there is, or was, a function of this name.
    pub async fn was_deployed(&self, name: &SkillName) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let found = sqlx::query_scalar("SELECT EXISTS (SELECT FROM functions WHERE tenant_id = $1 AND name = $2)")
            .bind(self.tenant.as_uuid())
            .bind(name.as_str())
            .fetch_one(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(found)
    }

    /// Takes the function off the catalog. Its versions stay for a while, for tasks that are not final.
    pub async fn delete_function(&self, name: &SkillName) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        self.raise_generation(&mut transaction).await?;
        let done = sqlx::query(
            "UPDATE functions SET deleted_at = now(), updated_at = now()
             WHERE tenant_id = $1 AND name = $2 AND deleted_at IS NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .execute(&mut *transaction)
        .await?;
        self.commit_if(transaction, done.rows_affected() > 0).await
    }

    async fn read_generation<'c>(&self, executor: impl sqlx::PgExecutor<'c>) -> Result<i64, StoreError> {
        let found = sqlx::query_scalar("SELECT generation FROM tenants WHERE id = $1 AND deleted_at IS NULL")
            .bind(self.tenant.as_uuid())
            .fetch_optional(executor)
            .await?;
        Ok(found.unwrap_or(0))
    }

    pub(super) async fn raise_generation(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        sqlx::query("UPDATE tenants SET generation = generation + 1 WHERE id = $1")
            .bind(self.tenant.as_uuid())
            .execute(connection)
            .await?;
        Ok(())
    }

    pub(super) async fn deployed(&self, connection: &mut PgConnection) -> Result<Holdings, StoreError> {
        let (functions, source_bytes, compiled_bytes) = sqlx::query_as::<_, (i64, i64, i64)>(
            "SELECT count(DISTINCT name), coalesce(sum(size), 0)::bigint,
                    (SELECT coalesce(sum(bytes), 0)::bigint
                     FROM (SELECT DISTINCT v.hash, v.compiled_bytes AS bytes
                           FROM functions f
                           JOIN function_versions v
                             ON v.tenant_id = f.tenant_id AND v.function = f.name AND v.version = f.active_version
                           WHERE f.tenant_id = $1 AND f.deleted_at IS NULL) AS active)
             FROM (SELECT DISTINCT v.function AS name, v.hash, v.size::bigint AS size
                   FROM function_versions v
                   WHERE v.tenant_id = $1 AND NOT v.deleted
                   UNION ALL
                   SELECT 'pipeline:' || p.name, v.hash, octet_length(v.source)
                   FROM pipelines p
                   JOIN pipeline_versions v ON v.tenant_id = p.tenant_id AND v.pipeline = p.name
                   WHERE p.tenant_id = $1 AND p.state <> 2) AS deployed",
        )
        .bind(self.tenant.as_uuid())
        .fetch_one(connection)
        .await?;
        Ok(Holdings {
            functions: functions.unsigned_abs(),
            source_bytes: source_bytes.unsigned_abs(),
            compiled_bytes: compiled_bytes.unsigned_abs(),
        })
    }

    async fn active_version(
        &self,
        connection: &mut PgConnection,
        name: &SkillName,
    ) -> Result<Option<ActiveVersion>, StoreError> {
        let active = sqlx::query_as::<_, (i32, Vec<u8>, Json<Grants>)>(
            "SELECT v.version, v.hash, v.grants
             FROM functions f
             JOIN function_versions v
               ON v.tenant_id = f.tenant_id AND v.function = f.name AND v.version = f.active_version
             WHERE f.tenant_id = $1 AND f.name = $2 AND f.deleted_at IS NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .fetch_optional(connection)
        .await?;
        Ok(active.map(|(version, hash, grants)| ActiveVersion { version, hash, grants: grants.0 }))
    }

    /// A deploy is up to three rows: a function's visibility and its grants are looked for by themselves.
    async fn record_deploy(
        &self,
        connection: &mut PgConnection,
        new: &NewVersion,
        version: i32,
        active: Option<ActiveVersion>,
    ) -> Result<(), StoreError> {
        let previous = active.as_ref().map(|active| active.version);
        let before = active.map(|active| active.grants).unwrap_or_default();
        let details = json!({ "version": version, "previous": previous, "file": new.file_name });
        self.record_as(connection, None, details).await?;
        if before.visibility != new.grants.visibility {
            let details = json!({ "from": before.visibility, "to": new.grants.visibility });
            self.record_as(connection, Some(AuditAction::FunctionVisibility), details).await?;
        }
        let names = |grants: &Grants| -> Vec<String> {
            let capabilities = grants.capabilities().into_iter().filter(|one| *one != Capability::Public);
            capabilities.map(|capability| capability.to_string()).collect()
        };
        let (from, to) = (names(&before), names(&new.grants));
        if from != to {
            self.record_as(connection, Some(AuditAction::GrantsChange), json!({ "from": from, "to": to })).await?;
        }
        Ok(())
    }

    async fn insert_version(&self, connection: &mut PgConnection, new: &NewVersion) -> Result<i32, StoreError> {
        let version: i32 = sqlx::query_scalar(
            "SELECT 1 + greatest(
                 (SELECT max(version) FROM function_versions WHERE tenant_id = $1 AND function = $2),
                 (SELECT active_version FROM functions WHERE tenant_id = $1 AND name = $2), 0)",
        )
        .bind(self.tenant.as_uuid())
        .bind(new.name.as_str())
        .fetch_one(&mut *connection)
        .await?;
        sqlx::query(
            "INSERT INTO functions (tenant_id, name, active_version) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, name)
             DO UPDATE SET active_version = excluded.active_version, updated_at = now(), deleted_at = NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(new.name.as_str())
        .bind(version)
        .execute(&mut *connection)
        .await?;
        sqlx::query(
            "INSERT INTO function_versions
               (tenant_id, function, version, hash, language, file_name, size, manifest, grants, created_by,
                compiled_bytes)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8::text::json, $9, $10, $11)",
        )
        .bind(self.tenant.as_uuid())
        .bind(new.name.as_str())
        .bind(version)
        .bind(new.hash.as_bytes().as_slice())
        .bind(&new.language)
        .bind(&new.file_name)
        .bind(new.size)
        .bind(new.manifest.get())
        .bind(Json(&new.grants))
        .bind(&new.created_by)
        .bind(i64::try_from(new.compiled_bytes).unwrap_or(i64::MAX))
        .execute(connection)
        .await?;
        Ok(version)
    }

    /// What changed nothing must not raise the generation either.
    pub(super) async fn commit_if(
        &self,
        mut transaction: Transaction<'_, Postgres>,
        changed: bool,
    ) -> Result<bool, StoreError> {
        if changed {
            self.record(&mut transaction).await?;
            transaction.commit().await?;
            self.store.announce(Wake::Catalog(self.tenant));
        } else {
            transaction.rollback().await?;
        }
        Ok(changed)
    }
}

/// Of the version that a deploy replaces.
struct ActiveVersion {
    version: i32,
    hash: Vec<u8>,
    grants: Grants,
}

impl ActiveVersion {
    fn is_same(&self, new: &NewVersion) -> bool {
        self.hash == new.hash.as_bytes() && self.grants == new.grants
    }
}

/// What a tenant has deployed: functions, and pipelines like them.
#[derive(Clone, Copy)]
pub(super) struct Holdings {
    functions: u64,
    source_bytes: u64,
    compiled_bytes: u64,
}

impl Holdings {
    /// Who has too much already (a plan was made smaller) may still replace it by less.
    pub(super) fn grown_beyond(self, room: Room, after: Self) -> Option<StoreError> {
        let beyond = |before: u64, after: u64, most: Option<u64>| most.filter(|most| after > *most && after > before);
        if let Some(most) = beyond(self.functions, after.functions, room.functions) {
            return Some(StoreError::NoRoom { limit: Limit::Functions, most });
        }
        if let Some(most) = beyond(self.source_bytes, after.source_bytes, room.source_bytes) {
            return Some(StoreError::NoRoom { limit: Limit::SourceBytes, most });
        }
        let most = beyond(self.compiled_bytes, after.compiled_bytes, room.compiled_bytes)?;
        Some(StoreError::NoRoom { limit: Limit::CompiledBytes, most })
    }
}

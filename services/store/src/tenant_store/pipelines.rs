//! Pipelines and their versions. A version is written once; what changes is which one runs, and who may run it.

use pleat_domain::{PipelineState, Raw, SkillName, VersionHash, Visibility};
use serde_json::json;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection};
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;
use crate::tenant_store::functions::{Room, rows};
use crate::wake::Wake;

/// A definition to be deployed.
#[derive(Debug, Clone)]
pub struct NewPipeline {
    pub name: SkillName,
    pub hash: VersionHash,
    /// The text as it was sent.
    pub source: String,
    /// Its canonical form.
    pub definition: String,
    /// `None`: as it was, and listed if it is new.
    pub visibility: Option<Visibility>,
    /// Without it, an active pipeline stays active, and any other becomes a draft.
    pub activate: bool,
    pub created_by: String,
}

/// What a deploy came to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PipelineDeployed {
    pub version: i32,
    /// `false`: this very definition was there already.
    pub created: bool,
    pub state: PipelineState,
    pub visibility: Visibility,
}

/// A pipeline with one of its definitions.
#[derive(Debug, Clone)]
pub struct PipelineRow {
    pub name: SkillName,
    pub state: PipelineState,
    pub visibility: Visibility,
    pub version: i32,
    pub hash: VersionHash,
    /// JSON text.
    pub definition: String,
    pub updated_at: OffsetDateTime,
}

/// A version in the history of a pipeline.
#[derive(Debug, Clone)]
pub struct PipelineVersion {
    pub version: i32,
    /// The one that runs.
    pub current: bool,
    pub hash: VersionHash,
    pub source: String,
    pub created_at: OffsetDateTime,
    pub created_by: String,
}

const ROW: &str = "SELECT p.name, p.state, p.visibility, v.version, v.hash, v.definition, p.updated_at \
     FROM pipelines p JOIN pipeline_versions v ON v.tenant_id = p.tenant_id AND v.pipeline = p.name \
     WHERE p.tenant_id = $1";

impl TenantStore {
    /// Adds the version and switches to it, or changes nothing: also where there is no room for it.
    pub async fn deploy_pipeline(&self, new: NewPipeline, room: Room) -> Result<PipelineDeployed, StoreError> {
        let mut transaction = self.begin().await?;
        // The generation's row lock also puts a tenant's deploys in line.
        self.raise_generation(&mut transaction).await?;
        let before = self.current_pipeline(&mut transaction, &new.name).await?;
        let active = new.activate || before.as_ref().is_some_and(|row| row.state == PipelineState::Active);
        let state = if active { PipelineState::Active } else { PipelineState::Draft };
        let visibility = new.visibility.or(before.as_ref().map(|row| row.visibility)).unwrap_or_default();
        let known = before.as_ref().filter(|row| row.hash == new.hash).map(|row| row.version);
        let same = before.as_ref().is_some_and(|row| row.state == state && row.visibility == visibility);
        if let Some(version) = known.filter(|_| same) {
            transaction.rollback().await?;
            return Ok(PipelineDeployed { version, created: false, state, visibility });
        }
        let holdings = self.deployed(&mut transaction).await?;
        let version = match known {
            Some(version) => version,
            None => self.next_pipeline_version(&mut transaction, &new.name).await?,
        };
        let deployed = PipelineDeployed { version, created: known.is_none(), state, visibility };
        self.put_pipeline(&mut transaction, &new, deployed).await?;
        let after = self.deployed(&mut transaction).await?;
        if let Some(full) = holdings.grown_beyond(room, after) {
            transaction.rollback().await?;
            return Err(full);
        }
        let details = json!({ "version": version, "previous": before.map(|row| row.version), "state": state.as_str() });
        self.record_as(&mut transaction, None, details).await?;
        transaction.commit().await?;
        self.store.announce(Wake::Catalog(self.tenant));
        Ok(deployed)
    }

    /// Brings a pipeline from one of these states into another; `false` when it is in none of them.
    pub async fn set_pipeline_state(
        &self,
        name: &SkillName,
        from: &[PipelineState],
        to: PipelineState,
    ) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        self.raise_generation(&mut transaction).await?;
        let from: Vec<i16> = from.iter().map(|state| state.to_code()).collect();
        let done = sqlx::query(
            "UPDATE pipelines SET state = $4, updated_at = now()
             WHERE tenant_id = $1 AND name = $2 AND state = ANY ($3)",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .bind(from)
        .bind(to.to_code())
        .execute(&mut *transaction)
        .await?;
        self.commit_if(transaction, done.rows_affected() > 0).await
    }

    /// All of the tenant's, archived ones too.
    pub async fn pipelines(&self) -> Result<Vec<PipelineRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let query = format!("{ROW} AND v.version = p.version ORDER BY p.name");
        let rows = sqlx::query_as::<_, Row>(sqlx::AssertSqlSafe(query))
            .bind(self.tenant.as_uuid())
            .fetch_all(&mut *transaction)
            .await?;
        transaction.commit().await?;
        rows.into_iter().map(Row::pipeline).collect()
    }

    /// A pipeline in whichever state, with the version that runs.
    pub async fn pipeline(&self, name: &SkillName) -> Result<Option<PipelineRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let row = self.current_pipeline(&mut transaction, name).await?;
        transaction.commit().await?;
        Ok(row)
    }

    /// The same with a version that a run began with.
    pub async fn pipeline_at(&self, name: &SkillName, version: i32) -> Result<Option<PipelineRow>, StoreError> {
        let mut transaction = self.begin().await?;
        let query = format!("{ROW} AND p.name = $2 AND v.version = $3");
        let row = sqlx::query_as::<_, Row>(sqlx::AssertSqlSafe(query))
            .bind(self.tenant.as_uuid())
            .bind(name.as_str())
            .bind(version)
            .fetch_optional(&mut *transaction)
            .await?;
        transaction.commit().await?;
        row.map(Row::pipeline).transpose()
    }

    /// All versions with their texts, newest first; empty for a pipeline that does not exist.
    pub async fn pipeline_versions(&self, name: &SkillName) -> Result<Vec<PipelineVersion>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = sqlx::query_as::<_, VersionRow>(
            "SELECT v.version, v.version = p.version AS current, v.hash, v.source, v.created_at, v.created_by
             FROM pipeline_versions v JOIN pipelines p ON p.tenant_id = v.tenant_id AND p.name = v.pipeline
             WHERE v.tenant_id = $1 AND v.pipeline = $2 ORDER BY v.version DESC",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        rows.into_iter().map(VersionRow::version).collect()
    }

    /// Everything that may run.
    pub(super) async fn runnable_pipelines(
        &self,
        connection: &mut PgConnection,
    ) -> Result<Vec<PipelineRow>, StoreError> {
        let query = format!("{ROW} AND v.version = p.version AND p.state IN (0, 1) ORDER BY p.name");
        let rows = sqlx::query_as::<_, Row>(sqlx::AssertSqlSafe(query))
            .bind(self.tenant.as_uuid())
            .fetch_all(connection)
            .await?;
        rows.into_iter().map(Row::pipeline).collect()
    }

    async fn current_pipeline(
        &self,
        connection: &mut PgConnection,
        name: &SkillName,
    ) -> Result<Option<PipelineRow>, StoreError> {
        let query = format!("{ROW} AND p.name = $2 AND v.version = p.version");
        let row = sqlx::query_as::<_, Row>(sqlx::AssertSqlSafe(query))
            .bind(self.tenant.as_uuid())
            .bind(name.as_str())
            .fetch_optional(connection)
            .await?;
        row.map(Row::pipeline).transpose()
    }

    async fn next_pipeline_version(&self, connection: &mut PgConnection, name: &SkillName) -> Result<i32, StoreError> {
        let next = sqlx::query_scalar(
            "SELECT coalesce(max(version), 0) + 1 FROM pipeline_versions WHERE tenant_id = $1 AND pipeline = $2",
        )
        .bind(self.tenant.as_uuid())
        .bind(name.as_str())
        .fetch_one(connection)
        .await?;
        Ok(next)
    }

    async fn put_pipeline(
        &self,
        connection: &mut PgConnection,
        new: &NewPipeline,
        deployed: PipelineDeployed,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO pipelines (tenant_id, name, state, version, visibility) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (tenant_id, name) DO UPDATE SET state = excluded.state, version = excluded.version,
               visibility = excluded.visibility, updated_at = now()",
        )
        .bind(self.tenant.as_uuid())
        .bind(new.name.as_str())
        .bind(deployed.state.to_code())
        .bind(deployed.version)
        .bind(deployed.visibility.to_code())
        .execute(&mut *connection)
        .await?;
        match deployed.created {
            true => self.insert_definition(connection, new, deployed.version).await,
            false => Ok(()),
        }
    }

    async fn insert_definition(
        &self,
        connection: &mut PgConnection,
        new: &NewPipeline,
        version: i32,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO pipeline_versions (tenant_id, pipeline, version, hash, source, definition, created_by)
             VALUES ($1, $2, $3, $4, $5, $6::text::json, $7)",
        )
        .bind(self.tenant.as_uuid())
        .bind(new.name.as_str())
        .bind(version)
        .bind(new.hash.as_bytes().as_slice())
        .bind(&new.source)
        .bind(&new.definition)
        .bind(&new.created_by)
        .execute(connection)
        .await?;
        Ok(())
    }
}

#[derive(FromRow)]
struct Row {
    name: String,
    state: i16,
    visibility: i16,
    version: i32,
    hash: Vec<u8>,
    definition: Json<Raw>,
    updated_at: OffsetDateTime,
}

impl Row {
    fn pipeline(self) -> Result<PipelineRow, StoreError> {
        let corrupt = |what| StoreError::Corrupt { what };
        Ok(PipelineRow {
            name: SkillName::parse(&self.name).map_err(|_| corrupt("pipeline name"))?,
            state: PipelineState::from_code(self.state).ok_or_else(|| corrupt("pipeline state"))?,
            visibility: Visibility::from_code(self.visibility).ok_or_else(|| corrupt("visibility"))?,
            version: self.version,
            hash: rows::hash(&self.hash)?,
            definition: Box::<str>::from(self.definition.0).into(),
            updated_at: self.updated_at,
        })
    }
}

#[derive(FromRow)]
struct VersionRow {
    version: i32,
    current: bool,
    hash: Vec<u8>,
    source: String,
    created_at: OffsetDateTime,
    created_by: String,
}

impl VersionRow {
    fn version(self) -> Result<PipelineVersion, StoreError> {
        Ok(PipelineVersion {
            version: self.version,
            current: self.current,
            hash: rows::hash(&self.hash)?,
            source: self.source,
            created_at: self.created_at,
            created_by: self.created_by,
        })
    }
}

//! What is reached before a tenant is known: tenants by slug, keys by id, the operator's keys.

use std::fmt;

use pleat_domain::{CardVersions, KeyLimits, PlanName, Scopes, Tenant, TenantId, TenantSlug};
use sqlx::{FromRow, Postgres, Transaction};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::audit::{self, AuditEntry};
use crate::error::{self, StoreError};
use crate::limit_columns::{LimitColumns, stored, stored_bytes};
use crate::store::Store;
use crate::wake::Wake;

/// A key to be stored: a MAC of its secret, never the secret.
#[derive(Clone)]
pub struct NewKey {
    pub id: String,
    pub mac: Vec<u8>,
    pub scopes: Scopes,
    pub label: String,
    pub last_four: String,
    pub created_by: String,
    pub expires_at: Option<OffsetDateTime>,
    pub limits: KeyLimits,
}

/// A stored key. Whether it is still good (revoked, expired) is for the caller to decide.
#[derive(Clone)]
pub struct KeyRecord {
    pub id: String,
    /// `None`: an operator's key.
    pub tenant: Option<TenantId>,
    pub mac: Vec<u8>,
    pub scopes: Scopes,
    pub label: String,
    pub last_four: String,
    pub created_at: OffsetDateTime,
    pub created_by: String,
    pub expires_at: Option<OffsetDateTime>,
    pub revoked_at: Option<OffsetDateTime>,
    pub limits: KeyLimits,
}

impl Store {
    /// A name that was ever used stays taken, even when its tenant is deleted.
    pub async fn create_tenant(
        &self,
        slug: &TenantSlug,
        plan: &PlanName,
        audit: &AuditEntry,
    ) -> Result<Tenant, StoreError> {
        let id = Uuid::now_v7();
        let mut transaction = self.begin_platform(Some(TenantId::from_row(id))).await?;
        let row = sqlx::query_as::<_, TenantRow>(
            "INSERT INTO tenants (id, slug, plan) VALUES ($1, $2, $3) RETURNING id, slug, plan, card, created_at",
        )
        .bind(id)
        .bind(slug.as_str())
        .bind(plan.as_str())
        .fetch_one(&mut *transaction)
        .await
        .map_err(|error| match error::constraint(&error) {
            Some("tenants_slug_key") => StoreError::SlugTaken(slug.clone()),
            _ => error.into(),
        })?;
        let tenant = row.tenant()?;
        audit::append(&mut transaction, Some(tenant.id), audit).await?;
        transaction.commit().await?;
        Ok(tenant)
    }

    pub async fn tenant_by_slug(&self, slug: &TenantSlug) -> Result<Option<Tenant>, StoreError> {
        sqlx::query_as::<_, TenantRow>(
            "SELECT id, slug, plan, card, created_at FROM tenants WHERE slug = $1 AND deleted_at IS NULL",
        )
        .bind(slug.as_str())
        .fetch_optional(self.readers())
        .await?
        .map(TenantRow::tenant)
        .transpose()
    }

    /// A tenant's id, also when it was deleted: its audit log stays.
    pub async fn tenant_named(&self, slug: &TenantSlug) -> Result<Option<TenantId>, StoreError> {
        let found: Option<Uuid> = sqlx::query_scalar("SELECT id FROM tenants WHERE slug = $1")
            .bind(slug.as_str())
            .fetch_optional(self.readers())
            .await?;
        Ok(found.map(TenantId::from_row))
    }

    pub async fn list_tenants(&self) -> Result<Vec<Tenant>, StoreError> {
        sqlx::query_as::<_, TenantRow>(
            "SELECT id, slug, plan, card, created_at FROM tenants WHERE deleted_at IS NULL ORDER BY slug",
        )
        .fetch_all(self.readers())
        .await?
        .into_iter()
        .map(TenantRow::tenant)
        .collect()
    }

    /// `false`: there is no such tenant.
    pub async fn set_plan(&self, tenant: TenantId, plan: &PlanName, audit: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_platform(Some(tenant)).await?;
        let done = sqlx::query("UPDATE tenants SET plan = $2 WHERE id = $1 AND deleted_at IS NULL")
            .bind(tenant.as_uuid())
            .bind(plan.as_str())
            .execute(&mut *transaction)
            .await?;
        commit_audited(transaction, tenant, audit, done.rows_affected() > 0).await
    }

    /// `false`: there is no such tenant.
    pub async fn set_card(&self, tenant: TenantId, card: CardVersions, audit: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_platform(Some(tenant)).await?;
        let done = sqlx::query("UPDATE tenants SET card = $2 WHERE id = $1 AND deleted_at IS NULL")
            .bind(tenant.as_uuid())
            .bind(card.as_str())
            .execute(&mut *transaction)
            .await?;
        commit_audited(transaction, tenant, audit, done.rows_affected() > 0).await
    }

    /// The tenant is gone for every route and key at once; its tasks follow with their partitions.
    pub async fn delete_tenant(&self, tenant: &Tenant, audit: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_platform(Some(tenant.id)).await?;
        let done = sqlx::query(
            "UPDATE tenants SET deleted_at = now(), generation = generation + 1 WHERE id = $1 AND deleted_at IS NULL",
        )
        .bind(tenant.id.as_uuid())
        .execute(&mut *transaction)
        .await?;
        let deleted = commit_audited(transaction, tenant.id, audit, done.rows_affected() > 0).await?;
        self.announce(Wake::Tenant(tenant.id, tenant.slug.clone()));
        Ok(deleted)
    }

    /// A key by its public id; `None` too when its tenant was deleted.
    pub async fn key(&self, id: &str) -> Result<Option<KeyRecord>, StoreError> {
        let row = sqlx::query_as::<_, KeyRow>(
            "SELECT id, tenant_id, mac, scopes, label, last_four, created_at, created_by, expires_at,
               revoked_at, requests_per_minute, concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day,
               stored_bytes_per_day
             FROM pleat_key($1)",
        )
        .bind(id)
        .fetch_optional(self.readers())
        .await?;
        Ok(row.map(KeyRow::record))
    }

    /// The tenant that a key belongs to.
    pub async fn key_tenant(&self, tenant: TenantId) -> Result<Option<Tenant>, StoreError> {
        sqlx::query_as::<_, TenantRow>(
            "SELECT id, slug, plan, card, created_at FROM tenants WHERE id = $1 AND deleted_at IS NULL",
        )
        .bind(tenant.as_uuid())
        .fetch_optional(self.readers())
        .await?
        .map(TenantRow::tenant)
        .transpose()
    }
}

async fn commit_audited(
    mut transaction: Transaction<'static, Postgres>,
    tenant: TenantId,
    entry: &AuditEntry,
    changed: bool,
) -> Result<bool, StoreError> {
    if changed {
        audit::append(&mut transaction, Some(tenant), entry).await?;
    }
    transaction.commit().await?;
    Ok(changed)
}

pub(crate) async fn insert_key(
    connection: &mut sqlx::PgConnection,
    tenant: Option<TenantId>,
    key: &NewKey,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO api_keys (id, tenant_id, mac, scopes, label, last_four, created_by, expires_at,
           requests_per_minute, concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day, stored_bytes_per_day)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)",
    )
    .bind(&key.id)
    .bind(tenant.map(|tenant| tenant.as_uuid()))
    .bind(&key.mac)
    .bind(key.scopes.to_bits())
    .bind(&key.label)
    .bind(&key.last_four)
    .bind(&key.created_by)
    .bind(key.expires_at)
    .bind(key.limits.requests_per_minute.map(stored))
    .bind(key.limits.concurrent_tasks.map(stored))
    .bind(key.limits.cpu_ms_per_minute.map(stored))
    .bind(key.limits.cpu_ms_per_day.map(stored))
    .bind(key.limits.stored_bytes_per_day.map(stored_bytes))
    .execute(connection)
    .await
    .map_err(|error| match error::constraint(&error) {
        Some("api_keys_pkey") => StoreError::KeyTaken,
        _ => error.into(),
    })?;
    Ok(())
}

#[derive(FromRow)]
struct TenantRow {
    id: Uuid,
    slug: String,
    plan: String,
    card: String,
    created_at: OffsetDateTime,
}

impl TenantRow {
    fn tenant(self) -> Result<Tenant, StoreError> {
        let slug = TenantSlug::parse(&self.slug).map_err(|_| StoreError::Corrupt { what: "tenant name" })?;
        let plan = PlanName::parse(&self.plan).map_err(|_| StoreError::Corrupt { what: "plan" })?;
        let card = CardVersions::parse(&self.card).ok_or(StoreError::Corrupt { what: "choice of cards" })?;
        Ok(Tenant { id: TenantId::from_row(self.id), slug, plan, card, created_at: self.created_at })
    }
}

#[derive(FromRow)]
pub(crate) struct KeyRow {
    id: String,
    tenant_id: Option<Uuid>,
    mac: Vec<u8>,
    scopes: i16,
    label: String,
    last_four: String,
    created_at: OffsetDateTime,
    created_by: String,
    expires_at: Option<OffsetDateTime>,
    revoked_at: Option<OffsetDateTime>,
    #[sqlx(flatten)]
    limits: LimitColumns,
}

impl KeyRow {
    pub(crate) fn record(self) -> KeyRecord {
        KeyRecord {
            id: self.id,
            tenant: self.tenant_id.map(TenantId::from_row),
            mac: self.mac,
            scopes: Scopes::from_bits(self.scopes),
            label: self.label,
            last_four: self.last_four,
            created_at: self.created_at,
            created_by: self.created_by,
            expires_at: self.expires_at,
            revoked_at: self.revoked_at,
            limits: self.limits.limits(),
        }
    }
}

impl fmt::Debug for NewKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("NewKey")
            .field("id", &self.id)
            .field("scopes", &self.scopes)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

impl fmt::Debug for KeyRecord {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter
            .debug_struct("KeyRecord")
            .field("id", &self.id)
            .field("tenant", &self.tenant)
            .field("scopes", &self.scopes)
            .field("label", &self.label)
            .finish_non_exhaustive()
    }
}

//! Who issues tokens for a tenant.

use pleat_domain::{KeyLimits, Raw, Scopes};
use sqlx::types::Json;
use sqlx::{AssertSqlSafe, FromRow};
use time::OffsetDateTime;

use crate::error::{self, StoreError};
use crate::limit_columns::{LimitColumns, stored, stored_bytes};
use crate::tenant_store::TenantStore;

/// An issuer to be stored, with its keys or the place they are fetched from.
#[derive(Debug, Clone)]
pub struct NewIssuer {
    pub id: String,
    /// As tokens name it in `iss`.
    pub issuer: String,
    pub audiences: Vec<String>,
    pub jwks: Option<Raw>,
    pub jwks_url: Option<String>,
    pub scopes: Scopes,
    pub limits: KeyLimits,
    pub created_by: String,
}

/// What is read of an issuer.
const COLUMNS: &str = "id, issuer, audiences, jwks, jwks_url, scopes, created_at, created_by, requests_per_minute,
    concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day, stored_bytes_per_day";

#[derive(Debug, Clone)]
pub struct IssuerRecord {
    pub id: String,
    pub issuer: String,
    /// None: the tenant's own addresses.
    pub audiences: Vec<String>,
    pub jwks: Option<Raw>,
    pub jwks_url: Option<String>,
    /// The most that a token may do.
    pub scopes: Scopes,
    /// What each subject may use.
    pub limits: KeyLimits,
    pub created_at: OffsetDateTime,
    pub created_by: String,
}

impl TenantStore {
    pub async fn insert_issuer(&self, new: NewIssuer) -> Result<IssuerRecord, StoreError> {
        let mut transaction = self.begin().await?;
        let statement = format!(
            "INSERT INTO jwt_issuers (tenant_id, id, issuer, audiences, jwks, jwks_url, scopes, created_by,
               requests_per_minute, concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day, stored_bytes_per_day)
             VALUES ($1, $2, $3, $4, $5::text::json, $6, $7, $8, $9, $10, $11, $12, $13) RETURNING {COLUMNS}"
        );
        let row = sqlx::query_as::<_, IssuerRow>(AssertSqlSafe(statement))
            .bind(self.tenant.as_uuid())
            .bind(&new.id)
            .bind(&new.issuer)
            .bind(&new.audiences)
            .bind(new.jwks.as_ref().map(|jwks| jwks.get()))
            .bind(&new.jwks_url)
            .bind(new.scopes.to_bits())
            .bind(&new.created_by)
            .bind(new.limits.requests_per_minute.map(stored))
            .bind(new.limits.concurrent_tasks.map(stored))
            .bind(new.limits.cpu_ms_per_minute.map(stored))
            .bind(new.limits.cpu_ms_per_day.map(stored))
            .bind(new.limits.stored_bytes_per_day.map(stored_bytes))
            .fetch_one(&mut *transaction)
            .await
            .map_err(|error| match error::constraint(&error) {
                Some("jwt_issuers_issuer_key") => StoreError::IssuerTaken(new.issuer.clone()),
                _ => error.into(),
            })?;
        self.record(&mut transaction).await?;
        transaction.commit().await?;
        Ok(row.record())
    }

    /// Oldest first.
    pub async fn list_issuers(&self) -> Result<Vec<IssuerRecord>, StoreError> {
        let mut transaction = self.begin().await?;
        let statement = format!("SELECT {COLUMNS} FROM jwt_issuers WHERE tenant_id = $1 ORDER BY created_at, id");
        let rows = sqlx::query_as::<_, IssuerRow>(AssertSqlSafe(statement))
            .bind(self.tenant.as_uuid())
            .fetch_all(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(IssuerRow::record).collect())
    }

    /// `false`: there is no such issuer, or its keys are fetched.
    pub async fn replace_keys(&self, id: &str, jwks: &Raw) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query(
            "UPDATE jwt_issuers SET jwks = $3::text::json WHERE tenant_id = $1 AND id = $2 AND jwks_url IS NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(id)
        .bind(jwks.get())
        .execute(&mut *transaction)
        .await?;
        if done.rows_affected() > 0 {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    pub async fn delete_issuer(&self, id: &str) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done = sqlx::query("DELETE FROM jwt_issuers WHERE tenant_id = $1 AND id = $2")
            .bind(self.tenant.as_uuid())
            .bind(id)
            .execute(&mut *transaction)
            .await?;
        if done.rows_affected() > 0 {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(done.rows_affected() > 0)
    }
}

#[derive(FromRow)]
struct IssuerRow {
    id: String,
    issuer: String,
    audiences: Vec<String>,
    jwks: Option<Json<Raw>>,
    jwks_url: Option<String>,
    scopes: i16,
    created_at: OffsetDateTime,
    created_by: String,
    #[sqlx(flatten)]
    limits: LimitColumns,
}

impl IssuerRow {
    fn record(self) -> IssuerRecord {
        IssuerRecord {
            id: self.id,
            issuer: self.issuer,
            audiences: self.audiences,
            jwks: self.jwks.map(|jwks| jwks.0),
            jwks_url: self.jwks_url,
            scopes: Scopes::from_bits(self.scopes),
            limits: self.limits.limits(),
            created_at: self.created_at,
            created_by: self.created_by,
        }
    }
}

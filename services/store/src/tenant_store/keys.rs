//! A tenant's own keys.

use pleat_domain::{Scope, Scopes};
use sqlx::PgConnection;

use crate::error::StoreError;
use crate::platform::{KeyRecord, KeyRow, NewKey, insert_key};
use crate::tenant_store::TenantStore;
use crate::wake::Wake;

impl TenantStore {
    pub async fn insert_key(&self, key: NewKey) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        insert_key(&mut transaction, Some(self.tenant), &key).await?;
        self.record(&mut transaction).await?;
        Ok(transaction.commit().await?)
    }

    /// All keys, revoked ones too, oldest first.
    pub async fn list_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = sqlx::query_as::<_, KeyRow>(
            "SELECT id, tenant_id, mac, scopes, label, last_four, created_at, created_by, expires_at,
               revoked_at, requests_per_minute, concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day,
               stored_bytes_per_day
             FROM api_keys WHERE tenant_id = $1 ORDER BY created_at, id",
        )
        .bind(self.tenant.as_uuid())
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(KeyRow::record).collect())
    }

    /// `false`: no such key, or it was revoked before. Without `force` the last working admin key stays: of two admins that
    /// revoke each other's key at the same moment, one is refused.
    pub async fn revoke_key(&self, id: &str, force: bool) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        self.in_line(&mut transaction).await?;
        if !force && self.is_last_admin(&mut transaction, id).await? {
            return Err(StoreError::LastKey { what: "admin key of the tenant" });
        }
        let done = sqlx::query(
            "UPDATE api_keys SET revoked_at = now() WHERE tenant_id = $1 AND id = $2 AND revoked_at IS NULL",
        )
        .bind(self.tenant.as_uuid())
        .bind(id)
        .execute(&mut *transaction)
        .await?;
        let revoked = done.rows_affected() > 0;
        if revoked {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        if revoked {
            self.store.announce(Wake::Key(id.to_owned()));
        }
        Ok(revoked)
    }

    /// Whether this key works and is an admin's, and no other is. The caller holds the tenant's lock.
    async fn is_last_admin(&self, connection: &mut PgConnection, id: &str) -> Result<bool, StoreError> {
        let last = sqlx::query_scalar(
            "SELECT coalesce(bool_or(id = $2), false) AND count(*) = 1 FROM api_keys
             WHERE tenant_id = $1 AND (scopes & $3) <> 0 AND revoked_at IS NULL
               AND (expires_at IS NULL OR expires_at > now())",
        )
        .bind(self.tenant.as_uuid())
        .bind(id)
        .bind(Scopes::of([Scope::Admin]).to_bits())
        .fetch_one(connection)
        .await?;
        Ok(last)
    }
}

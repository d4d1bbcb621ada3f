//! A tenant's secrets. They come sealed and go sealed: nothing here can read one.

use pleat_domain::SettingName;
use sqlx::FromRow;
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;

/// What may be known of a secret.
#[derive(Debug, Clone, FromRow)]
pub struct SecretRow {
    pub name: String,
    /// Bytes of the value.
    pub length: i32,
    pub updated_at: OffsetDateTime,
    pub updated_by: String,
}

impl TenantStore {
    pub async fn set_secret(
        &self,
        name: &SettingName,
        sealed: &[u8],
        length: usize,
        by: &str,
    ) -> Result<(), StoreError> {
        let put = sqlx::query(
            "INSERT INTO secrets (tenant_id, name, sealed, length, updated_by)
             SELECT $2, $3, $4, $5, $6
             WHERE (SELECT count(*) FROM secrets WHERE tenant_id = $2 AND name <> $3) < $1
             ON CONFLICT (tenant_id, name) DO UPDATE SET sealed = excluded.sealed, length = excluded.length,
                 updated_at = now(), updated_by = excluded.updated_by",
        );
        let length = i32::try_from(length).unwrap_or(i32::MAX);
        self.put(put, |put| put.bind(name.as_str()).bind(sealed).bind(length).bind(by)).await
    }

    pub async fn secret(&self, name: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT * FROM pleat_secret($1, $2)")
            .bind(self.tenant.as_uuid())
            .bind(name)
            .fetch_optional(self.readers())
            .await?)
    }

    pub async fn list_secrets(&self) -> Result<Vec<SecretRow>, StoreError> {
        self.list("SELECT name, length, updated_at, updated_by FROM secrets WHERE tenant_id = $1 ORDER BY name").await
    }

    /// `false`: there was none.
    pub async fn delete_secret(&self, name: &SettingName) -> Result<bool, StoreError> {
        self.delete("DELETE FROM secrets WHERE tenant_id = $1 AND name = $2", name).await
    }
}

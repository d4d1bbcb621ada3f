//! Values that functions keep. Each operation is one statement: what it changes and what it counts go together.

use pleat_domain::limits;

use crate::error::{self, StoreError};
use crate::tenant_store::TenantStore;

/// Keys in the order of their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KeyPage {
    pub keys: Vec<String>,
    /// There are keys after the last of these.
    pub more: bool,
}

impl TenantStore {
    pub async fn value(&self, key: &str) -> Result<Option<Vec<u8>>, StoreError> {
        Ok(sqlx::query_scalar("SELECT * FROM pleat_value($1, $2)")
            .bind(self.tenant.as_uuid())
            .bind(key)
            .fetch_optional(self.readers())
            .await?)
    }

    pub async fn set_value(&self, key: &str, value: &[u8], ttl_seconds: Option<u32>) -> Result<(), StoreError> {
        sqlx::query("SELECT pleat_set_value($1, $2, $3, make_interval(secs => $4), $5)")
            .bind(self.tenant.as_uuid())
            .bind(key)
            .bind(value)
            .bind(ttl_seconds.map(f64::from))
            .bind(share())
            .execute(self.readers())
            .await
            .map_err(refusal)?;
        Ok(())
    }

    /// `false`: there was none.
    pub async fn delete_value(&self, key: &str) -> Result<bool, StoreError> {
        Ok(sqlx::query_scalar("SELECT pleat_delete_value($1, $2)")
            .bind(self.tenant.as_uuid())
            .bind(key)
            .fetch_one(self.readers())
            .await?)
    }

    /// What is not there counts as 0; when it ends is left as it is.
    pub async fn increment_value(&self, key: &str, delta: i64) -> Result<i64, StoreError> {
        sqlx::query_scalar("SELECT pleat_increment($1, $2, $3, $4)")
            .bind(self.tenant.as_uuid())
            .bind(key)
            .bind(delta)
            .bind(share())
            .fetch_one(self.readers())
            .await
            .map_err(refusal)
    }

    /// Keys that begin with `prefix` and come after `above`.
    pub async fn keys(&self, prefix: &str, above: Option<&str>, limit: u32) -> Result<KeyPage, StoreError> {
        let limit = usize::try_from(limit).unwrap_or(usize::MAX);
        let mut keys: Vec<String> = sqlx::query_scalar("SELECT * FROM pleat_keys($1, $2, $3, $4)")
            .bind(self.tenant.as_uuid())
            .bind(prefix)
            .bind(above)
            .bind(i32::try_from(limit.saturating_add(1)).unwrap_or(i32::MAX))
            .fetch_all(self.readers())
            .await?;
        let more = keys.len() > limit;
        keys.truncate(limit);
        Ok(KeyPage { keys, more })
    }

    /// Bytes of the tenant's share that are in use, expired values included until they are swept.
    pub async fn value_bytes(&self) -> Result<i64, StoreError> {
        let mut transaction = self.begin().await?;
        let used = sqlx::query_scalar("SELECT bytes FROM key_value_usage WHERE tenant_id = $1")
            .bind(self.tenant.as_uuid())
            .fetch_optional(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(used.unwrap_or(0))
    }
}

fn share() -> i64 {
    i64::try_from(limits::KEY_VALUE_TENANT).unwrap_or(i64::MAX)
}

/// The states that the functions of the schema raise themselves.
fn refusal(error: sqlx::Error) -> StoreError {
    match error::state(&error).as_deref() {
        Some("53400") => StoreError::ShareUsedUp,
        Some("22P02") => StoreError::NotANumber,
        _ => error.into(),
    }
}

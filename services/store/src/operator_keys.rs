//! Keys of operators. They belong to no tenant; changes of them are put one after the other, so that the last working one
//! cannot be revoked by accident.

use sqlx::{PgConnection, Postgres, Transaction};

use crate::audit::{self, AuditEntry};
use crate::error::StoreError;
use crate::platform::{KeyRecord, KeyRow, NewKey, insert_key};
use crate::store::Store;
use crate::wake::Wake;

/// Of the advisory lock that changes of operator keys take.
const LOCK: i64 = 0x706c_6561_745f_6f70;

impl Store {
    /// All of them, revoked ones too, oldest first.
    pub async fn operator_keys(&self) -> Result<Vec<KeyRecord>, StoreError> {
        let mut transaction = self.begin_operators().await?;
        let rows = sqlx::query_as::<_, KeyRow>(
            "SELECT id, tenant_id, mac, scopes, label, last_four, created_at, created_by, expires_at,
               revoked_at, requests_per_minute, concurrent_tasks, cpu_ms_per_minute, cpu_ms_per_day,
               stored_bytes_per_day
             FROM api_keys WHERE tenant_id IS NULL ORDER BY created_at, id",
        )
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        Ok(rows.into_iter().map(KeyRow::record).collect())
    }

    pub async fn insert_operator_key(&self, key: NewKey, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut transaction = self.begin_operators().await?;
        insert_operator_key(&mut transaction, &key).await?;
        audit::append(&mut transaction, None, entry).await?;
        Ok(transaction.commit().await?)
    }

    /// `false`: no such key, or it was revoked before. Without `force` the last working one stays.
    pub async fn revoke_operator_key(&self, id: &str, force: bool, entry: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_operators().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
        if !force && is_last(&mut transaction, id).await? {
            return Err(StoreError::LastKey { what: "operator key" });
        }
        let revoked = revoke(&mut transaction, id).await?;
        if revoked {
            audit::append(&mut transaction, None, entry).await?;
        }
        transaction.commit().await?;
        if revoked {
            self.announce(Wake::Key(id.to_owned()));
        }
        Ok(revoked)
    }

    /// A new key in the place of another, both at once. `false`: there is no such key, or it was revoked before.
    pub async fn rotate_operator_key(&self, id: &str, new: NewKey, entry: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_operators().await?;
        sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
        if !revoke(&mut transaction, id).await? {
            return Ok(false);
        }
        insert_operator_key(&mut transaction, &new).await?;
        audit::append(&mut transaction, None, entry).await?;
        transaction.commit().await?;
        self.announce(Wake::Key(id.to_owned()));
        Ok(true)
    }

    async fn begin_operators(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        let mut transaction = self.begin_platform(None).await?;
        sqlx::query("SELECT set_config('app.platform', 'on', true)").execute(&mut *transaction).await?;
        Ok(transaction)
    }
}

async fn insert_operator_key(connection: &mut PgConnection, key: &NewKey) -> Result<(), StoreError> {
    sqlx::query("SELECT set_config('app.key', $1, true)").bind(&key.id).execute(&mut *connection).await?;
    insert_key(connection, None, key).await
}

async fn revoke(connection: &mut PgConnection, id: &str) -> Result<bool, StoreError> {
    let done = sqlx::query(
        "UPDATE api_keys SET revoked_at = now()
         WHERE tenant_id IS NULL AND id = $1 AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())",
    )
    .bind(id)
    .execute(connection)
    .await?;
    Ok(done.rows_affected() > 0)
}

/// Whether this key works, and no other does. The caller holds the lock.
async fn is_last(connection: &mut PgConnection, id: &str) -> Result<bool, StoreError> {
    let last = sqlx::query_scalar(
        "SELECT coalesce(bool_or(id = $1), false) AND count(*) = 1 FROM api_keys
         WHERE tenant_id IS NULL AND revoked_at IS NULL AND (expires_at IS NULL OR expires_at > now())",
    )
    .bind(id)
    .fetch_one(connection)
    .await?;
    Ok(last)
}

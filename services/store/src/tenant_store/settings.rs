//! A tenant's settings: plain values that functions read by name.

use pleat_domain::{SettingName, limits};
use sqlx::postgres::{PgArguments, PgRow};
use sqlx::query::Query;
use sqlx::{FromRow, PgConnection, Postgres};
use time::OffsetDateTime;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;

#[derive(Debug, Clone, FromRow)]
pub struct SettingRow {
    pub name: String,
    pub value: String,
    pub updated_at: OffsetDateTime,
    pub updated_by: String,
}

impl TenantStore {
    pub async fn set_setting(&self, name: &SettingName, value: &str, by: &str) -> Result<(), StoreError> {
        let put = sqlx::query(
            "INSERT INTO settings (tenant_id, name, value, updated_by)
             SELECT $2, $3, $4, $5
             WHERE (SELECT count(*) FROM settings WHERE tenant_id = $2 AND name <> $3) < $1
             ON CONFLICT (tenant_id, name) DO UPDATE SET value = excluded.value, updated_at = now(),
                 updated_by = excluded.updated_by",
        );
        self.put(put, |put| put.bind(name.as_str()).bind(value).bind(by)).await
    }

    pub async fn setting(&self, name: &str) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar("SELECT * FROM pleat_setting($1, $2)")
            .bind(self.tenant.as_uuid())
            .bind(name)
            .fetch_optional(self.readers())
            .await?)
    }

    pub async fn list_settings(&self) -> Result<Vec<SettingRow>, StoreError> {
        self.list("SELECT name, value, updated_at, updated_by FROM settings WHERE tenant_id = $1 ORDER BY name").await
    }

    /// `false`: there was none.
    pub async fn delete_setting(&self, name: &SettingName) -> Result<bool, StoreError> {
        self.delete("DELETE FROM settings WHERE tenant_id = $1 AND name = $2", name).await
    }

    /// One more value, or another, of a tenant that may have so many.
    pub(super) async fn put<'q>(
        &self,
        put: Query<'q, Postgres, PgArguments>,
        bind: impl FnOnce(Query<'q, Postgres, PgArguments>) -> Query<'q, Postgres, PgArguments>,
    ) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        self.in_line(&mut transaction).await?;
        let most = i64::try_from(limits::SETTINGS).unwrap_or(i64::MAX);
        let done = bind(put.bind(most).bind(self.tenant.as_uuid())).execute(&mut *transaction).await?;
        if done.rows_affected() > 0 {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        if done.rows_affected() > 0 { Ok(()) } else { Err(StoreError::TooMany { most: limits::SETTINGS }) }
    }

    pub(super) async fn list<T>(&self, statement: &'static str) -> Result<Vec<T>, StoreError>
    where
        T: for<'r> FromRow<'r, PgRow> + Send + Unpin,
    {
        let mut transaction = self.begin().await?;
        let rows = sqlx::query_as(statement).bind(self.tenant.as_uuid()).fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }

    /// `false`: there was none.
    pub(super) async fn delete(&self, statement: &'static str, name: &SettingName) -> Result<bool, StoreError> {
        let mut transaction = self.begin().await?;
        let done =
            sqlx::query(statement).bind(self.tenant.as_uuid()).bind(name.as_str()).execute(&mut *transaction).await?;
        if done.rows_affected() > 0 {
            self.record(&mut transaction).await?;
        }
        transaction.commit().await?;
        Ok(done.rows_affected() > 0)
    }

    /// Puts the tenant's changes one after the other, so that what is counted stays true until it is committed.
    pub(super) async fn in_line(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        sqlx::query("SELECT 1 FROM tenants WHERE id = $1 FOR NO KEY UPDATE")
            .bind(self.tenant.as_uuid())
            .execute(connection)
            .await?;
        Ok(())
    }

    /// For a tenant that was deleted: what its functions were given and what they kept.
    pub async fn forget_belongings(&self) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        for statement in [
            "DELETE FROM secrets WHERE tenant_id = $1",
            "DELETE FROM settings WHERE tenant_id = $1",
            "DELETE FROM jwt_issuers WHERE tenant_id = $1",
            "DELETE FROM key_values WHERE tenant_id = $1",
            "DELETE FROM key_value_usage WHERE tenant_id = $1",
            "DELETE FROM push_configs WHERE tenant_id = $1",
            "DELETE FROM guard_policies WHERE tenant_id = $1",
            // Their versions and sources follow when no task can be on them.
            "UPDATE functions SET deleted_at = now(), updated_at = now() WHERE tenant_id = $1 AND deleted_at IS NULL",
        ] {
            sqlx::query(statement).bind(self.tenant.as_uuid()).execute(&mut *transaction).await?;
        }
        Ok(transaction.commit().await?)
    }
}

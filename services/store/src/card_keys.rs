//! Which keys sign cards. Only their numbers are kept: the keys follow from the master key.

use sqlx::FromRow;
use time::OffsetDateTime;

use crate::audit::{self, AuditEntry};
use crate::error::StoreError;
use crate::store::Store;

/// A key that was not revoked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, FromRow)]
pub struct CardKeyRow {
    pub number: i32,
    pub created_at: OffsetDateTime,
    /// Every node has published it by now, so that whatever it signs can be checked anywhere.
    pub settled: bool,
}

impl Store {
    /// The newest first.
    pub async fn card_keys(&self) -> Result<Vec<CardKeyRow>, StoreError> {
        let rows = sqlx::query_as(
            "SELECT number, created_at, created_at < now() - interval '5 seconds' AS settled
             FROM card_keys WHERE revoked_at IS NULL ORDER BY number DESC",
        );
        Ok(rows.fetch_all(self.readers()).await?)
    }

    /// Of two that ask at once, one makes it, and both have it.
    pub async fn add_card_key(&self, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut transaction = self.begin_platform(None).await?;
        sqlx::query("INSERT INTO card_keys (number) SELECT max(number) + 1 FROM card_keys ON CONFLICT DO NOTHING")
            .execute(&mut *transaction)
            .await?;
        audit::append(&mut transaction, None, entry).await?;
        Ok(transaction.commit().await?)
    }

    /// `false`: there is no such key, or it was revoked before.
    pub async fn revoke_card_key(&self, number: i32, entry: &AuditEntry) -> Result<bool, StoreError> {
        let mut transaction = self.begin_platform(None).await?;
        let done = sqlx::query("UPDATE card_keys SET revoked_at = now() WHERE number = $1 AND revoked_at IS NULL")
            .bind(number)
            .execute(&mut *transaction)
            .await?;
        let revoked = done.rows_affected() > 0;
        if revoked {
            audit::append(&mut transaction, None, entry).await?;
        }
        transaction.commit().await?;
        Ok(revoked)
    }
}

//! The row that tells whether a node has the platform's master key. What is in it only the holder can read.

use crate::error::StoreError;
use crate::store::Store;

impl Store {
    /// Keeps `sealed` if nothing is kept yet; gives back what is kept.
    pub async fn master_key_check(&self, sealed: &[u8]) -> Result<Vec<u8>, StoreError> {
        sqlx::query("INSERT INTO master_key_check (sealed) VALUES ($1) ON CONFLICT DO NOTHING")
            .bind(sealed)
            .execute(self.readers())
            .await?;
        Ok(sqlx::query_scalar("SELECT sealed FROM master_key_check").fetch_one(self.readers()).await?)
    }
}

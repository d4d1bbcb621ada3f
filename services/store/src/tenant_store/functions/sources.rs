//! What was deployed, byte for byte: so that a node that has never seen a version can compile it.

use pleat_domain::VersionHash;
use sqlx::PgConnection;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;

impl TenantStore {
    /// The source of a version; `None` for one that is no longer kept.
    pub async fn source(&self, hash: VersionHash) -> Result<Option<Vec<u8>>, StoreError> {
        let mut transaction = self.begin().await?;
        let found = sqlx::query_scalar("SELECT bytes FROM sources WHERE tenant_id = $1 AND hash = $2")
            .bind(self.tenant.as_uuid())
            .bind(hash.as_bytes().as_slice())
            .fetch_optional(&mut *transaction)
            .await?;
        transaction.commit().await?;
        Ok(found)
    }

    pub(super) async fn keep_source(
        &self,
        connection: &mut PgConnection,
        hash: VersionHash,
        source: &[u8],
    ) -> Result<(), StoreError> {
        // One that is there is held on to: a sweep cannot see yet that it is needed.
        sqlx::query(
            "INSERT INTO sources (tenant_id, hash, bytes) VALUES ($1, $2, $3)
             ON CONFLICT (tenant_id, hash) DO UPDATE SET created_at = now()",
        )
        .bind(self.tenant.as_uuid())
        .bind(hash.as_bytes().as_slice())
        .bind(source)
        .execute(connection)
        .await?;
        Ok(())
    }
}

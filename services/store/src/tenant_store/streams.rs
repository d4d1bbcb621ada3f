//! The streams of a session, at whichever nodes they are, and how far its client was told. Each message is claimed before
//! it is said: of several streams one says it, and none says it twice.

use pleat_domain::SessionId;
use uuid::Uuid;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;
use crate::wake::Wake;

/// Whose a message is to tell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tell {
    /// This stream's. It counts as told from now on.
    Now,
    /// The client was told of it, or of something later.
    Before,
    /// Another stream's, as long as that is there.
    Elsewhere,
}

impl TenantStore {
    /// A new stream of a session; up to which generation of what is deployed its client was told, by whichever stream.
    /// `seen` is up to which the client says that it was. `None`: there is no such session.
    pub async fn open_stream(
        &self,
        session: SessionId,
        stream: Uuid,
        generation: i64,
        seen: Option<i64>,
    ) -> Result<Option<i64>, StoreError> {
        Ok(sqlx::query_scalar("SELECT * FROM pleat_open_stream($1, $2, $3, $4, $5, $6, $7)")
            .bind(self.tenant.as_uuid())
            .bind(session.as_uuid())
            .bind(stream)
            .bind(self.store.node().as_uuid())
            .bind(self.store.own_lease().living())
            .bind(generation)
            .bind(seen)
            .fetch_optional(self.readers())
            .await?)
    }

    /// The others may have something to tell in its place.
    pub async fn close_stream(&self, session: SessionId, stream: Uuid) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM mcp_streams WHERE tenant_id = $1 AND session_id = $2 AND id = $3")
            .bind(self.tenant.as_uuid())
            .bind(session.as_uuid())
            .bind(stream)
            .execute(&mut *transaction)
            .await?;
        transaction.commit().await?;
        self.store.announce(Wake::Session(session));
        Ok(())
    }

    /// `mark` counts what there is to be told about a subject: the generation of what is deployed, for which the subject
    /// is empty, or the changes of a task.
    pub async fn tell(&self, session: SessionId, stream: Uuid, subject: &str, mark: i64) -> Result<Tell, StoreError> {
        let told: i32 = sqlx::query_scalar("SELECT pleat_tell($1, $2, $3, $4, $5, $6, $7)")
            .bind(self.tenant.as_uuid())
            .bind(session.as_uuid())
            .bind(stream)
            .bind(subject)
            .bind(mark)
            .bind(self.store.own_lease().living())
            .bind(self.store.own_lease().seconds())
            .fetch_one(self.readers())
            .await?;
        Ok(match told {
            1 => Tell::Now,
            0 => Tell::Before,
            _ => Tell::Elsewhere,
        })
    }
}

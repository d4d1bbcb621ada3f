//! What a caller's client has answered to a task that waits for it. The first answer to a request counts.

use pleat_domain::{Raw, TaskId};
use sqlx::types::Json;

use crate::error::StoreError;
use crate::tenant_store::TenantStore;

impl TenantStore {
    /// Keeps the answers and gives all that there are for this turn.
    pub async fn keep_replies(
        &self,
        task: TaskId,
        turn: i16,
        replies: &[(String, Raw)],
    ) -> Result<Vec<(String, Raw)>, StoreError> {
        let keys: Vec<&str> = replies.iter().map(|(key, _)| key.as_str()).collect();
        let bodies: Vec<&str> = replies.iter().map(|(_, body)| body.get()).collect();
        let mut transaction = self.begin().await?;
        sqlx::query(
            "INSERT INTO client_replies (tenant_id, task_id, turn, key, body)
             SELECT $1, $2, $3, key, body::json FROM UNNEST($4::text[], $5::text[]) AS given (key, body)
             ON CONFLICT DO NOTHING",
        )
        .bind(self.tenant.as_uuid())
        .bind(task.as_uuid())
        .bind(turn)
        .bind(keys)
        .bind(bodies)
        .execute(&mut *transaction)
        .await?;
        let all = sqlx::query_as::<_, (String, Json<Raw>)>(
            "SELECT key, body FROM client_replies WHERE tenant_id = $1 AND task_id = $2 AND turn = $3 ORDER BY key",
        )
        .bind(self.tenant.as_uuid())
        .bind(task.as_uuid())
        .bind(turn)
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        if !replies.is_empty() {
            self.store.bell().changed(std::iter::once(task));
        }
        Ok(all.into_iter().map(|(key, body)| (key, body.0)).collect())
    }

    /// As if nothing had been answered to this turn.
    pub async fn drop_replies(&self, task: TaskId, turn: i16) -> Result<(), StoreError> {
        let mut transaction = self.begin().await?;
        sqlx::query("DELETE FROM client_replies WHERE tenant_id = $1 AND task_id = $2 AND turn = $3")
            .bind(self.tenant.as_uuid())
            .bind(task.as_uuid())
            .bind(turn)
            .execute(&mut *transaction)
            .await?;
        Ok(transaction.commit().await?)
    }
}

//! The audit log: appended together with the change that a row is about, read by tenants and by operators.

use std::net::IpAddr;
use std::sync::Arc;

use pleat_domain::{AuditAction, Raw, TenantId};
use serde_json::Value;
use sqlx::types::Json;
use sqlx::{FromRow, PgConnection, Postgres, QueryBuilder};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;
use crate::tenant_store::TenantStore;

/// A row to be appended. Texts are bounded by whoever makes it.
#[derive(Debug, Clone)]
pub struct AuditEntry {
    /// `key`, `token`, `operator`, `local` or `system`.
    pub actor_kind: &'static str,
    /// Id of a key, issuer and subject of a token, or the command's name.
    pub actor: String,
    pub actor_label: String,
    pub action: AuditAction,
    pub target: String,
    /// Never the value of a secret.
    pub details: Option<Value>,
    pub denied: bool,
    pub client: Option<Arc<AuditClient>>,
}

/// Where a request came from.
#[derive(Debug, Clone, Default)]
pub struct AuditClient {
    pub address: Option<IpAddr>,
    pub request_id: Option<String>,
    pub user_agent: Option<String>,
}

/// A row as it is read.
#[derive(Debug, Clone, FromRow)]
pub struct AuditRow {
    pub id: Uuid,
    pub at: OffsetDateTime,
    pub tenant: Option<String>,
    pub actor_kind: String,
    pub actor: String,
    pub actor_label: String,
    pub action: String,
    pub target_kind: String,
    pub target: String,
    pub details: Option<Json<Raw>>,
    pub outcome: String,
    pub client_address: Option<String>,
    pub request_id: Option<String>,
    pub user_agent: Option<String>,
}

/// Which rows to list.
#[derive(Debug, Clone, Default)]
pub struct AuditFilter {
    pub action: Option<String>,
    pub actor: Option<String>,
    pub target: Option<String>,
    pub since: Option<OffsetDateTime>,
    pub until: Option<OffsetDateTime>,
    /// Rows before this one.
    pub before: Option<(OffsetDateTime, Uuid)>,
    pub limit: u32,
}

/// Whose rows an operator asks for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum AuditOf {
    #[default]
    Everybody,
    /// Rows that belong to no tenant.
    Platform,
    Tenant(TenantId),
}

const SELECT: &str = "SELECT id, at, tenant, actor_kind, actor, actor_label, action, target_kind, target, details, \
     outcome, client_address, request_id, user_agent FROM audit_log WHERE ";

impl TenantStore {
    /// The same handle; what it changes is recorded in the audit log, in the transaction of the change.
    pub fn audited(mut self, entry: AuditEntry) -> Self {
        self.audit = Some(Arc::new(entry));
        self
    }

    /// Appends the row of an audited handle.
    pub(crate) async fn record(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        match &self.audit {
            Some(entry) => append(connection, Some(self.id()), entry).await,
            None => Ok(()),
        }
    }

    /// The same with details that were read in the transaction, and perhaps as another action.
    pub(crate) async fn record_as(
        &self,
        connection: &mut PgConnection,
        action: Option<AuditAction>,
        details: Value,
    ) -> Result<(), StoreError> {
        let Some(entry) = &self.audit else { return Ok(()) };
        let entry = AuditEntry { details: Some(details), ..AuditEntry::clone(entry) };
        let entry = AuditEntry { action: action.unwrap_or(entry.action), ..entry };
        append(connection, Some(self.id()), &entry).await
    }

    /// The tenant's own rows, the latest first.
    pub async fn audit_log(&self, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new(SELECT);
        query.push("tenant_id = ").push_bind(self.id().as_uuid());
        narrow(&mut query, filter);
        let mut transaction = self.begin().await?;
        let rows = query.build_query_as().fetch_all(&mut *transaction).await?;
        transaction.commit().await?;
        Ok(rows)
    }
}

impl Store {
    /// Rows of all tenants and of the platform, the latest first.
    pub async fn audit_log(&self, of: AuditOf, filter: &AuditFilter) -> Result<Vec<AuditRow>, StoreError> {
        let mut query = QueryBuilder::<Postgres>::new(SELECT);
        match of {
            AuditOf::Everybody => query.push("true"),
            AuditOf::Platform => query.push("tenant_id IS NULL"),
            AuditOf::Tenant(tenant) => query.push("tenant_id = ").push_bind(tenant.as_uuid()),
        };
        narrow(&mut query, filter);
        Ok(query.build_query_as().fetch_all(self.keepers()).await?)
    }

    /// Appends a row on its own: a denied attempt, or a change that is no transaction of this store.
    pub async fn append_audit(&self, tenant: Option<TenantId>, entry: &AuditEntry) -> Result<(), StoreError> {
        let mut transaction = self.begin_platform(tenant).await?;
        append(&mut transaction, tenant, entry).await?;
        Ok(transaction.commit().await?)
    }

    /// A transaction about the platform, or about a tenant as the platform has it.
    pub(crate) async fn begin_platform(
        &self,
        tenant: Option<TenantId>,
    ) -> Result<sqlx::Transaction<'static, Postgres>, StoreError> {
        match tenant {
            Some(tenant) => self.tenant(tenant).begin().await,
            None => Ok(self.readers().begin().await?),
        }
    }
}

fn narrow(query: &mut QueryBuilder<Postgres>, filter: &AuditFilter) {
    let words = [("action", &filter.action), ("actor", &filter.actor), ("target", &filter.target)];
    for (column, word) in words {
        if let Some(word) = word {
            query.push(" AND ").push(column).push(" = ").push_bind(word.clone());
        }
    }
    if let Some(since) = filter.since {
        query.push(" AND at >= ").push_bind(since);
    }
    if let Some(until) = filter.until {
        query.push(" AND at < ").push_bind(until);
    }
    if let Some((at, id)) = filter.before {
        query.push(" AND (at, id) < (").push_bind(at).push(", ").push_bind(id).push(")");
    }
    query.push(" ORDER BY at DESC, id DESC LIMIT ").push_bind(i64::from(filter.limit));
}

/// The transaction has named the tenant, if there is one.
pub(crate) async fn append(
    connection: &mut PgConnection,
    tenant: Option<TenantId>,
    entry: &AuditEntry,
) -> Result<(), StoreError> {
    let client = entry.client.as_deref();
    sqlx::query(
        "INSERT INTO audit_log (id, tenant_id, tenant, actor_kind, actor, actor_label, action, target_kind, target,
           details, outcome, client_address, request_id, user_agent)
         VALUES ($1, $2, (SELECT slug FROM tenants WHERE id = $2), $3, $4, $5, $6, $7, $8, $9::text::json, $10, $11,
           $12, $13)",
    )
    .bind(Uuid::now_v7())
    .bind(tenant.map(|tenant| tenant.as_uuid()))
    .bind(entry.actor_kind)
    .bind(&entry.actor)
    .bind(&entry.actor_label)
    .bind(entry.action.as_str())
    .bind(entry.action.target_kind())
    .bind(&entry.target)
    .bind(entry.details.as_ref().map(Value::to_string))
    .bind(if entry.denied { "denied" } else { "done" })
    .bind(client.and_then(|client| client.address).map(|address| address.to_string()))
    .bind(client.and_then(|client| client.request_id.as_deref()))
    .bind(client.and_then(|client| client.user_agent.as_deref()))
    .execute(connection)
    .await?;
    Ok(())
}

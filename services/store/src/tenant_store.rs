//! The tenant-scoped handle: every query about a tenant starts here.
//!
//! A `TenantId` comes only from a row, so holding a handle means that the tenant exists. The transaction names the
//! tenant to the database, whose row security then hides all others.

pub(crate) mod dispatches;
pub mod functions;
pub(crate) mod guards;
pub mod issuers;
pub mod key_values;
mod keys;
pub mod listing;
pub mod logs;
pub mod pipelines;
pub mod pushes;
mod replies;
pub mod secrets;
pub mod sessions;
pub mod settings;
pub mod streams;
pub mod tasks;
mod trace;

use std::sync::Arc;

use pleat_domain::TenantId;
use sqlx::{PgPool, Postgres, Transaction};
use uuid::Uuid;

use crate::audit::AuditEntry;
use crate::error::StoreError;
use crate::partitions;
use crate::store::Store;

/// One tenant's view of the store. Cheap to make and to clone.
#[derive(Clone)]
pub struct TenantStore {
    store: Store,
    tenant: TenantId,
    /// What to append to the audit log with a change.
    pub(crate) audit: Option<Arc<AuditEntry>>,
}

impl TenantStore {
    pub(crate) const fn new(store: Store, tenant: TenantId) -> Self {
        Self { store, tenant, audit: None }
    }

    pub const fn id(&self) -> TenantId {
        self.tenant
    }

    fn readers(&self) -> &PgPool {
        self.store.readers()
    }

    /// A transaction that sees this tenant only.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Postgres>, StoreError> {
        let mut transaction = self.readers().begin().await?;
        sqlx::query("SELECT set_config('app.tenant', $1, true)")
            .bind(self.tenant.as_uuid().to_string())
            .execute(&mut *transaction)
            .await?;
        Ok(transaction)
    }

    /// The smallest task id that still exists. Partitions go by the hour; this makes retention exact.
    fn oldest(&self) -> Uuid {
        partitions::bound(time::OffsetDateTime::now_utc() - self.store.retention())
    }
}

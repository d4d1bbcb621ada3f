//! Brings the schema up to date at start. Forward only, one node at a time (sqlx takes an advisory lock).

use std::sync::Arc;

use sqlx::PgConnection;
use sqlx::migrate::{MigrateError, Migrator};

use crate::error::StoreError;

static MIGRATIONS: Migrator = sqlx::migrate!("../../migrations");

pub(crate) async fn run(connection: &mut PgConnection) -> Result<(), StoreError> {
    MIGRATIONS.run(connection).await.map_err(|error| match error {
        MigrateError::VersionMissing(version) => StoreError::SchemaTooNew { version },
        MigrateError::Execute(error) => StoreError::from(error),
        other => StoreError::Migration(Arc::new(other)),
    })
}

/// The last migration there is.
pub(crate) fn newest() -> i64 {
    MIGRATIONS.iter().map(|migration| migration.version).max().unwrap_or_default()
}

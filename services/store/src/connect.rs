//! Connections and the role each works as. Only [`owner`] keeps the login's own role, for the schema and partitions.

use std::str::FromStr;
use std::sync::Arc;
use std::time::Duration;

use sqlx::postgres::{PgConnectOptions, PgPoolOptions};
use sqlx::{Connection, PgConnection, PgPool};

use crate::error::StoreError;

/// Every wait has an end: a pool that is used up answers as unreachable after this.
const ACQUIRE: Duration = Duration::from_secs(10);
const CONNECT: Duration = Duration::from_secs(10);
/// A connection used within this time is taken as it is: asking first whether it lives would double the round trips.
const FRESH: Duration = Duration::from_millis(20);

/// What a connection may do.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Role {
    /// Sees one tenant at a time, the one that its transaction names.
    App,
    /// Writes tasks of all tenants, and sees nothing else.
    Writer,
}

impl Role {
    const fn session(self) -> &'static str {
        match self {
            Self::App => "SET ROLE pleat_app; SET statement_timeout = '15s'",
            // A task's output is held several times over while it is written; beyond this, in files.
            Self::Writer => "SET ROLE pleat_writer; SET statement_timeout = '30s'; SET work_mem = '64MB'",
        }
    }
}

/// Just-in-time compilation never pays for queries this short, and would be chosen for plans over many partitions. Large
/// values are compressed by the quicker of the two ways, in servers that were built with it: with the other one, a flood of
/// them is felt by everybody who shares the machine.
const ALWAYS: &str = "\
SET jit = off; \
SELECT set_config('default_toast_compression', 'lz4', false) FROM pg_settings \
WHERE name = 'default_toast_compression' AND 'lz4' = ANY (enumvals)";

async fn begin(connection: &mut PgConnection, role: Role) -> Result<(), sqlx::Error> {
    sqlx::raw_sql(role.session()).execute(&mut *connection).await?;
    sqlx::raw_sql(ALWAYS).execute(connection).await.map(drop)
}

pub(crate) fn options(url: &str) -> Result<PgConnectOptions, StoreError> {
    let bad = |error| StoreError::BadUrl(Arc::new(error));
    // sqlx would take any scheme and look for a host of that name.
    if !["postgres://", "postgresql://"].iter().any(|scheme| url.starts_with(scheme)) {
        return Err(bad(sqlx::Error::Configuration("the scheme is not `postgres`".into())));
    }
    Ok(PgConnectOptions::from_str(url).map_err(bad)?.application_name("pleat"))
}

pub(crate) async fn pool(options: &PgConnectOptions, role: Role, size: u32) -> Result<PgPool, StoreError> {
    let pool = PgPoolOptions::new()
        .max_connections(size)
        .acquire_timeout(ACQUIRE)
        .test_before_acquire(false)
        .before_acquire(|connection, state| {
            Box::pin(async move {
                if state.idle_for > FRESH {
                    connection.ping().await?;
                }
                Ok(true)
            })
        })
        .after_release(|connection, _| {
            // A source or an artefact may have passed: what has grown for it would be kept for as long as the connection.
            connection.shrink_buffers();
            Box::pin(async { Ok(true) })
        })
        .after_connect(move |connection, _| Box::pin(begin(connection, role)))
        .connect_with(options.clone())
        .await?;
    Ok(pool)
}

/// One connection outside the pools, for a writer.
pub(crate) async fn single(options: &PgConnectOptions, role: Role) -> Result<PgConnection, StoreError> {
    let mut connection = connect(options).await?;
    begin(&mut connection, role).await?;
    Ok(connection)
}

/// A connection that owns the schema. Opened when needed, closed after.
pub(crate) async fn owner(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    connect(options).await
}

async fn connect(options: &PgConnectOptions) -> Result<PgConnection, StoreError> {
    match tokio::time::timeout(CONNECT, PgConnection::connect_with(options)).await {
        Ok(outcome) => Ok(outcome?),
        Err(_) => Err(StoreError::from(sqlx::Error::PoolTimedOut)),
    }
}

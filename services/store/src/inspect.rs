//! A look at a database from outside, for `pleat doctor` and before a start: nothing is changed, nothing has to be there.

use std::time::Duration;

use sqlx::{Connection, FromRow, PgConnection};
use time::OffsetDateTime;

use crate::connect;
use crate::error::StoreError;
use crate::migrate;

/// What was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Inspection {
    /// `17.2`, and as a number 170002.
    pub version: String,
    pub version_number: i32,
    /// The login may make tables.
    pub makes_tables: bool,
    /// The login may make the two roles, or is a member of both.
    pub has_roles: bool,
    /// The last migration that was run; `None` in a database that is not set up yet.
    pub schema: Option<i64>,
    /// The last migration that this program knows.
    pub newest: i64,
    /// What only the holder of the platform's master key can read; `None` before the first start.
    pub master_key_check: Option<Vec<u8>>,
    /// How far this machine's clock is from the database's, without a sign.
    pub clock_skew: Duration,
}

#[derive(FromRow)]
struct Facts {
    version: String,
    version_number: i32,
    makes_tables: bool,
    has_roles: bool,
    is_set_up: bool,
    has_master_key: bool,
    clock: OffsetDateTime,
}

pub async fn inspect(url: &str) -> Result<Inspection, StoreError> {
    let mut connection = connect::owner(&connect::options(url)?).await?;
    let before = OffsetDateTime::now_utc();
    let facts: Facts = sqlx::query_as(
        "SELECT split_part(current_setting('server_version'), ' ', 1) AS version,
                current_setting('server_version_num')::int AS version_number,
                has_schema_privilege('public', 'CREATE') AS makes_tables,
                (SELECT rolsuper OR rolcreaterole FROM pg_roles WHERE rolname = current_user)
                    OR (SELECT count(*) = 2 FROM pg_roles WHERE rolname IN ('pleat_app', 'pleat_writer')
                            AND pg_has_role(current_user, oid, 'MEMBER')) AS has_roles,
                to_regclass('_sqlx_migrations') IS NOT NULL AS is_set_up,
                to_regclass('master_key_check') IS NOT NULL AS has_master_key,
                clock_timestamp() AS clock",
    )
    .fetch_one(&mut connection)
    .await?;
    // Half the round trip is the best guess at when the database looked at its clock.
    let asked = before + (OffsetDateTime::now_utc() - before) / 2;
    let skew: time::Duration = facts.clock - asked;
    let schema: Option<i64> = if facts.is_set_up {
        sqlx::query_scalar("SELECT max(version) FROM _sqlx_migrations WHERE success").fetch_one(&mut connection).await?
    } else {
        None
    };
    let master_key_check = if facts.has_master_key { kept(&mut connection).await? } else { None };
    // The answers are in; a lost goodbye changes nothing.
    let _ = connection.close().await;
    Ok(Inspection {
        version: facts.version,
        version_number: facts.version_number,
        makes_tables: facts.makes_tables,
        has_roles: facts.has_roles,
        schema,
        newest: migrate::newest(),
        master_key_check,
        clock_skew: skew.unsigned_abs(),
    })
}

/// What only the holder of the platform's master key can read; `None` before the first start. For a node that starts: one
/// with another key must not even bring the schema up to date.
pub async fn master_key_check(url: &str) -> Result<Option<Vec<u8>>, StoreError> {
    let mut connection = connect::owner(&connect::options(url)?).await?;
    let is_there: bool =
        sqlx::query_scalar("SELECT to_regclass('master_key_check') IS NOT NULL").fetch_one(&mut connection).await?;
    let sealed = if is_there { kept(&mut connection).await? } else { None };
    let _ = connection.close().await;
    Ok(sealed)
}

async fn kept(connection: &mut PgConnection) -> Result<Option<Vec<u8>>, StoreError> {
    Ok(sqlx::query_scalar("SELECT sealed FROM master_key_check").fetch_optional(connection).await?)
}

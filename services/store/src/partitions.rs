//! Partitions of one hour, bounded by the ids of that hour. Made ahead, dropped when all in them is past retention.
//!
//! Works on the schema, so it needs the owner's connection. A partition's name says its hour; that is all the
//! bookkeeping there is.

use sqlx::postgres::PgConnectOptions;
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use time::{Date, Duration, Month, OffsetDateTime, Time};
use uuid::Uuid;

use crate::connect;
use crate::error::StoreError;

const TABLES: [&str; 4] = ["tasks", "task_events", "task_logs", "push_deliveries"];
const BACK: i64 = 1;
const AHEAD: i64 = 3;
/// The advisory lock under which partitions are made and dropped; any number of ours will do.
const LOCK: i64 = 0x706c_6561_7401;

/// The smallest UUIDv7 of a moment.
pub(crate) fn bound(at: OffsetDateTime) -> Uuid {
    let milliseconds = u128::try_from(at.unix_timestamp_nanos() / 1_000_000).unwrap_or(0);
    Uuid::from_u128(milliseconds << 80)
}

/// Makes the partitions around `now` that are missing; answers how many.
pub(crate) async fn ensure(options: &PgConnectOptions, now: OffsetDateTime) -> Result<usize, StoreError> {
    let mut connection = connect::owner(options).await?;
    let made = make_missing(&mut connection, now).await?;
    connection.close().await?;
    Ok(made)
}

/// Drops the partitions that end before `limit`, except those that `ensure` would make again; answers how many.
/// Another node's doing so at the same time is enough.
pub(crate) async fn drop_before(
    options: &PgConnectOptions,
    now: OffsetDateTime,
    limit: OffsetDateTime,
) -> Result<usize, StoreError> {
    let mut connection = connect::owner(options).await?;
    // Detaching waits for transactions that use the partition, but must not queue everybody else behind it.
    sqlx::raw_sql("SET lock_timeout = '5s'; SET statement_timeout = '120s'").execute(&mut connection).await?;
    let free: bool =
        sqlx::query_scalar("SELECT pg_try_advisory_lock($1)").bind(LOCK).fetch_one(&mut connection).await?;
    let mut dropped = 0;
    if free {
        for partition in existing(&mut connection).await? {
            if partition.hour.ends() <= limit && partition.hour.0 < Hour::of(now).0 - BACK {
                partition.remove(&mut connection).await?;
                dropped += 1;
            }
        }
    }
    connection.close().await?;
    Ok(dropped)
}

async fn make_missing(connection: &mut PgConnection, now: OffsetDateTime) -> Result<usize, StoreError> {
    if missing(connection, now).await?.is_empty() {
        return Ok(0);
    }
    let mut transaction = connection.begin().await?;
    sqlx::query("SELECT pg_advisory_xact_lock($1)").bind(LOCK).execute(&mut *transaction).await?;
    let missing = missing(&mut transaction, now).await?;
    for (table, hour) in &missing {
        // Attaching takes a weaker lock on the table than creating the partition in place would.
        let name = hour.name(table);
        let (from, to) = (bound(hour.begins()), bound(hour.ends()));
        let statement = format!(
            "CREATE TABLE {name} (LIKE {table} INCLUDING DEFAULTS);
             ALTER TABLE {table} ATTACH PARTITION {name} FOR VALUES FROM ('{from}') TO ('{to}')"
        );
        sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *transaction).await?;
    }
    transaction.commit().await?;
    Ok(missing.len())
}

async fn missing(connection: &mut PgConnection, now: OffsetDateTime) -> Result<Vec<(&'static str, Hour)>, StoreError> {
    let existing = existing(connection).await?;
    let here = Hour::of(now).0;
    let wanted = (here - BACK..=here + AHEAD).flat_map(|hour| TABLES.map(|table| (table, Hour(hour))));
    let exists = |table: &str, hour: Hour| existing.iter().any(|found| found.table == table && found.hour == hour);
    Ok(wanted.filter(|(table, hour)| !exists(table, *hour)).collect())
}

async fn existing(connection: &mut PgConnection) -> Result<Vec<Partition>, StoreError> {
    let rows: Vec<(String, Option<bool>)> = sqlx::query_as(
        "SELECT c.relname::text, i.inhdetachpending
         FROM pg_class c LEFT JOIN pg_inherits i ON i.inhrelid = c.oid
         WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind = 'r'
           AND c.relname ~ '^(tasks|task_events|task_logs|push_deliveries)_p[0-9]{10}$'
         ORDER BY c.relname",
    )
    .fetch_all(connection)
    .await?;
    Ok(rows.into_iter().filter_map(|(name, pending)| Partition::from_row(&name, pending)).collect())
}

struct Partition {
    table: &'static str,
    hour: Hour,
    attached: Attached,
}

enum Attached {
    Yes,
    /// Detaching began and was interrupted.
    HalfDetached,
    /// Detached, but the program ended before it was dropped.
    No,
}

impl Partition {
    fn from_row(name: &str, pending: Option<bool>) -> Option<Self> {
        let (table, digits) = name.rsplit_once("_p")?;
        let table = TABLES.into_iter().find(|known| *known == table)?;
        let attached = match pending {
            Some(false) => Attached::Yes,
            Some(true) => Attached::HalfDetached,
            None => Attached::No,
        };
        Some(Self { table, hour: Hour::parse(digits)?, attached })
    }

    async fn remove(&self, connection: &mut PgConnection) -> Result<(), StoreError> {
        let (table, name) = (self.table, self.hour.name(self.table));
        let detach = match self.attached {
            Attached::Yes => Some(format!("ALTER TABLE {table} DETACH PARTITION {name} CONCURRENTLY")),
            Attached::HalfDetached => Some(format!("ALTER TABLE {table} DETACH PARTITION {name} FINALIZE")),
            Attached::No => None,
        };
        for statement in detach.into_iter().chain([format!("DROP TABLE {name}")]) {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection).await?;
        }
        Ok(())
    }
}

/// Hours since 1970, in UTC.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Hour(i64);

impl Hour {
    const fn of(at: OffsetDateTime) -> Self {
        Self(at.unix_timestamp().div_euclid(3600))
    }

    fn begins(self) -> OffsetDateTime {
        OffsetDateTime::UNIX_EPOCH + Duration::hours(self.0)
    }

    fn ends(self) -> OffsetDateTime {
        self.begins() + Duration::HOUR
    }

    fn name(self, table: &str) -> String {
        let at = self.begins();
        format!("{table}_p{:04}{:02}{:02}{:02}", at.year(), u8::from(at.month()), at.day(), at.hour())
    }

    fn parse(digits: &str) -> Option<Self> {
        let number = |range: std::ops::Range<usize>| digits.get(range)?.parse::<u8>().ok();
        let year = digits.get(..4)?.parse().ok()?;
        let month = Month::try_from(number(4..6)?).ok()?;
        let date = Date::from_calendar_date(year, month, number(6..8)?).ok()?;
        let at = date.with_time(Time::from_hms(number(8..10)?, 0, 0).ok()?).assume_utc();
        Some(Self::of(at))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn a_partition_is_named_after_its_hour() {
        let hour = Hour::of(datetime!(2026-11-16 02:59:59 UTC));
        assert_eq!(hour.name("task_events"), "task_events_p2026111602");
        assert_eq!(Hour::parse("2026111602"), Some(hour));
        assert_eq!(Hour::parse("2026131602"), None);
    }

    #[test]
    fn an_id_lies_within_the_bounds_of_its_millisecond() {
        let id = pleat_domain::TaskId::new();
        let at = id.created_at().unwrap();
        assert!(bound(at) <= id.as_uuid() && id.as_uuid() < bound(at + Duration::MILLISECOND));
    }
}

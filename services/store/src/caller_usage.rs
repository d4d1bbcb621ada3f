//! What callers with limits by the day have used: added up by nodes, and read by nodes alone.

use pleat_domain::{Caller, CallerUsage, TenantId};
use sqlx::FromRow;
use time::Date;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;

/// How long it is kept: a day that is over is looked at by nobody, but nodes may disagree about the hour.
pub(crate) const KEPT_DAYS: i32 = 2;

/// What one caller of one tenant has used on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallerUsageRow {
    pub tenant: TenantId,
    pub day: Date,
    pub caller: Caller,
    pub usage: CallerUsage,
}

impl Store {
    /// Adds to what is there, all of it or nothing, and gives the sums, other nodes' counts included.
    pub async fn add_caller_usage(&self, mut rows: Vec<CallerUsageRow>) -> Result<Vec<CallerUsageRow>, StoreError> {
        // In one order on all nodes, so that two of them never wait for each other.
        rows.sort_by(|one, other| {
            (one.tenant, one.day, one.caller.as_str()).cmp(&(other.tenant, other.day, other.caller.as_str()))
        });
        let column = |of: fn(&CallerUsage) -> u64| -> Vec<i64> {
            rows.iter().map(|row| i64::try_from(of(&row.usage)).unwrap_or(i64::MAX)).collect()
        };
        let sums = sqlx::query_as::<_, Sum>(
            "INSERT INTO caller_usage AS u (tenant_id, day, caller, cpu_us, stored_bytes)
             SELECT * FROM unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::bigint[])
             ON CONFLICT (tenant_id, day, caller) DO UPDATE SET
               cpu_us = u.cpu_us + excluded.cpu_us, stored_bytes = u.stored_bytes + excluded.stored_bytes
             RETURNING u.tenant_id, u.day, u.caller, u.cpu_us, u.stored_bytes",
        )
        .bind(rows.iter().map(|row| row.tenant.as_uuid()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.day).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.caller.as_str()).collect::<Vec<_>>())
        .bind(column(|usage| usage.cpu_us))
        .bind(column(|usage| usage.stored_bytes))
        .fetch_all(self.keepers())
        .await?;
        Ok(sums.into_iter().map(Sum::row).collect())
    }
}

#[derive(FromRow)]
struct Sum {
    tenant_id: Uuid,
    day: Date,
    caller: String,
    cpu_us: i64,
    stored_bytes: i64,
}

impl Sum {
    fn row(self) -> CallerUsageRow {
        CallerUsageRow {
            tenant: TenantId::from_row(self.tenant_id),
            day: self.day,
            caller: Caller::from_stored(self.caller),
            usage: CallerUsage { cpu_us: self.cpu_us.unsigned_abs(), stored_bytes: self.stored_bytes.unsigned_abs() },
        }
    }
}

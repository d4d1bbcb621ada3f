//! Usage: added up by nodes, read by tenants and by the operator.

use std::collections::HashMap;

use pleat_domain::{SkillName, TenantId, Usage};
use sqlx::FromRow;
use time::Date;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;
use crate::tenant_store::TenantStore;

/// What was used of one skill of one tenant on one day.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UsageRow {
    pub tenant: TenantId,
    pub day: Date,
    pub skill: SkillName,
    pub usage: Usage,
}

/// How long usage is kept.
pub(crate) const KEPT_DAYS: i32 = 400;

/// Sums are numeric; as bigint they cannot overflow in any time that matters.
const SUMS: &str = "sum(calls)::bigint AS calls, sum(failures)::bigint AS failures, sum(cpu_us)::bigint AS cpu_us, \
     sum(wall_us)::bigint AS wall_us, sum(input_bytes)::bigint AS input_bytes, \
     sum(output_bytes)::bigint AS output_bytes, sum(upload_bytes)::bigint AS upload_bytes";

impl Store {
    /// Adds to what is there, all of it or nothing.
    pub async fn add_usage(&self, mut rows: Vec<UsageRow>) -> Result<(), StoreError> {
        // In one order on all nodes, so that two of them never wait for each other.
        rows.sort_by(|one, other| (one.tenant, one.day, &one.skill).cmp(&(other.tenant, other.day, &other.skill)));
        let column = |of: fn(&Usage) -> u64| -> Vec<i64> {
            rows.iter().map(|row| i64::try_from(of(&row.usage)).unwrap_or(i64::MAX)).collect()
        };
        sqlx::query(
            "INSERT INTO usage AS u
               (tenant_id, day, skill, calls, failures, cpu_us, wall_us, input_bytes, output_bytes, upload_bytes)
             SELECT * FROM unnest($1::uuid[], $2::date[], $3::text[], $4::bigint[], $5::bigint[], $6::bigint[],
               $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
             ON CONFLICT (tenant_id, day, skill) DO UPDATE SET
               calls = u.calls + excluded.calls, failures = u.failures + excluded.failures,
               cpu_us = u.cpu_us + excluded.cpu_us, wall_us = u.wall_us + excluded.wall_us,
               input_bytes = u.input_bytes + excluded.input_bytes,
               output_bytes = u.output_bytes + excluded.output_bytes,
               upload_bytes = u.upload_bytes + excluded.upload_bytes",
        )
        .bind(rows.iter().map(|row| row.tenant.as_uuid()).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.day).collect::<Vec<_>>())
        .bind(rows.iter().map(|row| row.skill.as_str()).collect::<Vec<_>>())
        .bind(column(|usage| usage.calls))
        .bind(column(|usage| usage.failures))
        .bind(column(|usage| usage.cpu_us))
        .bind(column(|usage| usage.wall_us))
        .bind(column(|usage| usage.input_bytes))
        .bind(column(|usage| usage.output_bytes))
        .bind(column(|usage| usage.upload_bytes))
        .execute(self.keepers())
        .await?;
        Ok(())
    }

    /// The sum of each tenant's skills from one day to another, both included; of these tenants, or of all.
    pub async fn usage_by_tenant(
        &self,
        from: Date,
        to: Date,
        tenants: Option<Vec<TenantId>>,
    ) -> Result<HashMap<TenantId, Usage>, StoreError> {
        let tenants = tenants.map(|all| all.iter().map(TenantId::as_uuid).collect::<Vec<_>>());
        let statement = format!(
            "SELECT tenant_id, {SUMS} FROM usage
             WHERE day BETWEEN $1 AND $2 AND ($3::uuid[] IS NULL OR tenant_id = ANY ($3))
             GROUP BY tenant_id"
        );
        let rows = sqlx::query_as::<_, TenantSum>(sqlx::AssertSqlSafe(statement))
            .bind(from)
            .bind(to)
            .bind(tenants)
            .fetch_all(self.keepers())
            .await?;
        Ok(rows.into_iter().map(|row| (TenantId::from_row(row.tenant_id), row.counts.usage())).collect())
    }

    /// How many nodes have proved lately that they live; this one is among them.
    pub async fn live_nodes(&self) -> Result<u32, StoreError> {
        let count: i64 = sqlx::query_scalar("SELECT count(*) FROM nodes WHERE beat_at > now() - interval '10 seconds'")
            .fetch_one(self.keepers())
            .await?;
        Ok(u32::try_from(count).unwrap_or(u32::MAX).max(1))
    }
}

impl TenantStore {
    /// By day and skill, from one day to another, both included; the latest day first.
    pub async fn usage(
        &self,
        from: Date,
        to: Date,
        skill: Option<&SkillName>,
    ) -> Result<Vec<(Date, SkillName, Usage)>, StoreError> {
        let mut transaction = self.begin().await?;
        let rows = sqlx::query_as::<_, SkillRow>(
            "SELECT day, skill, calls, failures, cpu_us, wall_us, input_bytes, output_bytes, upload_bytes
             FROM usage
             WHERE tenant_id = $1 AND day BETWEEN $2 AND $3 AND ($4::text IS NULL OR skill = $4)
             ORDER BY day DESC, skill",
        )
        .bind(self.id().as_uuid())
        .bind(from)
        .bind(to)
        .bind(skill.map(SkillName::as_str))
        .fetch_all(&mut *transaction)
        .await?;
        transaction.commit().await?;
        let read = |row: SkillRow| {
            let skill = SkillName::parse_counted(&row.skill).map_err(|_| StoreError::Corrupt { what: "skill name" })?;
            Ok((row.day, skill, row.counts.usage()))
        };
        rows.into_iter().map(read).collect()
    }
}

#[derive(FromRow)]
struct SkillRow {
    day: Date,
    skill: String,
    #[sqlx(flatten)]
    counts: Counts,
}

#[derive(FromRow)]
struct TenantSum {
    tenant_id: Uuid,
    #[sqlx(flatten)]
    counts: Counts,
}

#[derive(FromRow)]
struct Counts {
    calls: i64,
    failures: i64,
    cpu_us: i64,
    wall_us: i64,
    input_bytes: i64,
    output_bytes: i64,
    upload_bytes: i64,
}

impl Counts {
    const fn usage(&self) -> Usage {
        Usage {
            calls: self.calls.unsigned_abs(),
            failures: self.failures.unsigned_abs(),
            cpu_us: self.cpu_us.unsigned_abs(),
            wall_us: self.wall_us.unsigned_abs(),
            input_bytes: self.input_bytes.unsigned_abs(),
            output_bytes: self.output_bytes.unsigned_abs(),
            upload_bytes: self.upload_bytes.unsigned_abs(),
        }
    }
}

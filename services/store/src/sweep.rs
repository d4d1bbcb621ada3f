//! Versions and sources that nobody can need any more.
//!
//! A task runs on the version that it began with, and does not outlive retention: a version that was switched off longer ago
//! than that is used by no task. Runs of pipelines name the versions that their steps run on, and a replay names those of
//! the run it repeats: what a run that is kept names is kept too. All else is kept only as a way back.

use std::collections::HashSet;
use std::time::Duration;

use pleat_domain::{TenantId, VersionHash};
use sqlx::{FromRow, PgPool};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;
use crate::store::Store;

/// Nodes learn of a switch within seconds, and clocks differ.
const MARGIN: Duration = Duration::from_secs(60 * 60);
/// Versions removed in one round.
const PORTION: i64 = 5_000;

#[derive(FromRow, PartialEq, Eq, Hash)]
struct Version {
    tenant_id: Uuid,
    function: String,
    version: i32,
}

/// Removes what was switched off before retention: of deleted functions all versions, of the others all but the newest
/// `keep`; then sources that no version has. Gives how many of both.
pub(crate) async fn sweep(
    pool: &PgPool,
    now: OffsetDateTime,
    retention: Duration,
    keep: u32,
) -> Result<(u64, u64), StoreError> {
    let before = now - retention - MARGIN;
    let mut old = retired(pool, before, keep).await?;
    if !old.is_empty() {
        let pinned = pinned(pool, &old).await?;
        old.retain(|version| !pinned.contains(version));
    }
    let versions = remove(pool, &old).await?;
    let sources = sqlx::query(
        "DELETE FROM sources s
         WHERE s.created_at < $1 AND NOT EXISTS (
             SELECT FROM function_versions v WHERE v.tenant_id = s.tenant_id AND v.hash = s.hash)",
    )
    .bind(before)
    .execute(pool)
    .await?;
    Ok((versions, sources.rows_affected()))
}

async fn retired(pool: &PgPool, before: OffsetDateTime, keep: u32) -> Result<Vec<Version>, StoreError> {
    let found = sqlx::query_as(
        "SELECT tenant_id, function, version
         FROM (SELECT tenant_id, function, version, retired_at, deleted,
                   row_number() OVER (PARTITION BY tenant_id, function ORDER BY version DESC) AS place
               FROM function_versions WHERE retired_at IS NOT NULL) old
         WHERE retired_at < $1 AND (deleted OR place > $2) LIMIT $3",
    )
    .bind(before)
    .bind(i64::from(keep))
    .bind(PORTION)
    .fetch_all(pool)
    .await?;
    Ok(found)
}

/// What runs of these tenants name.
async fn pinned(pool: &PgPool, old: &[Version]) -> Result<HashSet<Version>, StoreError> {
    let tenants: HashSet<Uuid> = old.iter().map(|version| version.tenant_id).collect();
    let found: Vec<Version> = sqlx::query_as(
        "SELECT DISTINCT t.tenant_id, pin.key AS function, pin.value::int AS version
         FROM tasks t, json_each_text(t.run -> 'pins') AS pin
         WHERE t.tenant_id = ANY ($1) AND t.run IS NOT NULL",
    )
    .bind(tenants.into_iter().collect::<Vec<_>>())
    .fetch_all(pool)
    .await?;
    Ok(found.into_iter().collect())
}

/// One that was switched on meanwhile stays.
async fn remove(pool: &PgPool, old: &[Version]) -> Result<u64, StoreError> {
    if old.is_empty() {
        return Ok(0);
    }
    let removed = sqlx::query(
        "DELETE FROM function_versions v USING unnest($1::uuid[], $2::text[], $3::int[]) AS old (tenant, function, version)
         WHERE v.tenant_id = old.tenant AND v.function = old.function AND v.version = old.version
             AND v.retired_at IS NOT NULL",
    )
    .bind(old.iter().map(|version| version.tenant_id).collect::<Vec<_>>())
    .bind(old.iter().map(|version| version.function.as_str()).collect::<Vec<_>>())
    .bind(old.iter().map(|version| version.version).collect::<Vec<_>>())
    .execute(pool)
    .await?;
    Ok(removed.rows_affected())
}

impl Store {
    /// What any tenant has a version of.
    pub async fn known_versions(&self) -> Result<HashSet<(TenantId, VersionHash)>, StoreError> {
        let rows: Vec<(Uuid, Vec<u8>)> =
            sqlx::query_as("SELECT DISTINCT tenant_id, hash FROM function_versions").fetch_all(self.keepers()).await?;
        let corrupt = |_| StoreError::Corrupt { what: "version hash" };
        rows.into_iter()
            .map(|(tenant, hash)| {
                Ok((TenantId::from_row(tenant), VersionHash::from_bytes(hash.try_into().map_err(corrupt)?)))
            })
            .collect()
    }
}

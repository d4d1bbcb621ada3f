//! `pgbench`, inserting one row per transaction: the same columns and sizes as the row of a finished task, in a table
//! with nothing but a primary key.

use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::Context as _;
use sqlx::PgPool;
use tokio::process::Command;

use crate::options::Options;
use crate::platform::Platform;
use crate::stats::percentile;

const TABLES: &str = "\
CREATE SCHEMA IF NOT EXISTS bench;
CREATE TABLE bench.reference (LIKE public.tasks INCLUDING DEFAULTS, PRIMARY KEY (tenant_id, id));
CREATE TABLE bench.naive (LIKE public.tasks INCLUDING DEFAULTS, PRIMARY KEY (tenant_id, id));
CREATE SEQUENCE bench.ids CACHE 1000";

/// Ids ascend, as those of tasks do. The payloads are sent with every row, as ours are.
const SCRIPT: &str = "\
INSERT INTO bench.reference (tenant_id, id, skill, version, context_id, parent_id, caller, door, alias, state, failure, \
ask, input, history, artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, lease_owner, \
lease_epoch) VALUES (:tenant::uuid, ('01900000-0000-7000-8000-' || lpad(to_hex(nextval('bench.ids')), 12, '0'))::uuid, \
'echo', 1, NULL, NULL, :caller::text, 'http', NULL, 4, NULL, NULL, :input::json, NULL, :artifacts::json, 1, 1, 0, 20, \
20, now(), now(), :owner::uuid, 1);
";

pub(super) struct Reference {
    program: PathBuf,
    url: String,
    directory: PathBuf,
    script: PathBuf,
    variables: Vec<String>,
    pool: PgPool,
}

impl Reference {
    /// Takes the row of the newest task as its model.
    pub(super) async fn prepare(platform: &Platform, pool: &PgPool) -> anyhow::Result<Self> {
        let program = pgbench().context("`pgbench` is not on this machine; install the PostgreSQL server package")?;
        sqlx::raw_sql(TABLES).execute(pool).await?;
        let model = "SELECT tenant_id::text, caller, input::text, artifacts::text, lease_owner::text \
                     FROM tasks ORDER BY id DESC LIMIT 1";
        let (tenant, caller, input, artifacts, owner): (String, String, String, String, String) =
            sqlx::query_as(model).fetch_one(pool).await?;
        let values =
            [("tenant", tenant), ("caller", caller), ("input", input), ("artifacts", artifacts), ("owner", owner)];
        let variables = values.into_iter().map(|(name, value)| format!("{name}={value}")).collect();
        let directory = platform.directory().to_owned();
        let script = directory.join("reference.sql");
        std::fs::write(&script, SCRIPT)?;
        Ok(Self { program, url: platform.database_url().to_owned(), directory, script, variables, pool: pool.clone() })
    }

    /// Rows per second.
    pub(super) async fn rate(&self, clients: u32, options: &Options) -> anyhow::Result<f64> {
        let output = self.run(clients, options, &[]).await?;
        let line = output.lines().find_map(|line| line.strip_prefix("tps = ")).context("pgbench gave no rate")?;
        let number = line.split(' ').next().unwrap_or_default();
        number.parse().with_context(|| format!("`{number}` is no rate"))
    }

    /// Microseconds of one commit of one client, p50.
    pub(super) async fn commit(&self, options: &Options) -> anyhow::Result<f64> {
        let directory = self.directory.join("latencies");
        std::fs::create_dir_all(&directory)?;
        let prefix = format!("--log-prefix={}", directory.join("log").display());
        self.run(1, options, &["--log", &prefix]).await?;
        let mut took = Vec::new();
        for entry in std::fs::read_dir(&directory)? {
            let text = std::fs::read_to_string(entry?.path())?;
            // The third column is the time of a transaction.
            took.extend(text.lines().filter_map(|line| line.split(' ').nth(2)?.parse::<f64>().ok()));
        }
        std::fs::remove_dir_all(&directory)?;
        anyhow::ensure!(!took.is_empty(), "pgbench logged no transactions");
        Ok(percentile(&mut took, 0.5))
    }

    async fn run(&self, clients: u32, options: &Options, extra: &[&str]) -> anyhow::Result<String> {
        sqlx::query("TRUNCATE bench.reference").execute(&self.pool).await?;
        let (clients, threads) = (clients.to_string(), clients.min(2).to_string());
        let seconds = options.round().as_secs().max(1).to_string();
        let mut command = Command::new(&self.program);
        command.args(["--no-vacuum", "--protocol=prepared", "--client", &clients, "--jobs", &threads]);
        command.args(["--time", &seconds]).args(extra).arg("--file").arg(&self.script);
        for variable in &self.variables {
            command.arg("--define").arg(variable);
        }
        command.arg(&self.url).current_dir(&self.directory).stdin(Stdio::null()).kill_on_drop(true);
        let output = command.output().await?;
        let errors = String::from_utf8_lossy(&output.stderr);
        anyhow::ensure!(output.status.success(), "pgbench ended with {}: {errors}", output.status);
        Ok(String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// Debian keeps it beside the server, newest last by name.
fn pgbench() -> Option<PathBuf> {
    let installed = std::fs::read_dir("/usr/lib/postgresql").into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> =
        installed.map(|entry| entry.path().join("bin/pgbench")).filter(|p| p.is_file()).collect();
    found.sort();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = || std::env::split_paths(&path).map(|directory| directory.join("pgbench")).find(|p| p.is_file());
    let homebrew = || Some(Path::new("/opt/homebrew/bin/pgbench").to_owned()).filter(|p| p.is_file());
    found.pop().or_else(on_path).or_else(homebrew)
}

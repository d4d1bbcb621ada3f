//! The whole path: a request comes in, a key is checked, a guest runs, its task is committed with fsync, an answer
//! goes out. Against what the same Postgres does for `pgbench`, and against a path that writes as it goes.

mod naive;
mod reference;

use std::net::SocketAddr;

use sqlx::PgPool;
use sqlx::postgres::PgPoolOptions;

use self::naive::Naive;
use self::reference::Reference;
use crate::http::{Connection, Request};
use crate::load::{self, Load, Plan};
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const CONNECTIONS: usize = 256;
const CLIENTS: u32 = 64;
/// As many as an application that thinks nothing of it would take.
const NAIVE_POOL: u32 = 16;

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    let input = input();
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, "echo", "echo.wasm", &echo()?).await?;
    let call = platform.call("echo", &input);
    let answer = connection.exchange(&call).await?;
    anyhow::ensure!(answer.status == 200 && answer.body == input.as_bytes(), "echo: {}", answer.text());

    let pool = PgPoolOptions::new().max_connections(NAIVE_POOL).connect(platform.database_url()).await?;
    let reference = Reference::prepare(platform, &pool).await?;
    let naive = Naive::start(platform, pool.clone()).await?;
    let path = Request { method: "POST", path: "/echo", key: None, content_type: None, body: input.as_bytes() };
    let subjects = Subjects { ours: (platform.address, call), naive: (naive.address, path.bytes(naive.address)) };

    let mut found = Found::default();
    for round in 0..options.rounds() {
        say(&format!("whole path, round {} of {}", round + 1, options.rounds()));
        found.round(&subjects, &reference, &pool, options).await?;
    }
    found.once.push(once(&pool).await?);
    naive.stop().await?;
    pool.close().await;
    Ok(found.rows())
}

/// About 0.4 kB, as the research behind the design used.
fn input() -> String {
    let text = "The quick brown fox jumps over the lazy dog and comes back. ".repeat(6);
    format!(r#"{{"text":"{}","numbers":[1,2,3]}}"#, text.trim_end())
}

/// Who is asked, and what.
struct Subjects {
    ours: (SocketAddr, Vec<u8>),
    naive: (SocketAddr, Vec<u8>),
}

#[derive(Default)]
struct Found {
    ours: Series,
    p50: Series,
    p99: Series,
    once: Series,
    reference: Series,
    against_reference: Series,
    naive: Series,
    against_naive: Series,
    idle: Series,
    commit: Series,
    beyond_commit: Series,
}

impl Found {
    async fn round(
        &mut self,
        subjects: &Subjects,
        reference: &Reference,
        pool: &PgPool,
        options: &Options,
    ) -> anyhow::Result<()> {
        let Subjects { ours, naive } = subjects;
        let path = fresh(pool, ask(ours, CONNECTIONS, options)).await?;
        let inserts = fresh(pool, reference.rate(CLIENTS, options)).await?;
        let plain = fresh(pool, ask(naive, CONNECTIONS, options)).await?;
        self.ours.push(path.rate);
        self.p50.push(path.p50 / 1e3);
        self.p99.push(path.p99 / 1e3);
        self.reference.push(inserts);
        self.against_reference.push(path.rate / inserts);
        self.naive.push(plain.rate);
        self.against_naive.push(path.rate / plain.rate);

        let idle = ask(ours, 1, options).await?.p50 / 1e3;
        let commit = reference.commit(options).await? / 1e3;
        self.idle.push(idle);
        self.commit.push(commit);
        self.beyond_commit.push(idle - commit);
        Ok(())
    }

    fn rows(self) -> Vec<Row> {
        let pgbench = format!("pgbench: one insert per transaction, {CLIENTS} clients");
        vec![
            Row::shown("path.calls", format!("whole path, {CONNECTIONS} connections"), "/s", self.ours),
            Row::shown("path.p50", "the same, one call, p50", "ms", self.p50),
            Row::shown("path.p99", "the same, one call, p99", "ms", self.p99),
            Row::shown("path.once", "of these, written once and not at admission too", "%", self.once),
            Row::shown("path.pgbench", pgbench, "/s", self.reference),
            Row::shown("path.to_pgbench", "whole path against pgbench", "×", self.against_reference)
                .demanded(Demand::AtLeast(1.0)),
            Row::shown("path.naive", "an insert and two updates per call", "/s", self.naive),
            Row::shown("path.to_naive", "whole path against that", "×", self.against_naive)
                .demanded(Demand::AtLeast(6.0)),
            Row::shown("path.idle", "one idle caller, p50", "ms", self.idle),
            Row::shown("path.commit", "one commit of one client, p50", "ms", self.commit),
            // The writers linger for one millisecond when they expect company: a lone caller must not feel that.
            Row::shown("path.beyond_commit", "idle caller beyond one commit", "ms", self.beyond_commit)
                .demanded(Demand::AtMost(1.0)),
        ]
    }
}

async fn ask(
    (address, request): &(SocketAddr, Vec<u8>),
    connections: usize,
    options: &Options,
) -> anyhow::Result<Load> {
    let plan = Plan { address: *address, connections, warm_up: options.warm_up(), lasting: options.round() };
    load::run(&plan, request).await
}

/// The share of the calls, in per cent, that were quick enough to be recorded only when they were finished.
async fn once(pool: &PgPool) -> anyhow::Result<f64> {
    let share = "SELECT coalesce(100 * avg((last_seq = 0)::int), 0)::float8 FROM tasks";
    Ok(sqlx::query_scalar(share).fetch_one(pool).await?)
}

/// After a checkpoint, so that none of one side falls into the time of another.
async fn fresh<T>(pool: &PgPool, side: impl Future<Output = anyhow::Result<T>>) -> anyhow::Result<T> {
    sqlx::query("CHECKPOINT").execute(pool).await?;
    side.await
}

//! `kill -9` under load, of nodes and of Postgres, and a Postgres that stands still for longer than a lease: nothing that
//! was acknowledged is lost or stuck, and whoever follows a task and comes back gets every event once.

mod load;
mod reader;

use std::time::{Duration, Instant};

use pleat_store::embedded::{Database, EmbeddedConfig};
use sqlx::{Connection, PgConnection};

use crate::crash::load::{Load, Told};
use crate::harness::cluster::{Cluster, Node};
use crate::harness::fixture;
use crate::harness::project::signal;
use crate::options::Scale;
use crate::row::{Row, grouped, say};

/// How long tasks may take to become final once nothing is killed any more.
const SETTLING: Duration = Duration::from_secs(60);
const PATIENCE: Duration = Duration::from_secs(90);
/// How long Postgres stands still: longer than a node's lease, so that what still waits to be written is of a lease that
/// has lapsed.
const STANDSTILL: Duration = Duration::from_secs(13);
/// Answers between two kills: the platform works again, and is in the middle of something.
const BETWEEN: usize = 15;

/// May run again: says three things, with work in between.
const STEADY: &str = r#"
export const description = "Counts to three";
export const annotations = { idempotentHint: true };
export default function (input, ctx) {
  for (let step = 1; step <= 3; step++) {
    ctx.emit(`${step} `);
    const until = Date.now() + 20;
    while (Date.now() < until);
  }
  return input;
}
"#;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let directory = tempfile::Builder::new().prefix("pleat-tests-").tempdir().expect("a directory");
    let config = EmbeddedConfig { data_dir: directory.path().to_owned(), database_url: None, durable: true };
    let mut database = Database::open(&config, &|_: &str| {}).await.expect("Postgres");
    database.make_temporary().expect("a watcher that takes it down");
    let mut cluster = Cluster::start_on(database.url().to_owned(), 2).await;
    cluster.deploy(0, "steady.js", STEADY, "&name=steady").await;
    cluster.deploy(0, "echo.wasm", fixture("echo.wasm"), "&name=echo").await;
    let (nodes, postgres, standstills) = (scale.pick(5, 50), scale.pick(2, 10), scale.pick(1, 5));

    let mut load = Load::start(&cluster);
    let mut slowest = Duration::ZERO;
    for kill in 0..nodes {
        load.more(BETWEEN, PATIENCE).await;
        slowest = slowest.max(kill_node(&mut cluster, &load, kill % 2).await);
    }
    let mut slowest_postgres = Duration::ZERO;
    for _ in 0..postgres {
        load.more(BETWEEN, PATIENCE).await;
        slowest_postgres = slowest_postgres.max(kill_postgres(&cluster, &load).await);
    }
    let mut slowest_standstill = Duration::ZERO;
    for _ in 0..standstills {
        load.more(BETWEEN, PATIENCE).await;
        slowest_standstill = slowest_standstill.max(stop_postgres(&cluster, &load).await);
    }
    load.more(BETWEEN, PATIENCE).await;
    let told = load.end().await;
    let judged = judge(&cluster, &told).await;
    show_gaps(&cluster, &told).await;
    let tried = format!(
        "{nodes} kills of a node and {postgres} of Postgres, {standstills} standstills of it, {} tasks",
        grouped(told.tasks.len())
    );
    let mut rows = counted(&tried, &judged, &told);
    rows.extend([
        back("crash.ready", "longest time until a killed node was ready again".to_owned(), slowest, scale),
        back("crash.postgres", "longest time until calls were served again".to_owned(), slowest_postgres, scale),
        back(
            "crash.standstill",
            format!("the same after Postgres stood still for {} s", STANDSTILL.as_secs()),
            slowest_standstill,
            scale,
        ),
    ]);
    rows
}

/// How long something was away.
fn back(name: &'static str, tried: String, took: Duration, scale: Scale) -> Row {
    Row::at_most(name, tried, 5.0, took.as_secs_f64(), "s").judged(scale.is_full())
}

fn counted(tried: &str, judged: &Judged, told: &Told) -> Vec<Row> {
    vec![
        Row::none("crash.lost", format!("{tried}: acknowledged and gone, or another than sent"), &judged.lost),
        Row::none("crash.stuck", format!("{tried}: not final"), &judged.stuck),
        Row::none("crash.events", format!("{} streams, resumed: events lost or repeated", told.streams), &told.gaps),
        Row::none(
            "crash.twice",
            format!("{} sends repeated under their key: tasks of their own", told.repeats),
            &told.twice,
        ),
        Row::none("crash.answers", format!("{tried}: answers that are neither a result nor 503"), &told.wrong),
    ]
}

/// How long it took until another one was ready in its place.
async fn kill_node(cluster: &mut Cluster, load: &Load, place: usize) -> Duration {
    let killed = cluster.nodes.remove(place);
    killed.server.signal("KILL");
    let (project, _, _) = killed.server.ended().await;
    let began = Instant::now();
    let node = Node::start_in(project, &cluster.database, &[]).await;
    while !is_ready(&cluster.client, &node.url).await {
        assert!(began.elapsed() < PATIENCE, "a node does not become ready");
    }
    let took = began.elapsed();
    cluster.nodes.insert(place, node);
    load.moved(cluster);
    took
}

async fn is_ready(client: &reqwest::Client, url: &str) -> bool {
    let answer = client.get(format!("{url}/readyz")).send().await;
    answer.is_ok_and(|answer| answer.status().is_success())
}

/// How long it took until calls were answered again, at every node.
async fn kill_postgres(cluster: &Cluster, load: &Load) -> Duration {
    signal(first_process(cluster).await, "KILL");
    until_served(cluster, load).await
}

/// The same where nothing is lost but time: what was being written is written afterwards, and must not be by then what
/// somebody else has gone on from.
async fn stop_postgres(cluster: &Cluster, load: &Load) -> Duration {
    let first = first_process(cluster).await;
    signal(first, "STOP");
    // Nobody can be added to them any more.
    let others = children(first);
    others.iter().for_each(|process| signal(*process, "STOP"));
    tokio::time::sleep(STANDSTILL).await;
    others.iter().chain([&first]).for_each(|process| signal(*process, "CONT"));
    until_served(cluster, load).await
}

async fn first_process(cluster: &Cluster) -> u32 {
    let mut connection = PgConnection::connect(&cluster.database).await.expect("a connection");
    let file: String =
        sqlx::query_scalar("SELECT pg_read_file('postmaster.pid')").fetch_one(&mut connection).await.expect("a file");
    file.lines().next().and_then(|line| line.trim().parse().ok()).expect("a number")
}

fn children(parent: u32) -> Vec<u32> {
    let file = format!("/proc/{parent}/task/{parent}/children");
    let list = std::fs::read_to_string(file).expect("the children of a process");
    list.split_whitespace().map(|process| process.parse().expect("a number")).collect()
}

async fn until_served(cluster: &Cluster, load: &Load) -> Duration {
    let began = Instant::now();
    let mut served = vec![false; cluster.nodes.len()];
    while served.contains(&false) {
        assert!(began.elapsed() < PATIENCE, "calls are not served again");
        for (node, served) in served.iter_mut().enumerate() {
            *served = *served || load.probe(node).await;
        }
    }
    began.elapsed()
}

/// What is recorded of streams with a gap: whether something was not written, or not read.
async fn show_gaps(cluster: &Cluster, told: &Told) {
    if told.gaps.is_empty() {
        return;
    }
    let mut connection = PgConnection::connect(&cluster.database).await.expect("a connection");
    for gap in &told.gaps {
        let hex: String = gap.chars().skip_while(|letter| *letter != '_').skip(1).take(32).collect();
        let rows: Vec<(i32, String)> = sqlx::query_as(
            "SELECT seq, at::text || ' ' || body::text FROM task_events WHERE task_id = $1::uuid ORDER BY seq",
        )
        .bind(uuid::Uuid::parse_str(&hex).ok())
        .fetch_all(&mut connection)
        .await
        .expect("rows");
        for (seq, row) in rows {
            say(&format!("crash: {hex}: {seq} {row}"));
        }
    }
}

#[derive(Default)]
struct Judged {
    lost: Vec<String>,
    stuck: Vec<String>,
}

/// What has become of everything that was acknowledged.
async fn judge(cluster: &Cluster, told: &Told) -> Judged {
    let mut judged = Judged::default();
    let began = Instant::now();
    for (id, value) in &told.tasks {
        loop {
            let request = cluster.api(cluster.next(), reqwest::Method::GET, &format!("/tenants/acme/tasks/{id}"));
            let (status, task) = crate::harness::read(request.bearer_auth(&cluster.key).send().await.unwrap()).await;
            let input = &task["input"]["value"];
            if status != 200 || *input != serde_json::json!(value) {
                judged.lost.push(format!("{id}: {status} {task}"));
                break;
            }
            if matches!(task["state"].as_str(), Some("completed" | "failed")) {
                break;
            }
            if began.elapsed() > SETTLING {
                judged.stuck.push(format!("{id}: {task}"));
                break;
            }
        }
    }
    judged
}

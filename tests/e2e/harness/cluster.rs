//! Several `pleat serve` processes on one database, as behind a load balancer: each request may go to any of them.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use reqwest::{Method, RequestBuilder, Response};
use serde_json::{Value, json};

use super::dev::Server;
use super::project::Project;
use super::{Stream, database, fixture, read};

const MASTER: &str = "00112233445566778899aabbccddeeff00112233445566778899aabbccddeeff";
/// Short, so that a lost node is missed soon; long enough for a busy machine.
pub const LEASE: Duration = Duration::from_millis(3_000);
const PATIENCE: Duration = Duration::from_secs(60);

/// One process.
pub struct Node {
    pub server: Server,
    /// Its control host.
    pub url: String,
}

impl Node {
    /// A node on this database. Compiled code is shared with the other tests' nodes, sources are not.
    pub async fn start(database: &str) -> Self {
        Self::start_with(database, &[]).await
    }

    pub async fn start_with(database: &str, more: &[(&str, &str)]) -> Self {
        Self::start_in(Project::with_code().await, database, more).await
    }

    pub async fn start_in(project: Project, database: &str, more: &[(&str, &str)]) -> Self {
        let lease = LEASE.as_millis().to_string();
        let mut environment =
            vec![("PLEAT_MASTER_KEY", MASTER), ("DATABASE_URL", database), ("PLEAT_LEASE_MS", &lease)];
        environment.extend_from_slice(more);
        let arguments = ["serve", "--listen", "127.0.0.1:0", "--log-format", "json"];
        let mut server = Server::spawn(project, &arguments, &environment);
        let listening = |project: &Project| {
            let log = project.log();
            let mut records = log.lines().filter_map(|line| serde_json::from_str::<Value>(line).ok());
            records.find_map(|record| Some(record.get("address")?.as_str()?.to_owned()))
        };
        let address = server.until("line that says where it listens", listening).await;
        Self { server, url: format!("http://{address}") }
    }

    pub fn tenant_url(&self) -> String {
        format!("{}/t/acme", self.url)
    }

    /// Without a goodbye.
    pub fn kill(self) {
        self.server.signal("KILL");
    }
}

/// An installation with the tenant `acme`.
pub struct Cluster {
    pub nodes: Vec<Node>,
    pub database: String,
    pub client: reqwest::Client,
    pub operator: String,
    /// All four scopes of `acme`.
    pub key: String,
    turn: AtomicUsize,
}

impl Cluster {
    /// With `probe` deployed.
    pub async fn start(count: usize) -> Self {
        Self::start_on(database().await, count).await
    }

    pub async fn start_on(database: String, count: usize) -> Self {
        Self::start_with(database, count, &[]).await
    }

    /// With more in the environment of each node.
    pub async fn start_with(database: String, count: usize, more: &[(&str, &str)]) -> Self {
        let mut nodes = Vec::new();
        for _ in 0..count {
            nodes.push(Node::start_with(&database, more).await);
        }
        let path = nodes[0].server.project.data_dir().join("operator.key");
        let operator = std::fs::read_to_string(path).unwrap().trim().to_owned();
        let client = reqwest::Client::builder().timeout(PATIENCE).build().unwrap();
        let mut cluster = Self { nodes, database, client, operator, key: String::new(), turn: AtomicUsize::new(0) };
        let request = cluster.api(0, Method::POST, "/tenants").bearer_auth(&cluster.operator);
        let (status, body) = read(request.json(&json!({ "slug": "acme" })).send().await.unwrap()).await;
        assert_eq!(status, 201, "{body}");
        cluster.key = body["adminKey"].as_str().unwrap().to_owned();
        cluster.deploy(0, "probe.wasm", fixture("probe.wasm"), "&name=probe").await;
        cluster
    }

    /// The node whose turn it is.
    pub fn next(&self) -> usize {
        self.turn.fetch_add(1, Ordering::Relaxed) % self.nodes.len()
    }

    /// The control API of a node; `path` is below `/api/v1`.
    pub fn api(&self, node: usize, method: Method, path: &str) -> RequestBuilder {
        self.client.request(method, format!("{}/api/v1{path}", self.nodes[node].url))
    }

    pub async fn deploy(&self, node: usize, file: &str, source: impl Into<Vec<u8>>, query: &str) -> Value {
        let path = format!("/tenants/acme/functions?fileName={file}{query}");
        let request = self.api(node, Method::POST, &path).bearer_auth(&self.key).timeout(Duration::from_secs(240));
        let (status, body) = read(request.body(source.into()).send().await.unwrap()).await;
        assert!(status == 201 || status == 200, "deploying {file}: {status} {body}");
        body
    }

    /// A JSON-RPC call at a node's A2A door.
    pub fn request(&self, node: usize, method: &str, params: Value) -> RequestBuilder {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.client.post(format!("{}/_a2a/", self.nodes[node].tenant_url())).bearer_auth(&self.key).json(&body)
    }

    pub async fn rpc(&self, node: usize, method: &str, params: Value) -> (u16, Value) {
        read(self.request(node, method, params).send().await.unwrap()).await
    }

    /// A call that is recorded before it runs: its id, and the stream at that node.
    pub async fn begin(&self, node: usize, skill: &str, input: Value) -> (String, Stream) {
        let params = json!({ "skill": skill, "message": input });
        let mut stream = Stream::of(self.request(node, "tasks/sendSubscribe", params).send().await.unwrap());
        let first = stream.next().await.expect("a first event");
        (first.data["result"]["id"].as_str().unwrap_or_else(|| panic!("{first:?}")).to_owned(), stream)
    }

    /// The events of a task at a node, behind one that was seen.
    pub async fn events(&self, node: usize, task: &str, after: u32) -> Stream {
        Stream::of(self.events_response(node, task, after).await)
    }

    pub async fn events_response(&self, node: usize, task: &str, after: u32) -> Response {
        let request = self.api(node, Method::GET, &format!("/tenants/acme/tasks/{task}/events"));
        request.bearer_auth(&self.key).header("last-event-id", after.to_string()).send().await.unwrap()
    }

    /// A task as a node shows it to its tenant.
    pub async fn task(&self, node: usize, task: &str) -> Value {
        let request = self.api(node, Method::GET, &format!("/tenants/acme/tasks/{task}")).bearer_auth(&self.key);
        let (status, body) = read(request.send().await.unwrap()).await;
        assert_eq!(status, 200, "{body}");
        body
    }

    /// A plain HTTP call; the answer as it is.
    pub async fn call(&self, node: usize, skill: &str, input: &Value) -> Response {
        let url = format!("{}/{skill}", self.nodes[node].tenant_url());
        self.client.post(url).bearer_auth(&self.key).json(input).send().await.unwrap()
    }

    /// Asks again until the answer is the right one; how long that took.
    pub async fn until<T>(&self, what: &str, ask: impl AsyncFn() -> Option<T>) -> (T, Duration) {
        let started = Instant::now();
        loop {
            if let Some(found) = ask().await {
                return (found, started.elapsed());
            }
            assert!(started.elapsed() < PATIENCE, "{what} does not come");
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }
}

//! Callers that never stop: short calls and streams, at every node in turn, each repeated until it is answered.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, RwLock};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::sync::watch;
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

use crate::crash::reader::{Followed, answer};
use crate::harness::cluster::Cluster;

const CALLERS: usize = 3;
const PAUSE: Duration = Duration::from_millis(20);

/// What the callers have been told.
#[derive(Default, Clone)]
pub struct Told {
    /// Every task whose id was told, with what was sent.
    pub tasks: BTreeMap<String, u64>,
    pub streams: usize,
    pub repeats: usize,
    /// Streams with a number too many or too few.
    pub gaps: Vec<String>,
    /// Sends that became two tasks.
    pub twice: Vec<String>,
    pub wrong: Vec<String>,
}

pub struct Load {
    shared: Arc<Shared>,
    told: watch::Receiver<Told>,
    stop: CancellationToken,
    callers: JoinSet<()>,
}

struct Shared {
    client: reqwest::Client,
    key: String,
    /// Where the nodes are now.
    nodes: RwLock<Vec<String>>,
    told: watch::Sender<Told>,
    count: AtomicU64,
}

impl Load {
    pub fn start(cluster: &Cluster) -> Self {
        let (sender, told) = watch::channel(Told::default());
        let shared = Arc::new(Shared {
            client: cluster.client.clone(),
            key: cluster.key.clone(),
            nodes: RwLock::default(),
            told: sender,
            count: AtomicU64::new(0),
        });
        let (stop, mut callers) = (CancellationToken::new(), JoinSet::new());
        let load = Self { told, stop: stop.clone(), callers: JoinSet::new(), shared: Arc::clone(&shared) };
        load.moved(cluster);
        for _ in 0..CALLERS {
            let (shared, stop) = (Arc::clone(&shared), stop.clone());
            callers.spawn(async move {
                while !stop.is_cancelled() {
                    let value = shared.count.fetch_add(1, Ordering::Relaxed);
                    match value % 3 {
                        0 => shared.once(value).await,
                        1 => shared.followed("probe", value).await,
                        _ => shared.followed("steady", value).await,
                    }
                }
            });
        }
        Self { callers, ..load }
    }

    /// The nodes are elsewhere now.
    pub fn moved(&self, cluster: &Cluster) {
        *self.shared.nodes.write().unwrap() = cluster.nodes.iter().map(|node| node.tenant_url()).collect();
    }

    /// Until that many more tasks have been acknowledged.
    pub async fn more(&mut self, count: usize, patience: Duration) {
        let goal = self.told.borrow().tasks.len() + count;
        let reached = self.told.wait_for(|told| told.tasks.len() >= goal);
        tokio::time::timeout(patience, reached).await.expect("calls are served again").expect("callers");
    }

    /// Whether a node answers a call.
    pub async fn probe(&self, node: usize) -> bool {
        let url = self.shared.nodes.read().unwrap()[node].clone();
        let request = self.shared.client.post(format!("{url}/echo")).bearer_auth(&self.shared.key);
        answer(request.json(&json!({ "value": 0 }))).await.is_some()
    }

    pub async fn end(mut self) -> Told {
        self.stop.cancel();
        while let Some(ended) = self.callers.join_next().await {
            ended.expect("a caller");
        }
        self.told.borrow().clone()
    }
}

impl Shared {
    fn url(&self, turn: u64) -> String {
        let nodes = self.nodes.read().unwrap();
        nodes[usize::try_from(turn).unwrap_or(0) % nodes.len()].clone()
    }

    /// A short call under a key, sent until it is answered, and then once more elsewhere.
    async fn once(&self, value: u64) {
        let mut answered: Vec<String> = Vec::new();
        for turn in value.. {
            let request = self.client.post(format!("{}/echo", self.url(turn))).bearer_auth(&self.key);
            let request = request.header("idempotency-key", format!("send-{value}")).json(&json!({ "value": value }));
            match request.send().await {
                Ok(response) => {
                    let status = response.status().as_u16();
                    let task =
                        response.headers().get("pleat-task-id").and_then(|id| id.to_str().ok()).map(str::to_owned);
                    // A node that was lost with the call: its end is an answer too, and says so.
                    match (status, task) {
                        (200 | 503, Some(task)) => answered.push(task),
                        (503, None) => {}
                        (status, _) => self.note(|told| told.wrong.push(format!("echo: {status}"))),
                    }
                }
                Err(_) => tokio::time::sleep(PAUSE).await,
            }
            if answered.len() == 2 {
                break;
            }
        }
        self.note(|told| {
            told.repeats += 1;
            if answered[0] != answered[1] {
                told.twice.push(format!("send-{value}: {answered:?}"));
            }
            told.tasks.insert(answered[0].clone(), value);
        });
    }

    /// A call whose events are followed to the last, wherever that can be done.
    async fn followed(&self, skill: &str, value: u64) {
        let input = json!({ "do": "emit", "chunks": 3, "delay_ms": 60, "value": value });
        let mut followed = Followed::default();
        for turn in value.. {
            let request = match &followed.task {
                None => self.rpc(turn, "tasks/sendSubscribe", json!({ "skill": skill, "message": input })),
                Some(task) => self
                    .rpc(turn, "tasks/resubscribe", json!({ "id": task }))
                    .header("last-event-id", followed.last().to_string()),
            };
            match answer(request).await {
                Some(response) => followed.read(response).await,
                None => tokio::time::sleep(PAUSE).await,
            }
            if let Some(task) = &followed.task {
                self.note(|told| {
                    told.tasks.insert(task.clone(), value);
                });
            }
            if followed.ended {
                break;
            }
        }
        self.note(|told| {
            told.streams += 1;
            told.gaps.extend(followed.fault());
        });
    }

    fn rpc(&self, turn: u64, method: &str, params: Value) -> reqwest::RequestBuilder {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.client.post(format!("{}/_a2a/", self.url(turn))).bearer_auth(&self.key).json(&body)
    }

    fn note(&self, change: impl FnOnce(&mut Told)) {
        self.told.send_modify(change);
    }
}

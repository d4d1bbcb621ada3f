//! An honest tenant that calls its function at a steady pace, and how long it waits: undisturbed, and meanwhile.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use crate::harness::fixture;
use crate::node::Node;

const PACE: Duration = Duration::from_millis(10);

pub struct Honest {
    waits: Arc<Mutex<Waits>>,
    undisturbed: Vec<Duration>,
    _calling: AbortOnDropHandle<()>,
}

#[derive(Default)]
struct Waits {
    served: Vec<Duration>,
    refused: Vec<String>,
}

pub struct Felt {
    undisturbed: Vec<Duration>,
    meanwhile: Vec<Duration>,
    /// Calls that were not answered as they should be.
    pub refused: Vec<String>,
}

impl Honest {
    pub async fn start(node: &Node) -> Self {
        let tenant = node.tenant("honest").await;
        node.deploy(&tenant, "echo", "echo.wasm", fixture("echo.wasm")).await;
        let url = format!("http://{}/t/honest/echo", node.address);
        let (client, waits) = (node.client.clone(), Arc::<Mutex<Waits>>::default());
        let kept = Arc::clone(&waits);
        let calling: tokio::task::JoinHandle<()> = tokio::spawn(async move {
            let mut pace = tokio::time::interval(PACE);
            loop {
                pace.tick().await;
                let began = Instant::now();
                let call = client.post(&url).bearer_auth(&tenant.key).json(&json!({ "n": 1 }));
                let answer = async { read(call.send().await?.error_for_status()?).await.map(drop) }.await;
                let mut kept = kept.lock().expect("whole");
                match answer {
                    Ok(()) => kept.served.push(began.elapsed()),
                    Err(error) => kept.refused.push(error.to_string()),
                }
            }
        });
        Self { waits, undisturbed: Vec::new(), _calling: AbortOnDropHandle::new(calling) }
    }

    /// Listens for a while before anything happens.
    pub async fn undisturbed(mut self, seconds: u64) -> Self {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.take();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        self.undisturbed = self.take();
        self
    }

    /// The longest of the calls since the first `from`, and how many there are by now.
    pub fn longest(&self, from: usize) -> (Duration, usize) {
        let waits = self.waits.lock().expect("whole");
        (waits.served.iter().skip(from).max().copied().unwrap_or_default(), waits.served.len())
    }

    /// What has been felt since.
    pub async fn felt(&mut self) -> Felt {
        let refused = std::mem::take(&mut self.waits.lock().expect("whole").refused);
        Felt { undisturbed: std::mem::take(&mut self.undisturbed), meanwhile: self.take(), refused }
    }

    fn take(&self) -> Vec<Duration> {
        std::mem::take(&mut self.waits.lock().expect("whole").served)
    }
}

async fn read(answer: reqwest::Response) -> reqwest::Result<usize> {
    Ok(answer.bytes().await?.len())
}

impl Felt {
    pub fn ratio(&self) -> f64 {
        p99(&self.meanwhile) / p99(&self.undisturbed)
    }

    pub fn tried(&self) -> String {
        let (before, meanwhile) = (p99(&self.undisturbed), p99(&self.meanwhile));
        let count = self.meanwhile.len();
        format!("{count} calls of an honest tenant meanwhile: p99 {meanwhile:.1} ms, undisturbed {before:.1} ms")
    }
}

/// In milliseconds.
fn p99(waits: &[Duration]) -> f64 {
    let mut sorted = waits.to_vec();
    sorted.sort();
    let index = (sorted.len() * 99 / 100).min(sorted.len().saturating_sub(1));
    sorted.get(index).map_or(f64::NAN, |wait| wait.as_secs_f64() * 1_000.0)
}

//! An honest tenant that calls its function at a steady pace, and how long it waits: undisturbed, and meanwhile.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use serde_json::json;
use tokio_util::task::AbortOnDropHandle;

use crate::harness::fixture;
use crate::node::Node;

/// How many times as long as undisturbed 99 of 100 calls may take.
pub const ALLOWED: f64 = 1.5;
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

    /// Listens for a while in which nothing happens.
    pub async fn undisturbed(&mut self, seconds: u64) {
        tokio::time::sleep(Duration::from_secs(1)).await;
        self.take();
        tokio::time::sleep(Duration::from_secs(seconds)).await;
        let waits = self.take();
        self.undisturbed.extend(waits);
    }

    /// The calls since the first `from`, in words, and how many there are by now.
    pub fn since(&self, from: usize) -> (String, usize) {
        let waits = self.waits.lock().expect("whole");
        let latest = waits.served.get(from..).unwrap_or_default();
        let most = p99(&self.undisturbed) * ALLOWED;
        let over = latest.iter().filter(|wait| wait.as_secs_f64() * 1_000.0 > most).count();
        let longest = latest.iter().max().copied().unwrap_or_default();
        let said = format!("{over} of {} honest calls over {most:.1} ms, at most {longest:.1?}", latest.len());
        (said, waits.served.len())
    }

    /// What has been felt since, against a time before and as long a time now: machines are not always equally fast.
    pub async fn felt(mut self, seconds: u64) -> Felt {
        let meanwhile = self.take();
        self.undisturbed(seconds).await;
        let refused = std::mem::take(&mut self.waits.lock().expect("whole").refused);
        Felt { undisturbed: std::mem::take(&mut self.undisturbed), meanwhile, refused }
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

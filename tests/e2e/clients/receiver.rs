//! Where push notifications of these tests go: a server that keeps what it was sent.

use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use axum::Router;
use axum::extract::State;
use axum::http::HeaderMap;
use axum::routing::post;
use pleat_egress::EgressConfig;
use serde_json::Value;

/// A delivery: its token and its body.
pub type Delivery = (String, Value);

pub struct Receiver {
    address: std::net::SocketAddr,
    deliveries: Arc<Mutex<Vec<Delivery>>>,
}

impl Receiver {
    pub async fn start() -> Self {
        let deliveries = Arc::<Mutex<Vec<Delivery>>>::default();
        let keep = |State(kept): State<Arc<Mutex<Vec<Delivery>>>>, headers: HeaderMap, body: String| async move {
            let token =
                headers.get("x-a2a-notification-token").and_then(|value| value.to_str().ok()).unwrap_or_default();
            kept.lock().unwrap().push((token.to_owned(), serde_json::from_str(&body).unwrap_or_default()));
        };
        let router = Router::new().route("/push", post(keep)).with_state(deliveries.clone());
        let listener = tokio::net::TcpListener::bind(("127.0.0.1", 0)).await.unwrap();
        let address = listener.local_addr().unwrap();
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { address, deliveries }
    }

    pub fn url(&self) -> String {
        format!("http://{}/push", self.address)
    }

    /// Waits until something came with this token.
    pub async fn heard(&self, token: &str) -> Value {
        let patience = Instant::now() + Duration::from_secs(20);
        loop {
            let found = self.deliveries.lock().unwrap().iter().find(|(with, _)| with == token).cloned();
            if let Some((_, body)) = found {
                return body;
            }
            assert!(Instant::now() < patience, "nothing was delivered with the token `{token}`");
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    }

    /// The operator lets deliveries go to this machine.
    pub fn reachable(config: &EgressConfig) -> EgressConfig {
        EgressConfig { allow: vec!["127.0.0.1:*".parse().unwrap()], ..config.clone() }
    }
}

//! Servers that say what a test wants, and requests to them.

use std::future::Future;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};

use pleat_egress::{Egress, EgressConfig, EgressError, HostGrants, OutboundRequest, OutboundResponse, Resolver};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};

/// The name under which this machine stands for the internet.
pub const PUBLIC: &str = "public.test";

/// Names of this machine; nothing else resolves.
pub fn local_names() -> Resolver {
    Resolver::Table(Arc::new(|name| match name.ends_with(".test") {
        true => vec![IpAddr::from([127, 0, 0, 1])],
        false => Vec::new(),
    }))
}

/// Reaches `public.test` on every port, and otherwise what anybody reaches.
pub fn config() -> EgressConfig {
    EgressConfig {
        allow: vec![format!("{PUBLIC}:*").parse().unwrap()],
        resolver: local_names(),
        ..EgressConfig::default()
    }
}

pub fn egress() -> Egress {
    Egress::new(config()).unwrap()
}

pub async fn send(egress: &Egress, request: OutboundRequest) -> Result<OutboundResponse, EgressError> {
    egress.send(request, &HostGrants::any(), "demo").await
}

pub async fn refusal(egress: &Egress, request: OutboundRequest) -> EgressError {
    send(egress, request).await.map(|response| response.status).unwrap_err()
}

pub struct Server {
    pub address: SocketAddr,
    requests: Arc<Mutex<Vec<String>>>,
}

impl Server {
    /// Answers every request with what `answer` makes of it, and closes the connection.
    pub async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let answer = Arc::new(answer);
        Self::talk(move |mut stream, request| {
            let answer = Arc::clone(&answer);
            async move {
                // The other side may have had enough before all is written.
                let _ = stream.write_all(&answer(&request)).await;
                let _ = stream.shutdown().await;
            }
        })
        .await
    }

    /// Reads a request and leaves the rest to `talk`.
    pub async fn talk<Talk>(talk: impl Fn(TcpStream, String) -> Talk + Send + Sync + 'static) -> Self
    where
        Talk: Future<Output = ()> + Send + 'static,
    {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let requests = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&requests);
        tokio::spawn(async move {
            let talk = Arc::new(talk);
            while let Ok((mut stream, _)) = listener.accept().await {
                let (seen, talk) = (Arc::clone(&seen), Arc::clone(&talk));
                tokio::spawn(async move {
                    let request = read_request(&mut stream).await;
                    seen.lock().unwrap().push(request.clone());
                    talk(stream, request).await;
                });
            }
        });
        Self { address, requests }
    }

    /// As seen from outside.
    pub fn url(&self, path: &str) -> String {
        self.named(PUBLIC, path)
    }

    pub fn named(&self, host: &str, path: &str) -> String {
        format!("http://{host}:{}{path}", self.address.port())
    }

    pub fn requests(&self) -> Vec<String> {
        self.requests.lock().unwrap().clone()
    }
}

async fn read_request(stream: &mut TcpStream) -> String {
    let mut bytes = Vec::new();
    loop {
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if let Some((head, body)) = text.split_once("\r\n\r\n") {
            let length = head.to_ascii_lowercase();
            let length = length.lines().find_map(|line| line.strip_prefix("content-length: ")?.parse().ok());
            if body.len() >= length.unwrap_or(0) {
                return text;
            }
        }
        if stream.read_buf(&mut bytes).await.unwrap_or(0) == 0 {
            return text;
        }
    }
}

/// A whole answer of HTTP/1.1, with its length.
pub fn answer(status: &str, headers: &str, body: &[u8]) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status}\r\n{headers}content-length: {}\r\nconnection: close\r\n\r\n", body.len());
    [head.as_bytes(), body].concat()
}

pub fn redirect(status: u16, location: &str) -> Vec<u8> {
    answer(&format!("{status} Elsewhere"), &format!("location: {location}\r\n"), b"")
}

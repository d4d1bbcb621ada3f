//! Pooled connections: reused by the tenant that opened them, and by no other.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use pleat_egress::{HostGrants, OutboundRequest};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

use crate::support::{self, PUBLIC};

/// Answers requests for as long as the connection is kept open; counts connections.
async fn keep_alive_server() -> (String, Arc<AtomicUsize>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{PUBLIC}:{}/", listener.local_addr().unwrap().port());
    let connections = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&connections);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            counted.fetch_add(1, Ordering::SeqCst);
            tokio::spawn(async move {
                let mut bytes = Vec::new();
                while stream.read_buf(&mut bytes).await.unwrap_or(0) > 0 {
                    if bytes.ends_with(b"\r\n\r\n") {
                        bytes.clear();
                        stream.write_all(b"HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok").await.unwrap();
                    }
                }
            });
        }
    });
    (url, connections)
}

#[tokio::test]
async fn connections_are_reused_by_their_tenant_and_by_no_other() {
    let (url, connections) = keep_alive_server().await;
    let egress = support::egress();
    for (tenant, expected) in [("one", 1), ("one", 1), ("two", 2), ("two", 2), ("one", 2)] {
        let sent = egress.send(OutboundRequest::get(url.clone()), &HostGrants::any(), tenant).await;
        assert_eq!(&*sent.ok().unwrap().body, b"ok");
        // A connection returns to its pool in a task of the client's own.
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        assert_eq!(connections.load(Ordering::SeqCst), expected, "after a request of tenant {tenant}");
    }
}

//! Answers that are large, slow, compressed, endless or lies.

use std::io::Write;
use std::time::Duration;

use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use pleat_egress::{Egress, EgressConfig, EgressError, OutboundRequest};
use tokio::io::AsyncWriteExt;

use crate::support::{self, Server, answer, refusal, send};

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// Text that compresses as text does.
fn text(length: usize) -> Vec<u8> {
    let mut state = 1_u32;
    let mut letter = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        b'a' + (state >> 24) as u8 % 16
    };
    (0..length).map(|_| letter()).collect()
}

/// What comes of this answer, with bodies of at most 100,000 bytes.
async fn outcome(answer: Vec<u8>) -> Result<Vec<u8>, EgressError> {
    let server = Server::start(move |_| answer.clone()).await;
    let egress = Egress::new(EgressConfig { response_bytes: 100_000, ..support::config() }).unwrap();
    send(&egress, OutboundRequest::get(server.url("/"))).await.map(|response| response.body.to_vec())
}

#[tokio::test]
async fn a_body_may_be_as_large_as_the_limit() {
    assert_eq!(outcome(answer("200 OK", "", &vec![b'a'; 100_000])).await.unwrap().len(), 100_000);
    assert_eq!(outcome(answer("200 OK", "", &vec![b'a'; 100_001])).await, Err(EgressError::TooLarge));
    // Without a length, it is noticed as it comes.
    let endless = [b"HTTP/1.1 200 OK\r\n\r\n".to_vec(), vec![b'a'; 100_001]].concat();
    assert_eq!(outcome(endless).await, Err(EgressError::TooLarge));
    let chunked = b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n186A1\r\n".to_vec();
    let chunked = [chunked, vec![b'a'; 100_001], b"\r\n0\r\n\r\n".to_vec()].concat();
    assert_eq!(outcome(chunked).await, Err(EgressError::TooLarge));
}

#[tokio::test]
async fn compressed_bodies_are_unpacked() {
    let plain = text(50_000);
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::default());
    zlib.write_all(&plain).unwrap();
    let mut bare = DeflateEncoder::new(Vec::new(), Compression::default());
    bare.write_all(&plain).unwrap();
    for (encoding, body) in [
        ("gzip", gzip(&plain)),
        ("x-gzip", gzip(&plain)),
        ("GZIP", gzip(&plain)),
        ("deflate", zlib.finish().unwrap()),
        ("deflate", bare.finish().unwrap()),
    ] {
        let answer = answer("200 OK", &format!("content-encoding: {encoding}\r\n"), &body);
        assert!(outcome(answer).await.unwrap() == plain, "{encoding}");
    }
    // What was not asked for is not unpacked, and its header stays.
    let server = Server::start(|_| answer("200 OK", "content-encoding: br\r\n", b"??")).await;
    let response = send(&support::egress(), OutboundRequest::get(server.url("/"))).await.ok().unwrap();
    assert_eq!(&*response.body, b"??");
    assert!(response.headers.contains(&("content-encoding".to_owned(), b"br".to_vec())));
}

#[tokio::test]
async fn the_answer_to_head_has_no_body_to_unpack() {
    let server =
        Server::start(|_| b"HTTP/1.1 200 OK\r\ncontent-encoding: gzip\r\ncontent-length: 9999999\r\n\r\n".to_vec())
            .await;
    let request = OutboundRequest { method: "HEAD".to_owned(), ..OutboundRequest::get(server.url("/")) };
    let response = send(&support::egress(), request).await.ok().unwrap();
    assert_eq!((response.status, response.body.len()), (200, 0));
}

#[tokio::test]
async fn a_bomb_is_given_up_by_its_size_and_by_its_ratio() {
    let gzipped = |body: &[u8]| answer("200 OK", "content-encoding: gzip\r\n", body);
    // More than the limit, unpacked.
    assert_eq!(outcome(gzipped(&gzip(&text(100_001)))).await, Err(EgressError::TooLarge));
    // Within it, and far more than such a body can honestly be.
    assert_eq!(outcome(gzipped(&gzip(&[0; 90_000]))).await, Err(EgressError::TooLarge));
    // The first 64 KiB are free.
    assert_eq!(outcome(gzipped(&gzip(&[0; 64 << 10]))).await.unwrap().len(), 64 << 10);
    let inner = gzip(&vec![0; 10 << 20]);
    assert_eq!(outcome(gzipped(&gzip(&inner))).await.unwrap(), inner, "one layer is undone, not two");
}

#[tokio::test]
async fn a_body_that_is_not_what_it_says_fails() {
    let gzipped = |body: &[u8]| answer("200 OK", "content-encoding: gzip\r\n", body);
    let whole = gzip(&text(1000));
    let said = EgressError::Failed("the body of the answer is not compressed as its headers say".to_owned());
    assert_eq!(outcome(gzipped(b"plain text")).await, Err(said.clone()));
    assert_eq!(outcome(gzipped(&whole[..whole.len() / 2])).await, Err(said));
    let broken = EgressError::Failed("the connection ended before the answer was complete".to_owned());
    for lie in [
        &b"HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nshort"[..],
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffff\r\nshort",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nxyz\r\n",
        b"HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nffffffffffffffffff\r\n",
        b"",
    ] {
        assert_eq!(outcome(lie.to_vec()).await, Err(broken.clone()), "{}", String::from_utf8_lossy(lie));
    }
    let garbage = outcome(b"SSH-2.0-OpenSSH_9.0\r\n".to_vec()).await;
    assert_eq!(garbage, Err(EgressError::Failed("the answer is not HTTP".to_owned())));
}

#[tokio::test]
async fn heads_are_limited_in_count_and_size() {
    let head = |headers: &str| format!("HTTP/1.1 200 OK\r\n{headers}content-length: 0\r\n\r\n").into_bytes();
    assert!(outcome(head(&"x-a: 1\r\n".repeat(99))).await.is_ok());
    assert_eq!(outcome(head(&"x-a: 1\r\n".repeat(100))).await, Err(EgressError::TooLarge));
    let large = format!("x-a: {}\r\n", "a".repeat(70_000));
    assert_eq!(outcome(head(&large)).await, Err(EgressError::TooLarge));
}

/// Whatever never ends, ends with the time for it.
#[tokio::test]
async fn endless_answers_end_in_time() {
    for (head, more) in [
        ("HTTP/1.1 200 OK\r\n\r\n", "."),
        ("HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n", "1\r\n.\r\n"),
        ("", "HTTP/1.1 100 Continue\r\n\r\n"),
    ] {
        let server = Server::talk(move |mut stream, _| async move {
            stream.write_all(head.as_bytes()).await.unwrap();
            while stream.write_all(more.as_bytes()).await.is_ok() {
                tokio::time::sleep(Duration::from_millis(20)).await;
            }
        })
        .await;
        let egress =
            Egress::new(EgressConfig { total_timeout: Duration::from_millis(300), ..support::config() }).unwrap();
        assert_eq!(refusal(&egress, OutboundRequest::get(server.url("/"))).await, EgressError::Timeout, "{more:?}");
    }
}

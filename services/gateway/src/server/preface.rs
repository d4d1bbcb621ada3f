//! The first bytes of a connection: an optional PROXY header, then enough to tell HTTP/2 from HTTP/1.
//!
//! The version sniff of `hyper-util` has no timer, so it is done here, under the caller's timeout. A silent connection
//! has no buffer.

use std::io;
use std::net::IpAddr;

use bytes::{Bytes, BytesMut};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;

use super::proxy_protocol::{self, Parsed};

const HTTP_2: &[u8; 24] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";
const BUFFER: usize = 4_096;

/// What a connection began with.
pub(super) struct Preface {
    /// Read already, and part of the first request.
    pub(super) bytes: Bytes,
    pub(super) http2: bool,
    /// As the PROXY header says.
    pub(super) client: Option<IpAddr>,
}

/// Waits for the first bytes. `proxied`: they must be a PROXY header.
pub(super) async fn read(stream: &mut TcpStream, proxied: bool) -> io::Result<Preface> {
    stream.readable().await?;
    let mut bytes = BytesMut::with_capacity(BUFFER);
    let client = if proxied { proxy_header(stream, &mut bytes).await? } else { None };
    let http2 = loop {
        if bytes.starts_with(HTTP_2) {
            break true;
        }
        if !HTTP_2.starts_with(&bytes) {
            break false;
        }
        more(stream, &mut bytes).await?;
    };
    Ok(Preface { bytes: bytes.freeze(), http2, client })
}

async fn proxy_header(stream: &mut TcpStream, bytes: &mut BytesMut) -> io::Result<Option<IpAddr>> {
    loop {
        match proxy_protocol::parse(bytes).map_err(|bad| io::Error::new(io::ErrorKind::InvalidData, bad))? {
            Parsed::Header { length, client } => {
                drop(bytes.split_to(length));
                return Ok(client);
            }
            Parsed::Incomplete => more(stream, bytes).await?,
        }
    }
}

async fn more(stream: &mut TcpStream, bytes: &mut BytesMut) -> io::Result<()> {
    match stream.read_buf(bytes).await? {
        0 => Err(io::ErrorKind::UnexpectedEof.into()),
        _ => Ok(()),
    }
}

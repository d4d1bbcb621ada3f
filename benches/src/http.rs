//! As little HTTP as a client can do with: whole requests out, whole answers in, one at a time.
//!
//! The client shares the machine with what it measures, so it must cost less than a real one. It is no client for
//! anything else: no redirects, no TLS, and of a chunked body only its end is known.

use std::io;
use std::net::SocketAddr;

use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;

pub struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
}

#[derive(Debug)]
pub struct Answer<'a> {
    pub status: u16,
    pub body: &'a [u8],
}

impl Answer<'_> {
    pub fn text(&self) -> String {
        String::from_utf8_lossy(self.body).into_owned()
    }
}

impl Connection {
    pub async fn open(address: SocketAddr) -> io::Result<Self> {
        let stream = TcpStream::connect(address).await?;
        stream.set_nodelay(true)?;
        Ok(Self { stream, buffer: Vec::with_capacity(16 << 10) })
    }

    /// A header of the answer.
    pub async fn header(&mut self, request: &[u8], name: &str) -> io::Result<String> {
        self.exchange(request).await?;
        let head = String::from_utf8_lossy(&self.buffer).to_ascii_lowercase();
        let value = head.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'));
        value.map(|value| value.trim().to_owned()).ok_or_else(|| io::Error::other(format!("no `{name}`")))
    }

    pub async fn exchange(&mut self, request: &[u8]) -> io::Result<Answer<'_>> {
        self.stream.write_all(request).await?;
        self.buffer.clear();
        let mut head = None;
        let Head { status, begin, end } = loop {
            if self.stream.read_buf(&mut self.buffer).await? == 0 {
                return Err(io::ErrorKind::UnexpectedEof.into());
            }
            if head.is_none() {
                head = Head::of(&self.buffer)?;
            }
            match head {
                Some(head) if head.end == CHUNKED && !self.buffer.ends_with(LAST_CHUNK) => {}
                Some(head) if head.end == CHUNKED => break Head { end: self.buffer.len(), ..head },
                Some(head) if self.buffer.len() >= head.end => break head,
                _ => {}
            }
        };
        Ok(Answer { status, body: self.buffer.get(begin..end).unwrap_or_default() })
    }
}

/// An end that is not known from the headers.
const CHUNKED: usize = usize::MAX;
const LAST_CHUNK: &[u8] = b"\r\n0\r\n\r\n";

/// Where the body is, once the headers have arrived.
#[derive(Clone, Copy)]
struct Head {
    status: u16,
    begin: usize,
    end: usize,
}

impl Head {
    fn of(buffer: &[u8]) -> io::Result<Option<Self>> {
        const END: &[u8] = b"\r\n\r\n";
        let Some(length) = buffer.windows(END.len()).position(|window| window == END) else { return Ok(None) };
        let text = std::str::from_utf8(buffer.get(..length).unwrap_or_default()).map_err(io::Error::other)?;
        let mut lines = text.split("\r\n");
        let status = lines.next().and_then(|line| line.split(' ').nth(1)).and_then(|status| status.parse().ok());
        let size = lines.find_map(|line| {
            let (name, value) = line.split_once(':')?;
            match name.to_ascii_lowercase().as_str() {
                "content-length" => value.trim().parse::<usize>().ok(),
                "transfer-encoding" => Some(CHUNKED),
                _ => None,
            }
        });
        let (Some(status), Some(size)) = (status, size) else {
            return Err(io::Error::other("an answer without a status or a length"));
        };
        let begin = length + END.len();
        Ok(Some(Self { status, begin, end: begin.saturating_add(size) }))
    }
}

/// A request, ready to be sent any number of times.
pub struct Request<'a> {
    pub method: &'a str,
    pub path: &'a str,
    pub key: Option<&'a str>,
    pub content_type: Option<&'a str>,
    pub body: &'a [u8],
}

impl Request<'_> {
    pub fn bytes(&self, address: SocketAddr) -> Vec<u8> {
        self.with_headers(&[], address)
    }

    pub fn with_headers(&self, headers: &[(&str, &str)], address: SocketAddr) -> Vec<u8> {
        let mut head = format!("{} {} HTTP/1.1\r\nHost: {address}\r\n", self.method, self.path);
        if let Some(key) = self.key {
            head.push_str(&format!("Authorization: Bearer {key}\r\n"));
        }
        if let Some(content_type) = self.content_type {
            head.push_str(&format!("Content-Type: {content_type}\r\n"));
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        head.push_str(&format!("Content-Length: {}\r\n\r\n", self.body.len()));
        let mut bytes = head.into_bytes();
        bytes.extend_from_slice(self.body);
        bytes
    }
}

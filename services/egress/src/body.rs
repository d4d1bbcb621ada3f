//! The body of an answer: read, decompressed and counted as it comes, and given up as soon as it is too much.

use std::io::{self, Write};

use bytes::Bytes;
use flate2::write::{DeflateDecoder, MultiGzDecoder, ZlibDecoder};
use http::HeaderMap;
use http::header::CONTENT_ENCODING;
use http_body_util::BodyExt;
use hyper::body::{Body, Incoming};

use crate::error::EgressError;

/// Beyond the first bytes, nothing honest compresses better.
const RATIO: usize = 20;
const RATIO_FREE: usize = 64 << 10;

/// How a body is compressed, as far as we undo it.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Encoding {
    /// Not, or in a way that we did not ask for: passed on as it is.
    Other,
    Gzip,
    Deflate,
}

impl Encoding {
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        let mut named = headers.get_all(CONTENT_ENCODING).iter();
        match (named.next().map(|value| value.as_bytes().to_ascii_lowercase()).as_deref(), named.next()) {
            (Some(b"gzip" | b"x-gzip"), None) => Self::Gzip,
            (Some(b"deflate"), None) => Self::Deflate,
            _ => Self::Other,
        }
    }
}

pub(crate) async fn read(mut body: Incoming, encoding: Encoding, limit: usize) -> Result<Bytes, EgressError> {
    if body.size_hint().lower() > limit as u64 {
        return Err(EgressError::TooLarge);
    }
    let mut decoder = None;
    while let Some(frame) = body.frame().await {
        let frame = frame.map_err(|error| EgressError::behind(&error))?;
        let Ok(chunk) = frame.into_data() else { continue };
        let Some(first) = chunk.first() else { continue };
        let decoder = decoder.get_or_insert_with(|| Decoder::new(encoding, *first, limit));
        decoder.take(&chunk).map_err(|error| refused(&error))?;
    }
    match decoder {
        // The answer to a `HEAD` names an encoding and has no body.
        None => Ok(Bytes::new()),
        Some(decoder) => decoder.finish().map_err(|error| refused(&error)),
    }
}

fn refused(error: &io::Error) -> EgressError {
    match error.kind() {
        io::ErrorKind::FileTooLarge => EgressError::TooLarge,
        _ => EgressError::Failed("the body of the answer is not compressed as its headers say".to_owned()),
    }
}

enum Decoder {
    Plain(Counted),
    Gzip(MultiGzDecoder<Counted>),
    Zlib(ZlibDecoder<Counted>),
    Deflate(DeflateDecoder<Counted>),
}

impl Decoder {
    fn new(encoding: Encoding, first: u8, limit: usize) -> Self {
        let sink = Counted { bytes: Vec::new(), limit, compressed: 0, is_compressed: encoding != Encoding::Other };
        match encoding {
            Encoding::Other => Self::Plain(sink),
            Encoding::Gzip => Self::Gzip(MultiGzDecoder::new(sink)),
            // `deflate` means the zlib format (RFC 9110, 8.4.1.2); some servers send it bare.
            Encoding::Deflate if first & 0x0f == 8 => Self::Zlib(ZlibDecoder::new(sink)),
            Encoding::Deflate => Self::Deflate(DeflateDecoder::new(sink)),
        }
    }

    fn take(&mut self, chunk: &[u8]) -> io::Result<()> {
        let sink = match self {
            Self::Plain(sink) => sink,
            Self::Gzip(decoder) => decoder.get_mut(),
            Self::Zlib(decoder) => decoder.get_mut(),
            Self::Deflate(decoder) => decoder.get_mut(),
        };
        sink.compressed += chunk.len();
        match self {
            Self::Plain(sink) => sink.write_all(chunk),
            Self::Gzip(decoder) => decoder.write_all(chunk),
            Self::Zlib(decoder) => decoder.write_all(chunk),
            Self::Deflate(decoder) => decoder.write_all(chunk),
        }
    }

    fn finish(self) -> io::Result<Bytes> {
        let sink = match self {
            Self::Plain(sink) => sink,
            Self::Gzip(decoder) => decoder.finish()?,
            Self::Zlib(decoder) => decoder.finish()?,
            Self::Deflate(decoder) => decoder.finish()?,
        };
        Ok(sink.bytes.into())
    }
}

/// Takes no more than is allowed in all, and of a compressed body no more than its size makes likely.
struct Counted {
    bytes: Vec<u8>,
    limit: usize,
    compressed: usize,
    is_compressed: bool,
}

impl Write for Counted {
    fn write(&mut self, chunk: &[u8]) -> io::Result<usize> {
        let size = self.bytes.len() + chunk.len();
        let likely = RATIO_FREE.max(self.compressed.saturating_mul(RATIO));
        if size > self.limit || (self.is_compressed && size > likely) {
            return Err(io::ErrorKind::FileTooLarge.into());
        }
        self.bytes.extend_from_slice(chunk);
        Ok(chunk.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

//! Standard output and error of a guest: bounded, and never an error to the guest (the ready-made memory pipe fails
//! when full, and a guest that cannot print its panic dies without a word).
//!
//! Streams live in WASI's resource table, away from the host calls; what was written waits here as lines until the
//! next host call or epoch tick takes it into the log.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use pleat_domain::{CallLimits, LogLevel};
use tokio::io::AsyncWrite;
use wasmtime_wasi::async_trait;
use wasmtime_wasi::cli::{IsTerminal, StdoutStream};
use wasmtime_wasi::p2::{OutputStream, Pollable, StreamResult};

/// How much of the end of stderr is kept for the failure.
const ERROR_TAIL: usize = 16 << 10;
/// The most that a guest may write at once.
const PERMIT: usize = 64 << 10;

#[derive(Clone)]
pub(crate) struct Stdio(Arc<Mutex<Buffers>>);

struct Buffers {
    lines: Vec<(LogLevel, Vec<u8>)>,
    output: Partial,
    error: Partial,
    error_tail: Vec<u8>,
    /// Bytes that may still become lines.
    room: usize,
    line_bytes: usize,
    overflowed: bool,
}

#[derive(Default)]
struct Partial {
    bytes: Vec<u8>,
    /// The line is longer than a line may be; what follows is dropped.
    full: bool,
}

/// What has been written since the last look.
pub(crate) struct Written {
    pub(crate) lines: Vec<(LogLevel, Vec<u8>)>,
    /// More was written than a log holds.
    pub(crate) overflowed: bool,
}

impl Stdio {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self(Arc::new(Mutex::new(Buffers {
            lines: Vec::new(),
            output: Partial::default(),
            error: Partial::default(),
            error_tail: Vec::new(),
            room: limits.log_bytes,
            line_bytes: limits.log_line_bytes,
            overflowed: false,
        })))
    }

    pub(crate) fn output(&self) -> Stream {
        Stream { stdio: self.clone(), level: LogLevel::Info }
    }

    pub(crate) fn error(&self) -> Stream {
        Stream { stdio: self.clone(), level: LogLevel::Warn }
    }

    /// Finished lines; `None` when there is nothing.
    pub(crate) fn take_lines(&self) -> Option<Written> {
        let mut buffers = self.lock();
        if buffers.lines.is_empty() && !buffers.overflowed {
            return None;
        }
        let overflowed = std::mem::take(&mut buffers.overflowed);
        Some(Written { lines: std::mem::take(&mut buffers.lines), overflowed })
    }

    /// The last line of each stream need not end in a line break.
    pub(crate) fn finish(&self) {
        let mut buffers = self.lock();
        buffers.end_line(LogLevel::Info);
        buffers.end_line(LogLevel::Warn);
    }

    /// The end of what was written to stderr.
    pub(crate) fn error_tail(&self) -> String {
        String::from_utf8_lossy(&self.lock().error_tail).into_owned()
    }

    fn lock(&self) -> MutexGuard<'_, Buffers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Buffers {
    fn write(&mut self, level: LogLevel, bytes: &[u8]) {
        if level == LogLevel::Warn {
            self.keep_tail(bytes);
        }
        let mut rest = bytes;
        while let Some(end) = rest.iter().position(|byte| *byte == b'\n') {
            let (line, after) = rest.split_at(end);
            self.extend(level, line);
            self.end_line(level);
            rest = after.get(1..).unwrap_or_default();
        }
        self.extend(level, rest);
    }

    fn partial(&mut self, level: LogLevel) -> &mut Partial {
        if level == LogLevel::Warn { &mut self.error } else { &mut self.output }
    }

    fn extend(&mut self, level: LogLevel, bytes: &[u8]) {
        let line_bytes = self.line_bytes;
        let partial = self.partial(level);
        // One byte more than is shown, so that the log can tell that something was cut.
        let kept = bytes.len().min((line_bytes + 1).saturating_sub(partial.bytes.len()));
        partial.full |= kept < bytes.len();
        partial.bytes.extend_from_slice(bytes.get(..kept).unwrap_or_default());
    }

    fn end_line(&mut self, level: LogLevel) {
        let Partial { bytes, full } = std::mem::take(self.partial(level));
        if bytes.is_empty() && !full {
            return;
        }
        if bytes.len() > self.room {
            self.room = 0;
            self.overflowed = true;
        } else {
            self.room -= bytes.len();
            self.lines.push((level, bytes));
        }
    }

    fn keep_tail(&mut self, bytes: &[u8]) {
        self.error_tail.extend_from_slice(bytes);
        if self.error_tail.len() > 2 * ERROR_TAIL {
            let surplus = self.error_tail.len() - ERROR_TAIL;
            self.error_tail.drain(..surplus);
        }
    }
}

/// One of the two streams.
#[derive(Clone)]
pub(crate) struct Stream {
    stdio: Stdio,
    level: LogLevel,
}

impl IsTerminal for Stream {
    fn is_terminal(&self) -> bool {
        false
    }
}

impl StdoutStream for Stream {
    /// Asked for by WASI 0.3 only, which is not linked.
    fn async_stream(&self) -> Box<dyn AsyncWrite + Send + Sync> {
        Box::new(tokio::io::sink())
    }

    fn p2_stream(&self) -> Box<dyn OutputStream> {
        Box::new(self.clone())
    }
}

#[async_trait]
impl Pollable for Stream {
    async fn ready(&mut self) {}
}

#[async_trait]
impl OutputStream for Stream {
    fn write(&mut self, bytes: Bytes) -> StreamResult<()> {
        self.stdio.lock().write(self.level, &bytes);
        Ok(())
    }

    fn flush(&mut self) -> StreamResult<()> {
        Ok(())
    }

    fn check_write(&mut self) -> StreamResult<usize> {
        Ok(PERMIT)
    }
}

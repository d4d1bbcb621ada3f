//! How much a call may log. Cuts, escapes and counts; says so once when the rest is dropped.

use pleat_domain::CallLimits;

use crate::text;

/// What an empty line costs: without it, lines without text would be free.
const LINE_OVERHEAD: usize = 16;

pub(crate) struct Logbook {
    line_bytes: usize,
    most: usize,
    left: usize,
    closed: bool,
}

impl Logbook {
    pub(crate) fn new(limits: &CallLimits) -> Self {
        Self { line_bytes: limits.log_line_bytes, most: limits.log_bytes, left: limits.log_bytes, closed: false }
    }

    /// The line as it may be logged, or nothing once the log is full.
    pub(crate) fn admit(&mut self, line: &str) -> Option<String> {
        if self.closed {
            return None;
        }
        let kept = text::cut(line, self.line_bytes);
        let cost = kept.len() + LINE_OVERHEAD;
        if cost > self.left {
            return self.close();
        }
        self.left -= cost;
        let mut message = text::escaped(kept).into_owned();
        if kept.len() < line.len() {
            message.push_str(&format!("… (cut: {} more bytes)", line.len() - kept.len()));
        }
        Some(message)
    }

    /// Ends the log with the line that says why.
    pub(crate) fn close(&mut self) -> Option<String> {
        let first = !self.closed;
        self.closed = true;
        first.then(|| format!("the rest of the log was dropped: a call may log {}", text::bytes(self.most)))
    }
}

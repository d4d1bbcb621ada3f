//! What is printed and where: data to stdout, talk to stderr. The only place that writes to either.

mod table;

use std::io::{IsTerminal, Write};

use serde_json::Value;

pub use table::Table;

/// How this run prints.
#[derive(Debug, Clone, Copy)]
pub struct Output {
    json: bool,
    quiet: bool,
    terminal: bool,
}

impl Output {
    pub fn new(json: bool, quiet: bool) -> Self {
        Self { json, quiet, terminal: std::io::stdout().is_terminal() }
    }

    pub const fn json(&self) -> bool {
        self.json
    }

    /// A person is looking, so that indentation and cleaning are worth it.
    pub const fn terminal(&self) -> bool {
        self.terminal
    }

    /// Data: a line, or several.
    pub fn line(&self, text: &str) -> std::io::Result<()> {
        self.piece(&format!("{text}\n"))
    }

    /// Data as it comes, without a line's end.
    pub fn piece(&self, text: &str) -> std::io::Result<()> {
        let mut stdout = std::io::stdout().lock();
        if self.terminal {
            stdout.write_all(clean(text).as_bytes())?;
        } else {
            stdout.write_all(text.as_bytes())?;
        }
        stdout.flush()
    }

    /// One document: indented for a person, on one line for a program.
    pub fn document(&self, value: &Value) -> std::io::Result<()> {
        if self.terminal { self.line(&format!("{value:#}")) } else { self.row(value) }
    }

    /// One document of a stream: always one line.
    pub fn row(&self, value: &Value) -> std::io::Result<()> {
        self.line(&value.to_string())
    }

    /// Talk. That stderr is closed is no reason to fail.
    pub fn note(&self, text: &str) {
        if !self.quiet {
            self.complain(&clean(text));
        }
    }

    /// An error: said even when quiet.
    pub fn complain(&self, text: &str) {
        let _ = writeln!(std::io::stderr().lock(), "{text}");
    }
}

/// Text of others may carry escape sequences that would repaint the terminal or hide what was said.
pub fn clean(text: &str) -> String {
    let safe = |character: char| match character {
        '\n' | '\t' => character,
        hidden if hidden.is_control() => '\u{fffd}',
        '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' => '\u{fffd}',
        other => other,
    };
    text.chars().map(safe).collect()
}

/// A time of the API (`2026-11-16T02:04:05.678Z`) to the second, as people read it.
pub fn moment(time: Option<&str>) -> String {
    let Some(time) = time else { return "-".to_owned() };
    let whole = time.split(['.', 'Z']).next().unwrap_or(time);
    whole.replacen('T', " ", 1)
}

/// The first line of a text, short enough for a table.
pub fn excerpt(text: &str, most: usize) -> String {
    let first = text.lines().next().unwrap_or_default();
    if first.chars().count() <= most {
        return first.to_owned();
    }
    let kept: String = first.chars().take(most.saturating_sub(1)).collect();
    kept + "…"
}

/// Bytes as people read them.
pub fn size(bytes: usize) -> String {
    match bytes {
        0..=1023 => format!("{bytes} B"),
        1024..=1_048_575 => format!("{:.1} KiB", bytes as f64 / 1024.0),
        _ => format!("{:.1} MiB", bytes as f64 / 1_048_576.0),
    }
}

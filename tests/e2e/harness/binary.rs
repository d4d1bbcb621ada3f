//! The real binary, run as people and scripts run it: with an environment of its own, and never for ever.

use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use serde_json::Value;
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, Lines};
use tokio::process::{Child, ChildStdout, Command};

/// A first deploy of a script on a busy machine takes a while.
const PATIENCE: Duration = Duration::from_secs(120);

/// What a command left behind.
#[derive(Debug)]
pub struct Ran {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Ran {
    /// Panics unless it went well.
    #[track_caller]
    pub fn ok(self) -> Self {
        assert_eq!(self.code, 0, "{self:?}");
        self
    }

    /// Panics unless it ended with this exit code and left no data.
    #[track_caller]
    pub fn failed(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        assert_eq!(self.stdout, "", "data of a failed command: {self:?}");
        self
    }

    /// The one JSON document on stdout, which has nothing else on it.
    #[track_caller]
    pub fn json(&self) -> Value {
        assert_eq!(self.stdout.lines().count(), 1, "one document on one line: {self:?}");
        serde_json::from_str(&self.stdout).unwrap_or_else(|error| panic!("{error}: {self:?}"))
    }

    /// One document a line.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        let row = |line| serde_json::from_str(line).unwrap_or_else(|error| panic!("{error}: {self:?}"));
        self.stdout.lines().map(row).collect()
    }

    /// Panics unless stderr says all of these.
    #[track_caller]
    pub fn says(self, words: &[&str]) -> Self {
        for word in words {
            assert!(self.stderr.contains(word), "`{word}` is missing: {self:?}");
        }
        self
    }
}

/// `pleat ARGUMENTS` in `directory`. Nothing of the tests' own environment reaches it.
pub fn command(directory: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(super::pleat());
    without_our_environment(command.as_std_mut());
    command.args(arguments).current_dir(directory).stdin(Stdio::null()).kill_on_drop(true);
    command
}

/// What the machine or the tests are set to is not what a test is about.
pub fn without_our_environment(command: &mut std::process::Command) {
    for (name, _) in std::env::vars_os() {
        let text = name.to_string_lossy();
        let ours = ["PLEAT_", "PG", "OTEL_"].iter().any(|prefix| text.starts_with(prefix));
        if ours || text == "DATABASE_URL" || text == "RUST_LOG" {
            command.env_remove(&name);
        }
    }
}

pub async fn run(command: &mut Command) -> Ran {
    run_with(command, None).await
}

/// Runs to the end, with `input` on its stdin.
pub async fn run_with(command: &mut Command, input: Option<&[u8]>) -> Ran {
    run_within(command, input, PATIENCE).await
}

pub async fn run_within(command: &mut Command, input: Option<&[u8]>, patience: Duration) -> Ran {
    command.stdout(Stdio::piped()).stderr(Stdio::piped());
    if input.is_some() {
        command.stdin(Stdio::piped());
    }
    let mut child = command.spawn().expect("the binary runs");
    if let (Some(mut stdin), Some(input)) = (child.stdin.take(), input) {
        stdin.write_all(input).await.expect("it reads its input");
    }
    let output = tokio::time::timeout(patience, child.wait_with_output()).await;
    let output = output.unwrap_or_else(|_| panic!("{command:?} does not end")).expect("it can be waited for");
    Ran {
        code: output.status.code().unwrap_or(-1),
        stdout: String::from_utf8(output.stdout).expect("UTF-8"),
        stderr: String::from_utf8(output.stderr).expect("UTF-8"),
    }
}

/// A command that goes on while others run; ended when dropped.
pub struct Background {
    child: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Background {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().expect("the binary runs");
        let lines = BufReader::new(child.stdout.take().expect("piped")).lines();
        Self { child, lines }
    }

    /// The next line of its data, as it comes.
    pub async fn line(&mut self) -> String {
        let line = tokio::time::timeout(PATIENCE, self.lines.next_line()).await.expect("a line in time");
        line.expect("UTF-8").expect("a line before its end")
    }

    /// The exit code, once it has ended by itself.
    pub async fn ended(mut self) -> i32 {
        let status = tokio::time::timeout(PATIENCE, self.child.wait()).await.expect("it ends");
        status.expect("it can be waited for").code().unwrap_or(-1)
    }
}

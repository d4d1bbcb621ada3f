//! The server process of the private cluster: found running, started, restarted, stopped.
//!
//! It leads a process group of its own, so that Ctrl-C in the terminal reaches pleat alone and work can drain
//! first. It does not die with a killed pleat: the next start finds it by its socket and uses it.
//! Must not start a second server on one cluster; Postgres' own lock file sees to that, and is respected.

use std::fs::File;
use std::io::{Read, Seek, SeekFrom};
use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use sqlx::{Connection, PgConnection};
use tokio::process::Child;
use tokio::time::{Instant, sleep, timeout};

use super::binaries::Programs;
use super::command::{last_lines, run};
use super::error::EmbeddedError;
use super::home::Home;
use super::lock_file;
use super::probe::{Answer, DATABASE, ask, over_socket};
use super::settings;

/// A killed server's lock file counts as held until the dead process is reaped: up to 4.4 s were seen.
const QUIET: Duration = Duration::from_secs(15);
/// Replaying up to 2 GB of log after a crash takes a while, and Postgres says meanwhile that it is alive.
const RECOVERY: Duration = Duration::from_secs(300);
const POLL: Duration = Duration::from_millis(20);
const BETWEEN_ATTEMPTS: Duration = Duration::from_millis(200);
const STOP: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(super) struct Server {
    pub(super) home: Home,
    pub(super) programs: Programs,
    pub(super) socket: PathBuf,
    durable: bool,
    /// Ours to reap; a server found running is nobody's child.
    child: Option<Child>,
    attempted: Option<Instant>,
    /// Where in the log the last attempt's words begin.
    log_from: u64,
}

impl Server {
    pub(super) fn new(home: Home, programs: Programs, durable: bool) -> Result<Self, EmbeddedError> {
        let usual = home.socket_directory()?;
        // One that still runs may have been given another directory (XDG_RUNTIME_DIR differs between sessions).
        let socket = lock_file::socket_directory(&home.data()).filter(|path| path.is_dir()).unwrap_or(usual);
        Ok(Self { home, programs, socket, durable, child: None, attempted: None, log_from: 0 })
    }

    /// Whether a server of an earlier pleat answers already.
    pub(super) async fn answers(&self) -> bool {
        !matches!(ask(&over_socket(&self.socket, DATABASE)).await, Answer::Silent)
    }

    /// Returns when the database answers, starting the server as often as that takes within the bounds.
    pub(super) async fn ensure(&mut self) -> Result<PgConnection, EmbeddedError> {
        let begun = Instant::now();
        let mut last_sign = begun;
        let mut up = false;
        loop {
            match ask(&over_socket(&self.socket, DATABASE)).await {
                Answer::Ready(connection) => return Ok(connection),
                Answer::Refused(source) => return Err(EmbeddedError::Refused { source }),
                Answer::NoDatabase => self.create_database().await?,
                Answer::Starting => {
                    up = true;
                    last_sign = Instant::now();
                }
                Answer::Silent => self.start_if_down(up)?,
            }
            if last_sign.elapsed() > QUIET || begun.elapsed() > RECOVERY {
                return Err(EmbeddedError::Silent { seconds: begun.elapsed().as_secs(), log: self.home.log() });
            }
            sleep(POLL).await;
        }
    }

    /// Stops the server and waits: first letting it write a checkpoint, then at once.
    pub(super) async fn stop(&mut self) -> Result<(), EmbeddedError> {
        for mode in ["fast", "immediate"] {
            if !lock_file::path(&self.home.data()).exists() {
                break;
            }
            let mut stop = self.home.run_as.command(&self.programs.program("pg_ctl"));
            stop.args(["stop", "--silent", "--wait", "--timeout", "15", "--mode", mode, "-D"]).arg(self.home.data());
            if let Err(error) = run(stop, STOP).await {
                tracing::warn!(error = %error, mode, "postgres did not stop when asked");
            }
        }
        if let Some(mut child) = self.child.take() {
            // Reaped here; still there only if both modes failed.
            let _ = timeout(STOP, child.wait()).await;
        }
        if lock_file::path(&self.home.data()).exists() && self.answers().await {
            return Err(EmbeddedError::NotStopped { log: self.home.log() });
        }
        Ok(())
    }

    fn start_if_down(&mut self, was_up: bool) -> Result<(), EmbeddedError> {
        if let Some(child) = &mut self.child {
            // Asking also reaps it, without which its lock file would count as held.
            let Ok(Some(status)) = child.try_wait() else { return Ok(()) };
            self.child = None;
            let output = self.said();
            // Killed, or in the way of a server that is just going: worth another try. A bad setting is not.
            if status.code().is_some_and(|code| code != 0) && !was_up && !is_passing(&output) {
                return Err(EmbeddedError::NotStarted { output: last_lines(&output, 3) });
            }
        }
        if self.attempted.is_some_and(|attempt| attempt.elapsed() < BETWEEN_ATTEMPTS) {
            return Ok(());
        }
        self.start()
    }

    fn start(&mut self) -> Result<(), EmbeddedError> {
        lock_file::remove_if_foreign(&self.home.data(), &self.socket);
        let path = self.home.log();
        let first = self.attempted.is_none();
        let mut options = File::options();
        options.create(true).append(true);
        let log = options.open(&path).map_err(EmbeddedError::file(&path))?;
        if first {
            log.set_len(0).map_err(EmbeddedError::file(&path))?;
        }
        self.log_from = log.metadata().map_or(0, |metadata| metadata.len());
        let errors = log.try_clone().map_err(EmbeddedError::file(&path))?;
        let program = self.programs.program("postgres");
        let mut postgres = self.home.run_as.command(&program);
        postgres.arg("-D").arg(self.home.data()).args(settings::arguments(&self.socket, self.durable));
        postgres.stdin(Stdio::null()).stdout(log).stderr(errors).process_group(0);
        self.attempted = Some(Instant::now());
        let spawned = postgres.spawn();
        self.child =
            Some(spawned.map_err(|source| EmbeddedError::Spawn { program: program.display().to_string(), source })?);
        Ok(())
    }

    async fn create_database(&self) -> Result<(), EmbeddedError> {
        let Answer::Ready(mut connection) = ask(&over_socket(&self.socket, "postgres")).await else { return Ok(()) };
        let made = sqlx::query("CREATE DATABASE pleat").execute(&mut connection).await;
        // Losing the connection afterwards loses nothing.
        let _ = connection.close().await;
        made.map(drop).map_err(|source| EmbeddedError::Refused { source })
    }

    /// What the last attempt wrote.
    fn said(&self) -> String {
        let mut text = Vec::new();
        if let Ok(mut log) = File::open(self.home.log())
            && log.seek(SeekFrom::Start(self.log_from)).is_ok()
        {
            // A log that cannot be read leaves the reason empty, which counts as passing.
            let _ = log.take(64 * 1024).read_to_end(&mut text);
        }
        String::from_utf8_lossy(&text).into_owned()
    }
}

/// Whether the reason a start failed goes away by itself. The server speaks English: it runs with `LC_ALL=C`.
fn is_passing(output: &str) -> bool {
    output.is_empty() || output.contains("lock file") || output.contains("shared memory block")
}

//! `pleat dev` and `pleat serve` as processes of their own.
//!
//! A first start takes long (database, examples), so it happens once; each test gets a copy of what it left.

use std::fs::File;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::process::{Child, ExitStatus};
use std::time::{Duration, Instant};

use serde_json::Value;
use tokio::process::Command;
use tokio::sync::OnceCell;

use super::binary::{self, Ran};
use super::project::{Project, signal};

const PATIENCE: Duration = Duration::from_secs(180);

/// A server process on a project: `pleat dev`, or `pleat serve`.
pub struct Server {
    /// Ended before the project is, which is the order of these fields.
    process: Process,
    pub project: Project,
}

struct Process {
    child: Child,
    note: PathBuf,
}

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        // Before the number can be another process's.
        let _ = std::fs::remove_file(&self.note);
    }
}

impl Server {
    /// Starts it without waiting for anything.
    pub fn spawn(project: Project, arguments: &[&str], environment: &[(&str, &str)]) -> Self {
        let mut command = binary::command(&project.path, arguments).into_std();
        command.envs(environment.iter().copied());
        command.stdout(File::create(project.path.join("stdout")).expect("a file"));
        command.stderr(File::create(project.path.join("stderr")).expect("a file"));
        let child = command.spawn().expect("the binary runs");
        let note = project.path.join("server.pid");
        std::fs::write(&note, child.id().to_string()).expect("a note for the watcher");
        Self { process: Process { child, note }, project }
    }

    pub fn spawn_dev(project: Project) -> Self {
        Self::spawn_dev_with(project, &[])
    }

    pub fn spawn_dev_with(project: Project, environment: &[(&str, &str)]) -> Self {
        let data_dir = project.data_dir().display().to_string();
        Self::spawn(project, &["dev", "--listen", "127.0.0.1:0", "--data-dir", &data_dir], environment)
    }

    pub fn id(&self) -> u32 {
        self.process.child.id()
    }

    /// Waits for something, as long as the server runs.
    pub async fn until<T>(&mut self, what: &str, look: impl Fn(&Project) -> Option<T>) -> T {
        let started = Instant::now();
        loop {
            if let Some(found) = look(&self.project) {
                return found;
            }
            let ended = self.process.child.try_wait().expect("it can be waited for");
            let late = started.elapsed() > PATIENCE;
            assert!(ended.is_none() && !late, "no {what}; {ended:?}\n{}", self.project.log());
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
    }

    pub fn signal(&self, name: &str) {
        signal(self.id(), name);
    }

    /// Its end, and how long that took.
    pub async fn ended(mut self) -> (Project, ExitStatus, Duration) {
        let started = Instant::now();
        while started.elapsed() < PATIENCE {
            if let Some(status) = self.process.child.try_wait().expect("it can be waited for") {
                return (self.project, status, started.elapsed());
            }
            tokio::time::sleep(Duration::from_millis(10)).await;
        }
        panic!("the server does not end\n{}", self.project.log());
    }
}

/// A running `pleat dev` that has said it is ready.
pub struct Dev {
    pub server: Server,
    /// Its `dev.json`.
    pub file: Value,
    pub ready_in: Duration,
}

impl Dev {
    pub async fn start(project: Project) -> Self {
        let started = Instant::now();
        let mut server = Server::spawn_dev(project);
        let process = server.id();
        let file = server.until("dev.json of this process", |project| {
            let text = std::fs::read(project.dev_file()).ok()?;
            let file: Value = serde_json::from_slice(&text).expect("whoever sees the file sees all of it");
            (file["pid"] == process).then_some(file)
        });
        Self { file: file.await, ready_in: started.elapsed(), server }
    }

    /// One for all tests that only talk to it.
    pub async fn shared() -> &'static Self {
        static SHARED: OnceCell<Dev> = OnceCell::const_new();
        SHARED.get_or_init(async || Self::start(Project::started_before().await).await).await
    }

    pub fn project(&self) -> &Project {
        &self.server.project
    }

    pub fn url(&self) -> &str {
        self.file["url"].as_str().expect("a URL")
    }

    pub fn key(&self, name: &str) -> &str {
        self.file[name].as_str().expect("a key")
    }

    /// A command that finds the server by itself.
    pub fn command(&self, arguments: &[&str]) -> Command {
        binary::command(&self.project().path, arguments)
    }

    pub async fn pleat(&self, arguments: &[&str]) -> Ran {
        self.project().pleat(arguments).await
    }

    /// What it printed at the start, to the last line.
    pub async fn greeting(&mut self) -> String {
        let whole = |project: &Project| Some(project.printed()).filter(|text| text.contains("pleat deploy"));
        self.server.until("greeting", whole).await
    }

    pub async fn stop(self, name: &str) -> (Project, ExitStatus, Duration) {
        self.server.signal(name);
        self.server.ended().await
    }
}

/// What is known of the one first start.
pub struct FirstStart {
    pub project: Project,
    pub file: Value,
    pub mode: u32,
    pub process: u32,
    pub greeting: String,
    /// A task that was answered.
    pub task: Value,
    pub status: ExitStatus,
    pub ready_in: Duration,
    pub stopped_in: Duration,
}

impl FirstStart {
    pub async fn get() -> &'static Self {
        static FIRST: OnceCell<FirstStart> = OnceCell::const_new();
        FIRST.get_or_init(Self::make).await
    }

    async fn make() -> Self {
        let mut dev = Dev::start(Project::new()).await;
        let greeting = dev.greeting().await;
        let mode = std::fs::metadata(dev.project().dev_file()).expect("dev.json").permissions().mode() & 0o777;
        let probe = super::root().join("tests/fixtures/probe.wasm");
        dev.pleat(&["deploy", "--name", "probe", probe.to_str().expect("UTF-8")]).await.ok();
        let call = ["call", "probe", r#"{"do":"echo","value":[1,"two"]}"#, "--via", "a2a", "--json"];
        let task = dev.pleat(&call).await.ok().json();
        let (file, process, ready_in) = (dev.file.clone(), dev.server.id(), dev.ready_in);
        let (project, status, stopped_in) = dev.stop("TERM").await;
        Self { project, file, mode, process, greeting, task, status, ready_in, stopped_in }
    }
}

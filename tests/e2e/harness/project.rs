//! A directory for one server process, which takes the server and its database down when the test ends, however
//! it ends.

use std::fs::Permissions;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Stdio};

use tokio::process::Command;
use tokio::sync::OnceCell;

use super::binary::{self, Ran};
use super::dev::FirstStart;

/// Ends what still runs on the directory, then removes it, when its stdin closes: with this process or before.
const WATCHER: &str = r#"
cat > /dev/null
server=$(cat "$1/server.pid" 2> /dev/null) && kill -KILL "$server" 2> /dev/null
home="$1/.pleat/postgres"
[ -e "$home/location" ] && home=$(cat "$home/location")
lock="$home/data/postmaster.pid"
postgres=$(head -n 1 "$lock" 2> /dev/null) && kill -QUIT "$postgres" 2> /dev/null || exec rm -rf "$1" "$home"
tries=0
while [ -e "$lock" ] && [ "$tries" -lt 200 ]; do sleep 0.05; tries=$((tries + 1)); done
rm -rf "$1" "$home"
"#;

/// A directory to work in, with the data directory `.pleat` inside it.
pub struct Project {
    pub path: PathBuf,
    watcher: Child,
    alive: Option<ChildStdin>,
}

impl Project {
    pub fn new() -> Self {
        // The account that runs Postgres has to pass.
        let mut builder = tempfile::Builder::new();
        let directory = builder.prefix("pleat-dev-").permissions(Permissions::from_mode(0o755)).tempdir();
        let path = directory.expect("a directory").keep().canonicalize().expect("it is there");
        let mut shell = std::process::Command::new("/bin/sh");
        shell.args(["-c", WATCHER, "sh"]).arg(&path).stdin(Stdio::piped());
        std::os::unix::process::CommandExt::process_group(&mut shell, 0);
        let mut watcher = shell.spawn().expect("a shell");
        let alive = watcher.stdin.take();
        Self { path, watcher, alive }
    }

    /// With the compiled code of all others that are made so: it is the same for every node of one build, and takes
    /// long to make.
    pub async fn with_code() -> Self {
        static CODE: OnceCell<Project> = OnceCell::const_new();
        let code = CODE.get_or_init(async || Self::new()).await.path.join("cache");
        std::fs::create_dir_all(&code).expect("a directory for code");
        let project = Self::new();
        std::fs::create_dir_all(project.data_dir()).expect("a data directory");
        std::os::unix::fs::symlink(code, project.data_dir().join("cache")).expect("a link to the code");
        project
    }

    /// A copy of what a first start left behind: database, examples, the `probe` and one answered task.
    pub async fn started_before() -> Self {
        let project = Self::new();
        let from = FirstStart::get().await.project.path.join(".pleat");
        let copied = Command::new("cp").arg("-a").arg(from).arg(&project.path).status().await;
        assert!(copied.expect("cp").success());
        project
    }

    pub fn data_dir(&self) -> PathBuf {
        self.path.join(".pleat")
    }

    pub fn dev_file(&self) -> PathBuf {
        self.data_dir().join("dev.json")
    }

    /// What the server has said on stderr so far.
    pub fn log(&self) -> String {
        std::fs::read_to_string(self.path.join("stderr")).unwrap_or_default()
    }

    /// What the server has printed so far.
    pub fn printed(&self) -> String {
        std::fs::read_to_string(self.path.join("stdout")).unwrap_or_default()
    }

    /// The process that the cluster's lock file names, if it runs.
    pub fn postgres(&self) -> Option<u32> {
        let own = self.data_dir().join("postgres");
        let home = std::fs::read_to_string(own.join("location")).map_or(own, |place| PathBuf::from(place.trim()));
        let lock = std::fs::read_to_string(home.join("data/postmaster.pid")).ok()?;
        lock.lines().next()?.trim().parse().ok().filter(|process| is_alive(*process))
    }

    /// Runs a command of the client here.
    pub async fn pleat(&self, arguments: &[&str]) -> Ran {
        binary::run(&mut binary::command(&self.path, arguments)).await
    }
}

impl Drop for Project {
    fn drop(&mut self) {
        drop(self.alive.take());
        let _ = self.watcher.wait();
    }
}

pub fn signal(process: u32, name: &str) {
    let sent = std::process::Command::new("/bin/sh").args(["-c", &format!("kill -{name} {process}")]).status();
    assert!(sent.expect("a shell").success(), "process {process} is there");
}

/// A process that ended and that nobody has waited for yet, as an orphan in a container, is not alive.
pub fn is_alive(process: u32) -> bool {
    if let Ok(stat) = std::fs::read_to_string(format!("/proc/{process}/stat")) {
        return !stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with(['Z', 'X']));
    }
    let asked = std::process::Command::new("/bin/sh").args(["-c", &format!("kill -0 {process} 2> /dev/null")]).status();
    asked.expect("a shell").success()
}

pub fn write(directory: &Path, name: &str, text: &str) -> String {
    let path = directory.join(name);
    std::fs::write(&path, text).expect("a file");
    path.display().to_string()
}

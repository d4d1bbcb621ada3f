//! Process sandbox: what a process that handles hostile input gives up, for good, before it looks at the input.
//!
//! Two independent layers. Landlock takes away the file system, TCP, abstract sockets and signals to others; seccomp takes
//! away every system call that is not on a list. A process that has entered cannot leave, and its threads inherit it.
//! The compile child uses it with nothing to read or write; a worker process names what it needs.

#[cfg(target_os = "linux")]
mod landlock;
mod report;
#[cfg(target_os = "linux")]
mod seccomp;
mod self_test;

use std::io;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

pub use self::report::{Attempt, SandboxReport};
pub(crate) use self::self_test::self_test;

/// How much of the sandbox a process must have.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum SandboxMode {
    /// Nothing is compiled unless every layer is in force.
    Required,
    /// Every layer that the kernel offers.
    #[default]
    Preferred,
    /// Resource limits only.
    Off,
}

/// What a process may still reach once it has entered.
#[derive(Debug, Clone, Default)]
pub(crate) struct Sandbox {
    /// Files, and directories with all that is below them, that may be read.
    pub(crate) read: Vec<PathBuf>,
    /// The same for reading and writing.
    pub(crate) write: Vec<PathBuf>,
}

/// The layers that are in force.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Layers {
    pub(crate) no_new_privileges: bool,
    pub(crate) not_dumpable: bool,
    /// The version of Landlock's interface; 0: none.
    pub(crate) landlock: i32,
    pub(crate) seccomp: bool,
}

impl Layers {
    /// Names of what is not in force.
    pub(crate) fn missing(self) -> Vec<&'static str> {
        let layers = [
            ("no_new_privs", self.no_new_privileges),
            ("non-dumpable", self.not_dumpable),
            ("landlock", self.landlock > 0),
            ("seccomp", self.seccomp),
        ];
        layers.into_iter().filter_map(|(name, in_force)| (!in_force).then_some(name)).collect()
    }
}

impl Sandbox {
    /// Enters, for this thread and all that it starts. Must be called while the process has only one thread.
    pub(crate) fn enter(&self, mode: SandboxMode) -> io::Result<Layers> {
        let mut layers = self.enter_files(mode);
        layers.seccomp = self.enter_calls(mode);
        require(mode, layers)
    }

    /// The first layer alone.
    fn enter_files(&self, mode: SandboxMode) -> Layers {
        if mode == SandboxMode::Off { Layers::default() } else { self.restrict_files() }
    }

    #[cfg(target_os = "linux")]
    fn restrict_files(&self) -> Layers {
        let not_dumpable = forbid_dumps().is_ok();
        let no_new_privileges = rustix::thread::set_no_new_privs(true).is_ok();
        let landlock = landlock::restrict(&self.read, &self.write).unwrap_or(0);
        Layers { no_new_privileges, not_dumpable, landlock, seccomp: false }
    }

    #[cfg(target_os = "linux")]
    fn restrict_calls(&self) -> bool {
        let opens_files = !(self.read.is_empty() && self.write.is_empty());
        seccomp::restrict(opens_files).is_ok()
    }

    /// Other systems have neither layer.
    #[cfg(not(target_os = "linux"))]
    fn restrict_files(&self) -> Layers {
        Layers::default()
    }

    #[cfg(not(target_os = "linux"))]
    fn restrict_calls(&self) -> bool {
        false
    }

    /// The second layer alone; whether it is in force.
    fn enter_calls(&self, mode: SandboxMode) -> bool {
        mode != SandboxMode::Off && self.restrict_calls()
    }
}

fn require(mode: SandboxMode, layers: Layers) -> io::Result<Layers> {
    let missing = layers.missing();
    if mode == SandboxMode::Required && !missing.is_empty() {
        let missing = missing.join(", ");
        return Err(io::Error::other(format!("the sandbox is required, and the kernel does not offer: {missing}")));
    }
    Ok(layers)
}

/// Makes this process unreadable for others of its account: no core dumps, no debugger, no view of its memory or
/// environment.
pub fn forbid_dumps() -> io::Result<()> {
    use rustix::process::{Resource, Rlimit, setrlimit};
    setrlimit(Resource::Core, Rlimit { current: Some(0), maximum: Some(0) })?;
    #[cfg(target_os = "linux")]
    rustix::process::set_dumpable_behavior(rustix::process::DumpableBehavior::NotDumpable)?;
    Ok(())
}

//! Self-test of the sandbox: a process enters it and tries what must not be possible, first with one layer in force, then
//! with all. `pleat doctor`, the start of a server and the tests look at the result.

use std::fs::File;
use std::io::{self, ErrorKind};
use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt;
use std::process::Command;

use super::report::{Attempt, SandboxReport};
use super::{Sandbox, SandboxMode};

type Try = fn() -> io::Result<()>;

/// What is tried, and whether Landlock covers it. Trying is harmless where it works.
const TRIES: [(&str, bool, Try); 10] = [
    ("read /etc/passwd", true, || File::open("/etc/passwd").map(drop)),
    ("read its own environment file", true, || File::open("/proc/self/environ").map(drop)),
    ("list a directory", true, || std::fs::read_dir("/").map(drop)),
    ("write a file", true, write_file),
    ("connect a TCP socket", false, || TcpStream::connect((Ipv4Addr::LOCALHOST, 9)).map(drop)),
    ("listen on a TCP port", false, || TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("make a UDP socket", false, || UdpSocket::bind((Ipv4Addr::LOCALHOST, 0)).map(drop)),
    ("make a Unix socket", false, || UnixStream::pair().map(drop)),
    ("start a process", false, || Command::new("/bin/true").status().map(drop)),
    ("signal its parent", false, signal_parent),
];

/// Enters the sandbox and tries to get out. `descriptors` were open when the process began.
pub(crate) fn self_test(mode: SandboxMode, descriptors: Vec<u32>) -> io::Result<SandboxReport> {
    let environment = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
    let sandbox = Sandbox::default();
    let mut layers = sandbox.enter_files(mode);
    let first: Vec<_> = TRIES.iter().map(|(_, covered, attempt)| covered.then(|| is_refused(&attempt()))).collect();
    layers.seccomp = sandbox.enter_calls(mode);
    super::require(mode, layers)?;
    let mut attempts: Vec<_> = TRIES
        .iter()
        .zip(first)
        .map(|((name, _, attempt), by_landlock)| Attempt {
            name: (*name).to_owned(),
            refused_by_landlock: by_landlock.filter(|_| layers.landlock > 0),
            refused: is_refused(&attempt()),
        })
        .collect();
    // Where this worked, nothing of ours would be left to say so.
    let is_restricted = layers.seccomp || layers.landlock > 0;
    let refused = is_restricted && is_refused(&Err(Command::new("/bin/true").exec()));
    attempts.push(Attempt { name: "become another program".to_owned(), refused_by_landlock: None, refused });
    Ok(SandboxReport { layers, attempts, environment, descriptors })
}

fn is_refused(result: &io::Result<()>) -> bool {
    result.as_ref().is_err_and(|error| error.kind() == ErrorKind::PermissionDenied)
}

fn write_file() -> io::Result<()> {
    let path = std::env::temp_dir().join(format!("pleat-sandbox-{}", std::process::id()));
    File::create_new(&path)?;
    std::fs::remove_file(path)
}

/// The signal that does nothing.
fn signal_parent() -> io::Result<()> {
    match rustix::process::getppid() {
        Some(parent) => Ok(rustix::process::test_kill_process(parent)?),
        None => Err(ErrorKind::NotFound.into()),
    }
}

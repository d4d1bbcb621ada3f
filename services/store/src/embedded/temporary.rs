//! A cluster that ends with the process that made it, for test harnesses.
//!
//! Statics are never dropped and a test process may be killed, so the end is watched from outside: a small shell
//! whose standard input closes when this process is gone. Must not be used on a cluster worth keeping.

use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{ChildStdin, Stdio};

use super::child_env;
use super::error::EmbeddedError;

const SCRIPT: &str = r#"
cat > /dev/null
process=$(head -n 1 "$1/data/postmaster.pid" 2> /dev/null) && kill -QUIT "$process" 2> /dev/null
tries=0
while [ -e "$1/data/postmaster.pid" ] && [ "$tries" -lt 100 ]; do sleep 0.1; tries=$((tries + 1)); done
rm -rf "$1" "$2"
"#;

/// Starts the watcher. The cluster in `home` is stopped and removed when the returned end of the pipe closes.
pub(super) fn end_with_this_process(home: &Path, socket: &Path) -> Result<ChildStdin, EmbeddedError> {
    let program = || "sh".to_owned();
    let mut shell = child_env::blocking("/bin/sh");
    shell.args(["-c", SCRIPT, "sh"]).arg(home).arg(socket);
    // In a group of its own: Ctrl-C ends the tests, and the watcher after them.
    shell.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null()).process_group(0);
    let child = shell.spawn().map_err(|source| EmbeddedError::Spawn { program: program(), source })?;
    child.stdin.ok_or_else(|| EmbeddedError::Missing { program: program() })
}

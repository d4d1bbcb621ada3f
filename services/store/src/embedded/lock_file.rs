//! Reading `postmaster.pid`, the file by which Postgres keeps two servers off one cluster.
//!
//! Must not remove it while its process could be a Postgres: then the cluster is in use.

use std::path::{Path, PathBuf};

pub(super) fn path(data: &Path) -> PathBuf {
    data.join("postmaster.pid")
}

/// Where the server that wrote the file put its socket (its fifth line).
pub(super) fn socket_directory(data: &Path) -> Option<PathBuf> {
    let text = std::fs::read_to_string(path(data)).ok()?;
    text.lines().nth(4).filter(|line| line.starts_with('/')).map(PathBuf::from)
}

/// Removes lock files whose process is something else by now.
///
/// Postgres sees to most stale files itself, but takes any process of its user with that id for a server. In a
/// container, where ids start over at each start, that may be one of our own threads, and would be for ever.
/// Only where `/proc` tells for sure; the shared memory of a server that does live still stops a second one.
pub(super) fn remove_if_foreign(data: &Path, socket: &Path) {
    let socket_lock = socket.join(".s.PGSQL.5432.lock");
    for file in [path(data), socket_lock] {
        let Ok(text) = std::fs::read_to_string(&file) else { continue };
        let Some(process) = text.lines().next().and_then(|line| line.trim().parse::<u32>().ok()) else { continue };
        let Ok(program) = std::fs::read_to_string(format!("/proc/{process}/comm")) else { continue };
        if !is_server(&program) {
            tracing::info!(process.id = process, "removing the lock file of a postgres that is gone");
            // Failing leaves Postgres to refuse with its own words.
            let _ = std::fs::remove_file(&file);
        }
    }
}

/// `postgres`, `postmaster`, and wrappers' names around them.
fn is_server(program: &str) -> bool {
    program.contains("postgres") || program.contains("postmaster")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_socket_directory_is_the_fifth_line() {
        let data = tempfile::tempdir().unwrap();
        assert_eq!(socket_directory(data.path()), None);
        std::fs::write(path(data.path()), "12\n/data\n1700000000\n5432\n/run/x\n\n  1 2\nready\n").unwrap();
        assert_eq!(socket_directory(data.path()), Some(PathBuf::from("/run/x")));
        std::fs::write(path(data.path()), "12\n/data\n1700000000\n5432\n\n").unwrap();
        assert_eq!(socket_directory(data.path()), None);
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_lock_file_of_another_program_is_removed_and_an_unknown_one_kept() {
        let data = tempfile::tempdir().unwrap();
        std::fs::write(path(data.path()), format!("{}\n", std::process::id())).unwrap();
        remove_if_foreign(data.path(), data.path());
        assert!(!path(data.path()).exists());
        std::fs::write(path(data.path()), "4194999\n").unwrap();
        remove_if_foreign(data.path(), data.path());
        assert!(path(data.path()).exists());
        assert!(is_server("postgres\n") && is_server(".postgres-wrapp\n"));
    }
}

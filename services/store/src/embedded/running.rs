//! Finding a private cluster that runs, from outside and without touching it.

use std::path::{Path, PathBuf};

use super::probe;

/// Which line of `postmaster.pid` names the directory of the socket.
const SOCKET_LINE: usize = 4;

/// Whether there is a private cluster for this data directory, and how to reach it if it runs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PrivateCluster {
    Missing,
    Stopped,
    Running { url: String },
}

/// Looks at files only: a server that was killed may be taken for running, and does not answer then.
pub fn private_cluster(data_dir: &Path) -> PrivateCluster {
    let own = data_dir.join("postgres");
    let home = match std::fs::read_to_string(own.join("location")) {
        Ok(location) if !own.join("data").exists() => PathBuf::from(location.trim()),
        _ => own,
    };
    let data = home.join("data");
    if !data.exists() {
        return PrivateCluster::Missing;
    }
    let status = std::fs::read_to_string(data.join("postmaster.pid")).unwrap_or_default();
    match status.lines().nth(SOCKET_LINE).filter(|socket| !socket.is_empty()) {
        Some(socket) => PrivateCluster::Running { url: probe::url(Path::new(socket)) },
        None => PrivateCluster::Stopped,
    }
}

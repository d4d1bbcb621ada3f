//! The limit on open files, which connections share with everything else of the process.

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// Kept free of connections: the database, stored files, outbound requests, compile children and the log.
const RESERVED: u64 = 512;

/// Raises the soft limit on open files to the hard one. Returns how many connections fit, `wanted` at most.
pub fn allow_connections(wanted: usize) -> usize {
    let limit = getrlimit(Resource::Nofile);
    let raised = Rlimit { current: limit.maximum, maximum: limit.maximum };
    if limit.current != limit.maximum
        && let Err(error) = setrlimit(Resource::Nofile, raised)
    {
        tracing::debug!(error = error.to_string(), "the limit on open files stays as it is");
    }
    let allowed = fitting(wanted, getrlimit(Resource::Nofile).current);
    if allowed < wanted {
        tracing::warn!(
            server.connections = wanted,
            allowed,
            "the limit on open files allows fewer connections; raise it (systemd: LimitNOFILE=65536)"
        );
    }
    allowed
}

fn fitting(wanted: usize, files: Option<u64>) -> usize {
    let Some(files) = files else { return wanted };
    // A small limit is shared, so that the server still answers.
    let room = files.saturating_sub(RESERVED).max(files / 4);
    wanted.min(usize::try_from(room).unwrap_or(usize::MAX)).max(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_leave_a_reserve_of_open_files() {
        for (files, expected) in [(Some(65_536), 8_192), (Some(4_096), 3_584), (Some(600), 150), (None, 8_192)] {
            assert_eq!(fitting(8_192, files), expected, "{files:?}");
        }
    }
}

//! How the private server is set up. On its command line, so that an old cluster follows a new pleat.
//!
//! Must not open a TCP port, and must not let statements or row values into the log.

use std::path::Path;

/// The arguments after `-D <data>`.
pub(super) fn arguments(socket: &Path, durable: bool) -> Vec<String> {
    // The directories are a comma-separated list; quotes keep an odd path one entry.
    let directory = format!("unix_socket_directories=\"{}\"", socket.display().to_string().replace('"', "\"\""));
    let mut settings = vec![directory];
    settings.extend(ALWAYS.iter().map(ToString::to_string));
    if !durable {
        settings.extend(FORGETFUL.iter().map(ToString::to_string));
    }
    settings.into_iter().flat_map(|setting| ["-c".to_owned(), setting]).collect()
}

const ALWAYS: [&str; 14] = [
    "listen_addresses=",
    "port=5432",
    "unix_socket_permissions=0700",
    "max_connections=100",
    "shared_buffers=128MB",
    "max_wal_size=2GB",
    "wal_compression=on",
    // Queries are short; compiling one costs more than running it.
    "jit=off",
    // Errors go to the client, which logs them once; the server's own log must not hold what tenants sent.
    "log_min_messages=log",
    "log_min_error_statement=panic",
    "log_error_verbosity=terse",
    "log_checkpoints=off",
    "log_destination=stderr",
    "logging_collector=off",
];

/// For tests: a power cut may cost the cluster. A killed server still may not, so commits are still written.
const FORGETFUL: [&str; 2] = ["fsync=off", "full_page_writes=off"];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_durable_server_syncs_and_never_listens_on_tcp() {
        let durable = arguments(Path::new("/a,\"b/run"), true);
        assert!(durable.contains(&"listen_addresses=".to_owned()));
        assert!(durable.contains(&"unix_socket_directories=\"/a,\"\"b/run\"".to_owned()));
        assert!(!durable.iter().any(|argument| argument.contains("=off") && argument.starts_with("fsync")));
        assert!(arguments(Path::new("/run"), false).contains(&"fsync=off".to_owned()));
    }
}

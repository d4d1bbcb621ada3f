//! Environment of the programs that the embedded Postgres needs: an allow-list, so that none of them sees the master
//! key, the database's password or any other secret of the platform.

use std::ffi::OsStr;

use tokio::process::Command;

/// Variables that every program may need. `PG*` is not among them: they would lead to somebody else's Postgres.
const COMMON: [&str; 9] = ["PATH", "HOME", "USER", "LOGNAME", "LANG", "LANGUAGE", "TZ", "TMPDIR", "LD_LIBRARY_PATH"];

/// Variables that lead npm and pip to the packages, beside the proxy's.
const PACKAGE_CLIENT: [&str; 15] = [
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "REQUESTS_CA_BUNDLE",
    "CURL_CA_BUNDLE",
    "NODE_EXTRA_CA_CERTS",
    "NPM_CONFIG_REGISTRY",
    "npm_config_registry",
    "NPM_CONFIG_CACHE",
    "npm_config_cache",
    "PIP_INDEX_URL",
    "PIP_EXTRA_INDEX_URL",
    "PIP_FIND_LINKS",
    "PIP_CERT",
    "PIP_DEFAULT_TIMEOUT",
    "PYENV_ROOT",
];
const PROXY: [&str; 4] = ["http_proxy", "https_proxy", "all_proxy", "no_proxy"];

/// A program with the variables of [`COMMON`] and the locale, and no others.
pub(super) fn command(program: impl AsRef<OsStr>) -> Command {
    Command::from(blocking(program))
}

/// npm or pip: also with what they need to reach the packages.
pub(super) fn package_client(program: impl AsRef<OsStr>) -> Command {
    Command::from(with(program.as_ref(), |name| {
        PACKAGE_CLIENT.contains(&name) || PROXY.contains(&name.to_ascii_lowercase().as_str())
    }))
}

/// The same as [`command`], for a process that nobody waits for.
pub(super) fn blocking(program: impl AsRef<OsStr>) -> std::process::Command {
    with(program.as_ref(), |_| false)
}

fn with(program: &OsStr, more: impl Fn(&str) -> bool) -> std::process::Command {
    let mut command = std::process::Command::new(program);
    let kept = std::env::vars_os().filter(|(name, _)| {
        name.to_str().is_some_and(|name| COMMON.contains(&name) || name.starts_with("LC_") || more(name))
    });
    command.env_clear().envs(kept);
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn environment_of_children_has_only_listed_variables() {
        // Cargo sets many for a test; a child has none of them.
        assert!(std::env::vars().any(|(name, _)| name.starts_with("CARGO_")));
        let said = package_client("env").output().await.unwrap();
        let text = String::from_utf8(said.stdout).unwrap();
        assert!(text.lines().any(|line| line.starts_with("PATH=")), "{text}");
        assert!(!text.contains("CARGO_"), "{text}");
    }
}

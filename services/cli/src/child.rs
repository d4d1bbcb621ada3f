//! Processes that the command line starts: with a cleared environment, so that none of them sees the master key, the
//! database's password or keys of the platform.

use std::ffi::{OsStr, OsString};
use std::process::Command;

/// Variables that every program may need.
const COMMON: [&str; 14] = [
    "PATH",
    "HOME",
    "USER",
    "LOGNAME",
    "LANG",
    "LANGUAGE",
    "TZ",
    "TERM",
    "TMPDIR",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "LD_LIBRARY_PATH",
    "XDG_CACHE_HOME",
    "XDG_CONFIG_HOME",
];
/// Variables of build tools, beside those that begin with one of [`BUILD_PREFIXES`].
const BUILD: [&str; 18] = [
    "HTTP_PROXY",
    "HTTPS_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "http_proxy",
    "https_proxy",
    "all_proxy",
    "no_proxy",
    "CC",
    "CXX",
    "AR",
    "LD",
    "CFLAGS",
    "CXXFLAGS",
    "LDFLAGS",
    "PYTHONPATH",
    "VIRTUAL_ENV",
    "MACOSX_DEPLOYMENT_TARGET",
];
const BUILD_PREFIXES: [&str; 4] = ["CARGO_", "PYENV_", "RUST", "SCCACHE_"];

/// A program with the variables of [`COMMON`] and the locale, and no others.
pub fn command(program: impl AsRef<OsStr>) -> Command {
    with(program.as_ref(), |_| false)
}

/// A build tool of the author: also with its own settings and the proxy, but without tokens.
pub fn build_tool(program: impl AsRef<OsStr>) -> Command {
    with(program.as_ref(), |name| {
        let is_setting = BUILD.contains(&name) || BUILD_PREFIXES.iter().any(|prefix| name.starts_with(prefix));
        is_setting && !name.contains("TOKEN") && !name.contains("CREDENTIAL")
    })
}

fn with(program: &OsStr, more: impl Fn(&str) -> bool) -> Command {
    let mut command = Command::new(program);
    command.env_clear().envs(kept(std::env::vars_os(), more));
    command
}

fn kept(
    variables: impl Iterator<Item = (OsString, OsString)>,
    more: impl Fn(&str) -> bool,
) -> impl Iterator<Item = (OsString, OsString)> {
    variables.filter(move |(name, _)| {
        name.to_str().is_some_and(|name| COMMON.contains(&name) || name.starts_with("LC_") || more(name))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn environment_of_children_has_no_secrets() {
        let given = ["PATH", "LC_ALL", "PLEAT_MASTER_KEY", "DATABASE_URL", "CARGO_HOME", "CARGO_REGISTRY_TOKEN"];
        let variables = || given.iter().map(|name| (OsString::from(name), OsString::from("x")));
        let names = |more: fn(&str) -> bool| -> Vec<_> { kept(variables(), more).map(|(name, _)| name).collect() };
        assert_eq!(names(|_| false), ["PATH", "LC_ALL"]);
        let command = build_tool("cargo");
        let passed: Vec<_> = command.get_envs().map(|(name, _)| name.to_string_lossy().into_owned()).collect();
        assert!(passed.contains(&"PATH".to_owned()), "{passed:?}");
        assert!(passed.iter().all(|name| !name.starts_with("PLEAT_") && name != "DATABASE_URL"), "{passed:?}");
        assert!(passed.iter().all(|name| !name.contains("TOKEN")), "{passed:?}");
    }
}

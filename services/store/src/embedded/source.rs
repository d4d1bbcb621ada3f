//! Choosing the programs: those of the existing cluster's version, the machine's, or fetched ones.
//!
//! Must not fetch while anything usable is here.

use std::path::Path;

use super::EmbeddedError;
use super::binaries::{self, Programs};
use super::command::reason;
use super::fetch;
use super::home::Home;
use super::packages;

/// Limits where the programs may come from; unset, every place is tried in order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    Anywhere,
    System,
    Npm,
    Pip,
}

impl Source {
    /// Reads `PLEAT_POSTGRES_SOURCE`.
    pub(super) fn from_environment() -> Result<Self, EmbeddedError> {
        match std::env::var("PLEAT_POSTGRES_SOURCE") {
            Ok(value) => Self::parse(&value),
            Err(_) => Ok(Self::Anywhere),
        }
    }

    fn parse(value: &str) -> Result<Self, EmbeddedError> {
        match value {
            "" => Ok(Self::Anywhere),
            "system" => Ok(Self::System),
            "npm" => Ok(Self::Npm),
            "pip" => Ok(Self::Pip),
            other => Err(EmbeddedError::Source { value: other.to_owned() }),
        }
    }

    fn allows(self, place: Self) -> bool {
        self == Self::Anywhere || self == place
    }
}

/// Programs and how they were found, in words for the log line.
pub(super) struct Found {
    pub(super) programs: Programs,
    pub(super) how: &'static str,
}

/// The programs for `home`, which has a cluster of `major` or none yet.
pub(super) async fn find(
    home: &Home,
    major: Option<u32>,
    source: Source,
    progress: &(dyn Fn(&str) + Send + Sync),
) -> Result<Found, EmbeddedError> {
    let mut tried = Vec::new();
    if source.allows(Source::System) {
        if let Some(programs) = binaries::first(binaries::on_this_machine().await, major, &home.run_as).await {
            return Ok(Found { programs, how: "on this machine" });
        }
        tried.push("not on PATH or in the usual places".to_owned());
    }
    let client = match source {
        Source::System => return Err(nothing(home, major, tried)),
        Source::Anywhere => None,
        Source::Npm => Some("npm"),
        Source::Pip => Some("pip"),
    };
    if let Some(programs) = binaries::first(binaries::fetched_before(home, client), major, &home.run_as).await {
        return Ok(Found { programs, how: "fetched earlier" });
    }
    let binaries = home.binaries();
    if source.allows(Source::Npm) && major.is_none_or(|wanted| wanted == packages::NPM_MAJOR) {
        progress("no PostgreSQL on this machine: fetching it with npm (24 MB, once)");
        match fetch::with_npm(&binaries, &home.run_as).await {
            Ok(programs) => return Ok(Found { programs, how: "fetched with npm" }),
            Err(error) => tried.push(failed("npm", &error, progress)),
        }
    }
    if source.allows(Source::Pip) && major.is_none_or(|wanted| wanted == packages::PIP_MAJOR) {
        progress("no PostgreSQL on this machine: fetching it with pip (11 MB, once)");
        match fetch::with_pip(&binaries, &home.run_as).await {
            Ok(programs) => return Ok(Found { programs, how: "fetched with pip" }),
            Err(error) => tried.push(failed("pip", &error, progress)),
        }
    }
    Err(nothing(home, major, tried))
}

fn failed(client: &str, error: &EmbeddedError, progress: &(dyn Fn(&str) + Send + Sync)) -> String {
    let text = format!("{client}: {}", reason(error));
    progress(&format!("that did not work: {text}"));
    text
}

fn nothing(home: &Home, major: Option<u32>, tried: Vec<String>) -> EmbeddedError {
    match major {
        Some(major) => EmbeddedError::NoMatch { path: home.data(), major, tried },
        None => EmbeddedError::NotFound { tried, install: install_command() },
    }
}

/// The command for the package manager that is here.
fn install_command() -> String {
    let here = |program: &str| {
        std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|entry| is_file(&entry, program)))
    };
    let known = [
        ("brew", "brew install postgresql@18"),
        ("apt-get", "sudo apt-get install -y postgresql"),
        ("dnf", "sudo dnf install -y postgresql-server"),
        ("apk", "sudo apk add postgresql"),
        ("pacman", "sudo pacman -S --noconfirm postgresql"),
        ("zypper", "sudo zypper install -y postgresql-server"),
    ];
    let command =
        known.iter().find(|(manager, _)| here(manager)).map_or("apt-get install -y postgresql", |(_, line)| line);
    // A container's root has no sudo and needs none.
    if here("sudo") { command.to_owned() } else { command.trim_start_matches("sudo ").to_owned() }
}

fn is_file(directory: &Path, name: &str) -> bool {
    directory.join(name).is_file()
}

#[cfg(test)]
mod tests {
    use super::Source;

    #[test]
    fn a_source_limits_where_programs_come_from() {
        assert!(Source::parse("").unwrap().allows(Source::Npm));
        assert!(!Source::parse("system").unwrap().allows(Source::Npm));
        assert!(Source::parse("pip").unwrap().allows(Source::Pip));
        let error = Source::parse("brew").unwrap_err();
        assert_eq!(
            error.to_string(),
            "PLEAT_POSTGRES_SOURCE is `brew`; use `system`, `npm` or `pip`, or leave it unset"
        );
    }
}

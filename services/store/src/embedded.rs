//! The Postgres that is simply there: found, started or fetched, so that one command is enough on a fresh machine.
//!
//! First hit wins: (1) `DATABASE_URL`; (2) the data directory's cluster, with programs of its major version;
//! (3) the machine's programs; (4) programs fetched with npm or pip, pinned by version and hash; (5) an error that
//! names the install command. `PLEAT_POSTGRES_SOURCE=system|npm|pip` limits (2) to (4) to programs of one kind, so
//! that fetching can be tried on a machine which has its own.
//!
//! A private cluster listens on a unix socket only, in a directory only its account may enter. It is stopped by
//! [`Database::stop`] and by nothing else: after a `kill -9` of pleat it keeps running and the next start uses it.
//! Must not hold any SQL of the product, and knows no second kind of database.

mod account;
mod binaries;
mod child_env;
mod cluster;
mod command;
mod error;
mod external;
mod fetch;
mod home;
mod lock_file;
mod packages;
mod probe;
mod running;
mod server;
mod settings;
mod source;
mod supervisor;
mod temporary;
#[cfg(test)]
mod tests;

use std::path::PathBuf;
use std::process::ChildStdin;
use std::time::Duration;

use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::{CancellationToken, DropGuard};

pub use self::error::EmbeddedError;
use self::home::Home;
pub use self::running::{PrivateCluster, private_cluster};
use self::server::Server;
use self::source::{Found, Source};

const SUPERVISOR_END: Duration = Duration::from_secs(5);

#[derive(Debug, Clone)]
pub struct EmbeddedConfig {
    /// Usually `.pleat`; the cluster goes into `postgres/` below it.
    pub data_dir: PathBuf,
    /// The operator's own Postgres; wins over everything.
    pub database_url: Option<String>,
    /// `false` only in tests: nothing is synced to disk.
    pub durable: bool,
}

/// A database that answers. Dropped without [`Database::stop`], a private server keeps running, unsupervised.
#[derive(Debug)]
pub struct Database {
    url: String,
    description: String,
    private: Option<Private>,
}

#[derive(Debug)]
struct Private {
    home: PathBuf,
    socket: PathBuf,
    cancel: DropGuard,
    supervisor: JoinHandle<Server>,
    watcher: Option<ChildStdin>,
}

impl Database {
    /// Finds, makes or fetches a database, in the order above, and returns when it answers.
    ///
    /// `progress` gets a line for whatever takes a while, which only the very first start does.
    pub async fn open(config: &EmbeddedConfig, progress: &(dyn Fn(&str) + Send + Sync)) -> Result<Self, EmbeddedError> {
        if let Some(url) = &config.database_url {
            let description = external::check(url, progress).await?;
            return Ok(Self { url: url.clone(), description, private: None });
        }
        Self::open_private(config, Source::from_environment()?, progress).await
    }

    async fn open_private(
        config: &EmbeddedConfig,
        source: Source,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, EmbeddedError> {
        let home = Home::choose(&config.data_dir, progress).await?;
        let major = cluster::existing_major(&home)?;
        let found = source::find(&home, major, source, progress).await?;
        if major.is_none() {
            progress(&format!("making a database in {} (first start only)", home.path.display()));
            cluster::create(&home, &found.programs, config.durable).await?;
        }
        let mut server = Server::new(home, found.programs.clone(), config.durable)?;
        let reused = server.answers().await;
        let connection = server.ensure().await?;
        let description = describe(&server, &found, major.is_some(), reused);
        let url = probe::url(&server.socket);
        let (path, socket) = (server.home.path.clone(), server.socket.clone());
        let cancel = CancellationToken::new();
        let supervisor = tokio::spawn(supervisor::watch(server, connection, cancel.clone()));
        let private = Private { home: path, socket, cancel: cancel.drop_guard(), supervisor, watcher: None };
        Ok(Self { url, description, private: Some(private) })
    }

    /// The address for sqlx: over the private socket, or `DATABASE_URL` as it was given.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// One sentence for the log: which step hit, which version, where the data lives. Holds no secret.
    pub fn description(&self) -> &str {
        &self.description
    }

    /// For test harnesses: when this handle is dropped or this process ends, however it ends, the private cluster
    /// is stopped and its files are removed. Does nothing to a database of `DATABASE_URL`.
    pub fn make_temporary(&mut self) -> Result<(), EmbeddedError> {
        if let Some(private) = &mut self.private {
            private.watcher = Some(temporary::end_with_this_process(&private.home, &private.socket)?);
        }
        Ok(())
    }

    /// Stops a private server and waits for it; one of `DATABASE_URL` is left alone. Close the pools first: their
    /// connections are cut.
    pub async fn stop(self) -> Result<(), EmbeddedError> {
        let Some(private) = self.private else { return Ok(()) };
        drop(private.cancel);
        match timeout(SUPERVISOR_END, private.supervisor).await {
            Ok(Ok(mut server)) => server.stop().await,
            // It only waits on things that end, and it does not panic; then the server is left to the next start.
            Ok(Err(_)) | Err(_) => Err(EmbeddedError::NotStopped { log: private.home.join("log") }),
        }
    }
}

fn describe(server: &Server, found: &Found, existing: bool, reused: bool) -> String {
    let programs = &server.programs;
    let cluster = match (reused, existing) {
        (true, _) => "existing cluster, still running",
        (false, true) => "existing cluster",
        (false, false) => "new cluster",
    };
    let mut text = format!(
        "PostgreSQL {} {} ({}), {cluster}, data in {}",
        programs.version,
        found.how,
        programs.directory.display(),
        server.home.data().display(),
    );
    if let account::RunAs::Account { name, .. } = &server.home.run_as {
        text = format!("{text}, run as `{name}`");
        if let Some(wanted) = &server.home.instead_of {
            text = format!("{text}, which cannot enter {}", wanted.display());
        }
    }
    text
}

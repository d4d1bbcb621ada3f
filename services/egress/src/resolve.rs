//! From a name to its addresses.

use std::io;
use std::net::{IpAddr, ToSocketAddrs};
use std::sync::Arc;

use tokio::sync::Semaphore;

/// Lookups block a thread each for as long as a name server likes to wait, and those threads are shared.
static LOOKUPS: Semaphore = Semaphore::const_new(64);

/// The addresses of a name.
pub type Table = dyn Fn(&str) -> Vec<IpAddr> + Send + Sync;

/// Where addresses come from.
#[derive(Clone)]
pub enum Resolver {
    /// The operating system's.
    System,
    /// A table, for tests and for operators with names of their own. A name that is not in it does not resolve.
    Table(Arc<Table>),
}

impl Resolver {
    pub(crate) async fn resolve(&self, name: &str) -> io::Result<Vec<IpAddr>> {
        match self {
            Self::System => system(name.to_owned()).await,
            Self::Table(table) => Ok(table(name)),
        }
    }
}

async fn system(name: String) -> io::Result<Vec<IpAddr>> {
    let permit = LOOKUPS.acquire().await.map_err(io::Error::other)?;
    let lookup = tokio::task::spawn_blocking(move || {
        // Held by the thread, not by the one who waits for it and may leave.
        let _permit = permit;
        (name, 0).to_socket_addrs().map(|found| found.map(|address| address.ip()).collect())
    });
    lookup.await.map_err(io::Error::other)?
}

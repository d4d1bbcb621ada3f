//! Making the private cluster, once: `initdb` beside its final place, then a rename.
//!
//! Must not touch a cluster that is there: a directory named `data` is always a whole one.

use std::fs::File;
use std::time::Duration;

use super::binaries::{Programs, leading_number};
use super::command::run;
use super::error::EmbeddedError;
use super::home::Home;

/// The role that owns the cluster; only its private socket leads to it.
pub(super) const USER: &str = "pleat";
/// Slow disks under load took 7 s; a minute is a hang.
const INITDB: Duration = Duration::from_secs(120);

/// The major version of the cluster that is there.
pub(super) fn existing_major(home: &Home) -> Result<Option<u32>, EmbeddedError> {
    if !home.data().exists() {
        return Ok(None);
    }
    let path = home.data().join("PG_VERSION");
    let text = std::fs::read_to_string(&path).map_err(EmbeddedError::file(&path))?;
    match leading_number(text.trim()) {
        Some(major) => Ok(Some(major)),
        None => Err(EmbeddedError::File { path, source: std::io::Error::other("no version in it") }),
    }
}

/// Makes the cluster in `home`.
pub(super) async fn create(home: &Home, programs: &Programs, durable: bool) -> Result<(), EmbeddedError> {
    let partial = home.path.join("data.partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(EmbeddedError::file(&partial))?;
    }
    home.run_as.private_directory(&partial)?;
    let mut initdb = home.run_as.command(&programs.program("initdb"));
    initdb.arg("-D").arg(&partial).args(["--username", USER, "--auth=trust", "--encoding=UTF8", "--locale=C"]);
    if !durable {
        initdb.arg("--no-sync");
    }
    run(initdb, INITDB).await?;
    let data = home.data();
    std::fs::rename(&partial, &data).map_err(EmbeddedError::file(&data))?;
    // The rename itself has to survive a power cut too.
    File::open(&home.path).and_then(|directory| directory.sync_all()).map_err(EmbeddedError::file(&home.path))
}

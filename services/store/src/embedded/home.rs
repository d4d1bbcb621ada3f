//! Where the private cluster lives: usually `<data directory>/postgres`, elsewhere when its account cannot get there.
//!
//! ```text
//! postgres/lock       held while a pleat runs on this directory
//! postgres/location   only when the rest lives elsewhere: where
//! postgres/data       the cluster, its account's alone
//! postgres/run        the socket, its account's alone
//! postgres/binaries   fetched programs
//! postgres/log        what the server said since it was started
//! ```
//!
//! Must not choose a new place while there is a cluster in an old one: that would look like lost data.

use std::fs::{File, TryLockError};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use sha2::{Digest, Sha256};
use tokio::time::{Instant, sleep};

use super::account::RunAs;
use super::error::EmbeddedError;

/// Where clusters go whose account cannot enter the data directory.
const STATE: &str = "/var/lib/pleat";
/// The kernel takes 104 to 108 bytes, and Postgres adds a lock file's suffix.
const LONGEST_SOCKET_PATH: usize = 90;
const SOCKET_NAME: &str = "/.s.PGSQL.5432";
/// A pleat that is just stopping gets this long to let go.
const LOCK_PATIENCE: Duration = Duration::from_secs(10);

#[derive(Debug)]
pub(super) struct Home {
    pub(super) path: PathBuf,
    pub(super) run_as: RunAs,
    /// The directory the cluster would be in, had its account been able to enter.
    pub(super) instead_of: Option<PathBuf>,
    /// Released by the kernel when the process ends, however it ends.
    _lock: File,
}

impl Home {
    pub(super) async fn choose(
        data_dir: &Path,
        progress: &(dyn Fn(&str) + Send + Sync),
    ) -> Result<Self, EmbeddedError> {
        std::fs::create_dir_all(data_dir).map_err(EmbeddedError::file(data_dir))?;
        let own = std::fs::canonicalize(data_dir).map_err(EmbeddedError::file(data_dir))?.join("postgres");
        open_directory(&own)?;
        let lock = lock(&own, LOCK_PATIENCE, progress).await?;
        let run_as = RunAs::choose().await?;
        let marker = own.join("location");
        if own.join("data").exists() {
            return Self::existing(own, run_as, None, lock).await;
        }
        if let Ok(location) = std::fs::read_to_string(&marker) {
            return Self::existing(PathBuf::from(location.trim()), run_as, Some(own), lock).await;
        }
        if run_as.reaches(&own).await {
            return Ok(Self { path: own, run_as, instead_of: None, _lock: lock });
        }
        let path = elsewhere(&own)?;
        std::fs::write(&marker, path.as_os_str().as_bytes()).map_err(EmbeddedError::file(&marker))?;
        Ok(Self { path, run_as, instead_of: Some(own), _lock: lock })
    }

    async fn existing(
        path: PathBuf,
        run_as: RunAs,
        instead_of: Option<PathBuf>,
        lock: File,
    ) -> Result<Self, EmbeddedError> {
        open_directory(&path)?;
        let data = path.join("data");
        let run_as = if data.exists() { run_as.owner_of(&data)? } else { run_as };
        if !run_as.reaches(&path).await {
            return Err(EmbeddedError::Unreachable { path, account: run_as.name().to_owned() });
        }
        Ok(Self { path, run_as, instead_of, _lock: lock })
    }

    pub(super) fn data(&self) -> PathBuf {
        self.path.join("data")
    }

    pub(super) fn log(&self) -> PathBuf {
        self.path.join("log")
    }

    pub(super) fn binaries(&self) -> PathBuf {
        self.path.join("binaries")
    }

    /// The directory of the socket, made ready.
    pub(super) fn socket_directory(&self) -> Result<PathBuf, EmbeddedError> {
        let runtime = match self.run_as {
            RunAs::Account { .. } => Some(PathBuf::from("/run")),
            RunAs::Myself { .. } => std::env::var_os("XDG_RUNTIME_DIR").map(PathBuf::from),
        };
        let path = socket_directory(&self.path, runtime.filter(|path| path.is_dir()));
        self.run_as.private_directory(&path)?;
        Ok(path)
    }
}

/// Beside the data where the path is short enough; `/tmp` by name since `TMPDIR` may be long and private too.
fn socket_directory(home: &Path, runtime: Option<PathBuf>) -> PathBuf {
    let name = format!("pleat-{}", digest(&[home.as_os_str().as_bytes()]));
    let fits = |path: &PathBuf| path.as_os_str().len() + SOCKET_NAME.len() < LONGEST_SOCKET_PATH;
    let short = Path::new("/tmp").join(&name);
    [Some(home.join("run")), runtime.map(|path| path.join(&name))].into_iter().flatten().find(fits).unwrap_or(short)
}

/// A new directory below the system's state directory. Never an old one: who removes the data directory wants to
/// start empty, so the name is as new as the directory that points to it.
fn elsewhere(own: &Path) -> Result<PathBuf, EmbeddedError> {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default().as_nanos().to_be_bytes();
    let path = Path::new(STATE).join(digest(&[own.as_os_str().as_bytes(), &now]));
    open_directory(Path::new(STATE))?;
    open_directory(&path)?;
    let note = path.join("belongs-to");
    std::fs::write(&note, own.as_os_str().as_bytes()).map_err(EmbeddedError::file(&note))?;
    Ok(path)
}

/// Ours, and others may pass through it to what is theirs.
fn open_directory(path: &Path) -> Result<(), EmbeddedError> {
    if path.is_dir() {
        return Ok(());
    }
    std::fs::create_dir_all(path).map_err(EmbeddedError::file(path))?;
    std::fs::set_permissions(path, PermissionsExt::from_mode(0o755)).map_err(EmbeddedError::file(path))
}

async fn lock(
    directory: &Path,
    patience: Duration,
    progress: &(dyn Fn(&str) + Send + Sync),
) -> Result<File, EmbeddedError> {
    let path = directory.join("lock");
    let file = File::options().create(true).append(true).open(&path).map_err(EmbeddedError::file(&path))?;
    let deadline = Instant::now() + patience;
    let mut said = false;
    loop {
        match file.try_lock() {
            Ok(()) => return Ok(file),
            Err(TryLockError::Error(source)) => return Err(EmbeddedError::File { path, source }),
            Err(TryLockError::WouldBlock) if Instant::now() >= deadline => {
                return Err(EmbeddedError::InUse { path: directory.to_path_buf() });
            }
            Err(TryLockError::WouldBlock) if !said => {
                said = true;
                progress("waiting for another pleat to leave this data directory");
            }
            Err(TryLockError::WouldBlock) => sleep(Duration::from_millis(50)).await,
        }
    }
}

fn digest(parts: &[&[u8]]) -> String {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    let mut text = hex::encode(hash.finalize());
    text.truncate(16);
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_home_keeps_its_socket() {
        assert_eq!(socket_directory(Path::new("/srv/.pleat/postgres"), None), Path::new("/srv/.pleat/postgres/run"));
    }

    #[test]
    fn a_long_home_gets_a_short_socket_of_its_own() {
        let long = PathBuf::from(format!("/{}/postgres", "x".repeat(80)));
        let other = PathBuf::from(format!("/{}/postgres", "y".repeat(80)));
        let chosen = socket_directory(&long, Some(PathBuf::from("/run/user/1000")));
        assert!(chosen.starts_with("/run/user/1000"), "{}", chosen.display());
        assert!(chosen.as_os_str().len() + SOCKET_NAME.len() < LONGEST_SOCKET_PATH);
        assert_ne!(chosen, socket_directory(&other, Some(PathBuf::from("/run/user/1000"))));
        assert!(socket_directory(&long, Some(long.clone())).starts_with("/tmp"));
        assert!(socket_directory(&long, None).starts_with("/tmp"));
    }

    #[tokio::test]
    async fn one_pleat_at_a_time_uses_a_directory() {
        let directory = tempfile::tempdir().unwrap();
        let first = lock(directory.path(), Duration::ZERO, &|_| {}).await.unwrap();
        let second = lock(directory.path(), Duration::ZERO, &|_| {}).await;
        assert!(matches!(second, Err(EmbeddedError::InUse { .. })), "{second:?}");
        drop(first);
        lock(directory.path(), Duration::ZERO, &|_| {}).await.unwrap();
    }
}

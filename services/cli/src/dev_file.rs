//! `dev.json`: how a running `pleat dev` tells scripts and client commands where it is and which keys to use.
//!
//! It is the sign of being ready, so it is written last and by rename, and removed first. It holds keys: 0600.

use std::io::{ErrorKind, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use serde::{Deserialize, Serialize};

use crate::child;
use crate::ownership::{is_own, is_private};

const NAME: &str = "dev.json";

/// No `Debug`: it is full of keys.
#[derive(Serialize, Deserialize)]
pub struct DevFile {
    pub pid: u32,
    /// The control URL.
    pub url: String,
    pub tenant: String,
    /// Without a trailing slash.
    pub tenant_url: String,
    pub operator_key: String,
    pub admin_key: String,
    pub deploy_key: String,
    pub invoke_key: String,
}

/// A `dev.json` and whether it can be trusted.
pub enum DevFileFound {
    Trusted(DevFile),
    /// It belongs to another user.
    Foreign,
    /// Other users can read or write it.
    Open,
}

impl DevFile {
    pub fn path(data_dir: &Path) -> PathBuf {
        data_dir.join(NAME)
    }

    /// `None` when there is none. A file that is not this user's alone was planted, and would send the caller's data
    /// to whoever did it; it is not parsed.
    pub fn read(path: &Path) -> std::io::Result<Option<DevFileFound>> {
        let mut file = match std::fs::File::open(path) {
            Ok(file) => file,
            Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(error) => return Err(error),
        };
        // Of the file that is read, not of what has its name a moment later.
        let found = file.metadata()?;
        if !is_own(&found) {
            return Ok(Some(DevFileFound::Foreign));
        }
        if !is_private(&found) {
            return Ok(Some(DevFileFound::Open));
        }
        let mut bytes = Vec::new();
        file.read_to_end(&mut bytes)?;
        Ok(Some(DevFileFound::Trusted(serde_json::from_slice(&bytes)?)))
    }

    /// Whoever sees the file sees all of it.
    pub fn write(&self, data_dir: &Path) -> std::io::Result<()> {
        let draft = data_dir.join(format!(".{NAME}.{}", std::process::id()));
        let mut file = std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&draft)?;
        file.write_all(&serde_json::to_vec_pretty(self)?)?;
        file.write_all(b"\n")?;
        file.sync_all()?;
        std::fs::rename(&draft, Self::path(data_dir))
    }

    /// A file left behind by a killed server would be a false "ready".
    pub fn remove(data_dir: &Path) -> std::io::Result<()> {
        match std::fs::remove_file(Self::path(data_dir)) {
            Err(error) if error.kind() != ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        }
    }

    /// Whether the process that wrote it still runs. A process of another user counts, so no signal is tried.
    pub fn is_alive(&self) -> bool {
        if Path::new("/proc/self/stat").exists() {
            // A killed process that nobody waited for (as in a container without an init) is still listed.
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", self.pid)).unwrap_or_default();
            let state = stat.rsplit_once(") ").and_then(|(_, rest)| rest.chars().next());
            return state.is_some_and(|state| !matches!(state, 'Z' | 'X'));
        }
        let mut ask = child::command("ps");
        ask.args(["-p", &self.pid.to_string()]).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
        // Where nobody can be asked, the connection will tell.
        ask.status().map_or(true, |status| status.success())
    }
}

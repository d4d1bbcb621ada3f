//! Files named after a version, for versions that nobody knows any more.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

use pleat_domain::VersionHash;

/// Of sources and of code.
const SUFFIXES: [&str; 3] = ["src", "cwasm", "sha256"];

/// Removes those that are older than `age`; gives how many. What is named otherwise is not a version's.
pub(super) fn forget(directory: &Path, known: &HashSet<VersionHash>, age: Duration) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(hash) = name.to_str().and_then(version) else { continue };
        if !known.contains(&hash) && entry.metadata()?.modified()?.elapsed().unwrap_or_default() >= age {
            std::fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn version(name: &str) -> Option<VersionHash> {
    let (digits, suffix) = name.split_once('.')?;
    let bytes = hex::decode(digits).ok().filter(|_| SUFFIXES.contains(&suffix))?;
    Some(VersionHash::from_bytes(bytes.try_into().ok()?))
}

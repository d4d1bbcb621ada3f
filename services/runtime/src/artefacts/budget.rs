//! Budget for compiled code on disk: beyond it, the code that was loaded longest ago is removed, that of other engines
//! included. What is loaded stays mapped, and what is needed again is compiled again from its source.

use std::fs::Metadata;
use std::io;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use super::unknown::version;

/// After an eviction this much of the budget is in use, so that not every deploy evicts.
const KEPT_PERCENT: u64 = 90;

/// Bytes of all files below the directories of all engines.
pub(super) fn used(cache: &Path) -> io::Result<u64> {
    Ok(files(cache)?.iter().map(|(_, found)| found.len()).sum())
}

/// Removes code of versions until [`KEPT_PERCENT`] of `most` is left, if there is more than `most`; gives how many files were
/// removed, and how many bytes there are now.
pub(super) fn enforce(cache: &Path, most: u64) -> io::Result<(usize, u64)> {
    let mut files = files(cache)?;
    let mut left: u64 = files.iter().map(|(_, found)| found.len()).sum();
    if left <= most {
        return Ok((0, left));
    }
    // The platform's own code stays: every deploy of a script needs it.
    files.retain(|(path, _)| path.file_name().and_then(|name| name.to_str()).and_then(version).is_some());
    files.sort_by_key(|(_, found)| found.modified().unwrap_or(SystemTime::UNIX_EPOCH));
    let target = most.saturating_mul(KEPT_PERCENT) / 100;
    let mut removed = 0;
    for (path, found) in files {
        if left <= target {
            break;
        }
        // Somebody else may have removed it.
        if std::fs::remove_file(&path).is_ok() {
            left = left.saturating_sub(found.len());
            removed += usize::from(path.extension().is_some_and(|extension| extension == "cwasm"));
        }
    }
    Ok((removed, left))
}

fn files(cache: &Path) -> io::Result<Vec<(PathBuf, Metadata)>> {
    let mut files = Vec::new();
    for engine in std::fs::read_dir(cache)? {
        let engine = engine?.path();
        if !engine.is_dir() {
            continue;
        }
        for entry in std::fs::read_dir(engine)? {
            let entry = entry?;
            // What is being replaced may be gone by now.
            if let Ok(found) = entry.metadata()
                && found.is_file()
            {
                files.push((entry.path(), found));
            }
        }
    }
    Ok(files)
}

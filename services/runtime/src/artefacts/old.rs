//! Code of other engines: it lies beside this engine's, for a way back, until nobody has used it for long.

use std::fs::File;
use std::io;
use std::path::Path;
use std::time::{Duration, SystemTime};

/// Its time of change says when an engine last used the directory.
const USED: &str = "used";

/// Says that the directory is in use now.
pub(super) fn mark_used(directory: &Path) -> io::Result<()> {
    File::create(directory.join(USED))?.set_modified(SystemTime::now())
}

/// Removes the directories beside `current` that were last used before `keep`; gives how many.
pub(super) fn forget(current: &Path, keep: Duration) -> io::Result<usize> {
    let Some(cache) = current.parent() else { return Ok(0) };
    let mut removed = 0;
    for entry in std::fs::read_dir(cache)? {
        let path = entry?.path();
        if path != current && path.is_dir() && age(&path)? > keep {
            std::fs::remove_dir_all(&path)?;
            removed += 1;
        }
    }
    Ok(removed)
}

fn age(directory: &Path) -> io::Result<Duration> {
    let used = std::fs::metadata(directory.join(USED)).or_else(|_| std::fs::metadata(directory))?;
    Ok(used.modified()?.elapsed().unwrap_or_default())
}

//! Files named after a version, for versions that nobody knows any more.

use std::collections::HashSet;
use std::io;
use std::path::Path;
use std::time::Duration;

/// Of sources and of code; the last one is of former releases.
const SUFFIXES: [&str; 4] = ["src", "cwasm", "mac", "sha256"];
/// Of the hash that is the name, in hex.
const DIGITS: usize = 64;

/// Removes those that are older than `age`; gives how many. What is named otherwise is not a version's.
pub(super) fn forget(directory: &Path, known: &HashSet<String>, age: Duration) -> io::Result<usize> {
    let mut removed = 0;
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name();
        let Some(version) = name.to_str().and_then(version) else { continue };
        if !known.contains(version) && entry.metadata()?.modified()?.elapsed().unwrap_or_default() >= age {
            std::fs::remove_file(entry.path())?;
            removed += 1;
        }
    }
    Ok(removed)
}

/// The part of a file's name that stands for a version.
pub(super) fn version(name: &str) -> Option<&str> {
    let (digits, suffix) = name.split_once('.')?;
    let is_hash = digits.len() == DIGITS && digits.bytes().all(|byte| byte.is_ascii_hexdigit());
    (is_hash && SUFFIXES.contains(&suffix)).then_some(digits)
}

//! Whether memory of this process can be swapped out.
//!
//! It decides about wasmtime's pagemap scan: in 48.0.8 that looks only at pages which are present, so a dirty page
//! that was swapped out would survive into the next instance of the slot (bytecodealliance/wasmtime#14357).

use std::fs;
use std::path::{Path, PathBuf};

/// `true` unless we can show that it is impossible.
pub fn is_possible() -> bool {
    is_possible_on(Path::new("/"))
}

/// The same for the machine whose `/` is at `root`, so that other machines can be described.
pub(crate) fn is_possible_on(root: &Path) -> bool {
    let Ok(swaps) = fs::read_to_string(root.join("proc/swaps")) else { return true };
    let has_swap = swaps.lines().skip(1).any(|line| !line.trim().is_empty());
    has_swap && !forbidden_by_cgroup(root)
}

/// A cgroup (ours or one above it) that may not swap and holds nothing swapped out from before.
fn forbidden_by_cgroup(root: &Path) -> bool {
    let Ok(membership) = fs::read_to_string(root.join("proc/self/cgroup")) else { return false };
    // Version 2 has one line, `0::/path`.
    let Some(path) = membership.lines().find_map(|line| line.strip_prefix("0::/")) else { return false };
    let root = root.join("sys/fs/cgroup");
    let own: PathBuf = root.join(path);
    own.ancestors().take_while(|directory| directory.starts_with(&root)).any(|directory| {
        let read = |name: &str| fs::read_to_string(directory.join(name)).unwrap_or_default();
        read("memory.swap.max").trim() == "0" && read("memory.swap.current").trim() == "0"
    })
}

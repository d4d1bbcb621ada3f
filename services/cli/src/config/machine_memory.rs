//! The memory of this machine, as far as this process may use it.

use std::fs;
use std::path::{Path, PathBuf};

use pleat_domain::limits::MIB;

/// Where nothing can be found out.
const UNKNOWN: usize = 4_096 * MIB;
const SMALLEST_BUDGET: usize = 256 * MIB;

/// The budget for guests where none is configured: three eighths of the memory, which leaves the rest to compilations,
/// an embedded database and the file cache.
pub(super) fn default_budget() -> usize {
    (available(Path::new("/")) / 8 * 3).max(SMALLEST_BUDGET)
}

/// The machine's memory or the smallest limit of the cgroups that this process is in.
fn available(root: &Path) -> usize {
    let machine = meminfo(root).unwrap_or(UNKNOWN);
    cgroup(root).map_or(machine, |limit| limit.min(machine))
}

/// `MemTotal:       24594448 kB`
fn meminfo(root: &Path) -> Option<usize> {
    let text = fs::read_to_string(root.join("proc/meminfo")).ok()?;
    let line = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    line.split_whitespace().next()?.parse::<usize>().ok()?.checked_mul(1_024)
}

fn cgroup(root: &Path) -> Option<usize> {
    let membership = fs::read_to_string(root.join("proc/self/cgroup")).ok()?;
    let (top, file, path) = membership.lines().find_map(|line| {
        let (_, rest) = line.split_once(':')?;
        let (controllers, path) = rest.split_once(':')?;
        let path = path.trim_start_matches('/').to_owned();
        match controllers {
            "" => Some((root.join("sys/fs/cgroup"), "memory.max", path)),
            "memory" => Some((root.join("sys/fs/cgroup/memory"), "memory.limit_in_bytes", path)),
            _ => None,
        }
    })?;
    let own: PathBuf = top.join(path);
    // In a container the own path may not be visible; its limit is then at the top.
    let directories = own.ancestors().take_while(|directory| directory.starts_with(&top));
    directories.filter_map(|directory| fs::read_to_string(directory.join(file)).ok()?.trim().parse().ok()).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn machine(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = root.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn smallest_limit_of_machine_and_cgroups_counts() {
        let meminfo = ("proc/meminfo", "MemTotal:        8388608 kB\nMemFree: 1 kB\n");
        let bare = machine(&[meminfo]);
        assert_eq!(available(bare.path()), 8_192 * MIB);
        let own = ("proc/self/cgroup", "0::/a/b\n");
        let unlimited = ("sys/fs/cgroup/a/b/memory.max", "max\n");
        assert_eq!(available(machine(&[meminfo, own, unlimited]).path()), 8_192 * MIB);
        let above = ("sys/fs/cgroup/a/memory.max", "1073741824\n");
        assert_eq!(available(machine(&[meminfo, own, unlimited, above]).path()), 1_024 * MIB);
        let first = ("proc/self/cgroup", "5:cpu:/x\n4:memory:/x\n");
        let limit = ("sys/fs/cgroup/memory/memory.limit_in_bytes", "536870912\n");
        assert_eq!(available(machine(&[meminfo, first, limit]).path()), 512 * MIB);
    }

    #[test]
    fn machine_that_says_nothing_gets_a_small_budget() {
        assert_eq!(available(machine(&[]).path()), UNKNOWN);
        assert!(default_budget() >= SMALLEST_BUDGET);
    }
}

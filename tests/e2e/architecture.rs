//! The rules of ARCHITECTURE.md that a program can check, checked on the source as it is.

mod crates;
mod hashes;
mod served;
mod source;

use std::path::{Path, PathBuf};

use crate::harness::root;

/// Files with this ending below the named directories of the source tree, as paths from its top, without what builds
/// leave behind.
fn files(directories: &[&str], ending: &str) -> Vec<PathBuf> {
    let root = root();
    let mut found = Vec::new();
    for directory in directories {
        collect(&root.join(directory), ending, &mut found);
    }
    found.iter_mut().for_each(|path| *path = path.strip_prefix(&root).unwrap().to_owned());
    found.sort();
    found
}

fn collect(directory: &Path, ending: &str, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(directory).unwrap_or_else(|error| panic!("{}: {error}", directory.display())) {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        if path.is_dir() {
            if !matches!(name.as_str(), "target" | "node_modules") && !name.starts_with('.') {
                collect(&path, ending, found);
            }
        } else if name.ends_with(ending) {
            found.push(path);
        }
    }
}

fn text(path: &Path) -> String {
    std::fs::read_to_string(root().join(path)).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

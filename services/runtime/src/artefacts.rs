//! What is kept of a version: its source, content-addressed, and the code compiled from it, which can be
//! made again at any time and is therefore only a cache.
//!
//! Code is native: it is written by us alone, into a directory that nobody else can enter, and checked against its
//! digest before it is mapped.

mod old;
mod unknown;

use std::collections::HashSet;
use std::fs::{DirBuilder, File};
use std::io::{self, Write};
use std::os::unix::fs::DirBuilderExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use pleat_domain::VersionHash;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::error::RuntimeError;

pub(crate) struct Artefacts {
    sources: LocalFileSystem,
    sources_dir: PathBuf,
    /// `cache/<compatibility of the engine>`.
    cache: PathBuf,
}

impl Artefacts {
    pub(crate) fn open(data_dir: &Path, compatibility: &str) -> Result<Self, RuntimeError> {
        let sources = private_dir(data_dir.join("artefacts"))?;
        private_dir(data_dir.join("cache"))?;
        let cache = private_dir(data_dir.join("cache").join(compatibility))?;
        Ok(Self { sources: LocalFileSystem::new_with_prefix(&sources)?.with_fsync(true), sources_dir: sources, cache })
    }

    /// Whether there is code of a version. That it is whole is checked when it is loaded.
    pub(crate) fn has_compiled(&self, hash: VersionHash) -> bool {
        self.code_path(hash).is_file() && self.digest_path(hash).is_file()
    }

    /// This engine's code is in use, now.
    pub(crate) fn mark_used(&self) -> io::Result<()> {
        old::mark_used(&self.cache)
    }

    /// Removes what other engines compiled and nobody used for `keep`; gives for how many engines.
    pub(crate) fn forget_old(&self, keep: Duration) -> io::Result<usize> {
        old::forget(&self.cache, keep)
    }

    /// Removes sources and this engine's code of versions that are not known and older than `age`; gives how many files.
    pub(crate) fn forget_unknown(&self, known: &HashSet<VersionHash>, age: Duration) -> io::Result<usize> {
        let sources = unknown::forget(&self.sources_dir, known, age)?;
        Ok(sources + unknown::forget(&self.cache, known, age)?)
    }

    pub(crate) fn cache_dir(&self) -> &Path {
        &self.cache
    }

    pub(crate) async fn keep_source(&self, hash: VersionHash, bytes: Bytes) -> Result<(), RuntimeError> {
        let key = source_key(hash);
        let there = self.sources.head(&key).await.is_ok_and(|found| found.size == bytes.len() as u64);
        if there { Ok(()) } else { self.replace_source(hash, bytes).await }
    }

    pub(crate) async fn replace_source(&self, hash: VersionHash, bytes: Bytes) -> Result<(), RuntimeError> {
        self.sources.put(&source_key(hash), bytes.into()).await?;
        Ok(())
    }

    pub(crate) async fn source(&self, hash: VersionHash) -> Result<Bytes, RuntimeError> {
        match self.sources.get(&source_key(hash)).await {
            Ok(found) => Ok(found.bytes().await?),
            Err(object_store::Error::NotFound { .. }) => Err(RuntimeError::SourceMissing(hash)),
            Err(error) => Err(error.into()),
        }
    }

    /// Where the code of a version is, if it is there and whole.
    pub(crate) fn compiled(&self, hash: VersionHash) -> Option<PathBuf> {
        let path = self.code_path(hash);
        let expected = std::fs::read_to_string(self.digest_path(hash)).ok()?;
        let actual = digest(&path).ok()?;
        if actual != expected.trim() {
            tracing::warn!(version = ?hash, "precompiled code is damaged and will be compiled again");
            return None;
        }
        Some(path)
    }

    /// By rename, so that no reader ever sees half a file; the digest first, so that a crash in between leaves
    /// something that is refused.
    pub(crate) fn keep_compiled(&self, hash: VersionHash, code: &[u8]) -> io::Result<PathBuf> {
        let path = self.code_path(hash);
        self.write(&self.digest_path(hash), hex::encode(Sha256::digest(code)).as_bytes())?;
        self.write(&path, code)?;
        Ok(path)
    }

    pub(crate) fn forget_compiled(&self, hash: VersionHash) {
        // It may never have been there.
        let _ = std::fs::remove_file(self.code_path(hash));
        let _ = std::fs::remove_file(self.digest_path(hash));
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.cache)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }

    fn code_path(&self, hash: VersionHash) -> PathBuf {
        self.cache.join(format!("{}.cwasm", hash.to_hex()))
    }

    fn digest_path(&self, hash: VersionHash) -> PathBuf {
        self.cache.join(format!("{}.sha256", hash.to_hex()))
    }
}

fn source_key(hash: VersionHash) -> Key {
    Key::from(format!("{}.src", hash.to_hex()))
}

fn private_dir(path: PathBuf) -> Result<PathBuf, RuntimeError> {
    match DirBuilder::new().recursive(true).mode(0o700).create(&path) {
        Ok(()) => Ok(path),
        Err(source) => Err(RuntimeError::DataDir { path: path.display().to_string(), source }),
    }
}

fn digest(path: &Path) -> io::Result<String> {
    struct Sink(Sha256);
    impl Write for Sink {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.update(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut sink = Sink(Sha256::new());
    let mut reader = io::BufReader::with_capacity(256 << 10, File::open(path)?);
    io::copy(&mut reader, &mut sink)?;
    Ok(hex::encode(sink.0.finalize()))
}

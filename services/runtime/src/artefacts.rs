//! What is kept of a version: its source, content-addressed, and the code compiled from it, which can be
//! made again at any time and is therefore only a cache.

mod budget;
mod code;
mod old;
mod unknown;

use std::collections::HashSet;
use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytes::Bytes;
use object_store::ObjectStoreExt;
use object_store::local::LocalFileSystem;
use object_store::path::Path as Key;
use pleat_domain::VersionHash;

pub(crate) use self::code::CodeFiles;
pub use self::code::CodeKey;
use crate::config::RuntimeConfig;
use crate::error::RuntimeError;
use crate::gate::Party;

pub(crate) struct Artefacts {
    sources: LocalFileSystem,
    sources_dir: PathBuf,
    /// In `cache/<compatibility of the engine>-<id of the key>`.
    code: Arc<CodeFiles>,
    cache: PathBuf,
    /// The most bytes that all compiled code may have.
    most: u64,
    /// How many it has, as far as this process knows.
    used: AtomicU64,
}

impl Artefacts {
    pub(crate) fn open(config: &RuntimeConfig, compatibility: &str) -> Result<Self, RuntimeError> {
        let (data_dir, key) = (&config.data_dir, config.code_key.clone());
        let sources = private_dir(data_dir.join("artefacts"))?;
        let cache = private_dir(data_dir.join("cache"))?;
        let engine = private_dir(cache.join(format!("{compatibility}-{}", key.id())))?;
        let code = Arc::new(CodeFiles::new(engine, compatibility, key, config.share_code));
        let artefacts = Self {
            sources: LocalFileSystem::new_with_prefix(&sources)?.with_fsync(true),
            sources_dir: sources,
            code,
            used: AtomicU64::new(budget::used(&cache).unwrap_or_default()),
            cache,
            most: config.code_cache_bytes,
        };
        artefacts.keep_within_budget(0);
        Ok(artefacts)
    }

    /// To be called when this many bytes of code were written: evicts what was used longest ago, if that is too much.
    pub(crate) fn keep_within_budget(&self, written: u64) {
        let mut used = self.used.fetch_add(written, Relaxed).saturating_add(written);
        if used > self.most {
            match budget::enforce(&self.cache, self.most) {
                Ok((removed, left)) => {
                    used = left;
                    self.used.store(left, Relaxed);
                    metrics::counter!("pleat_code_evictions_total").increment(removed as u64);
                    tracing::info!(removed, bytes = left, "compiled code was evicted to stay within its budget");
                }
                Err(error) => tracing::warn!(error = %error, "compiled code cannot be evicted"),
            }
        }
        metrics::gauge!("pleat_code_cache_bytes").set(used as f64);
    }

    /// Whether there is room for more without evicting anything.
    pub(crate) fn has_room(&self) -> bool {
        self.used.load(Relaxed) < self.most / 10 * 9
    }

    /// Removes what a deploy that failed has left.
    pub(crate) async fn discard(&self, party: Party, hash: VersionHash) {
        self.code.remove(&self.code.name_of(party, hash));
        // Another tenant's node of the same source is given it again by the database.
        let _ = self.sources.delete(&source_key(hash)).await;
    }

    pub(crate) const fn code(&self) -> &Arc<CodeFiles> {
        &self.code
    }

    /// This engine's code is in use, now.
    pub(crate) fn mark_used(&self) -> io::Result<()> {
        old::mark_used(self.code.directory())
    }

    /// Removes what other engines compiled and nobody used for `keep`; gives for how many engines.
    pub(crate) fn forget_old(&self, keep: Duration) -> io::Result<usize> {
        old::forget(self.code.directory(), keep)
    }

    /// Removes sources and this engine's code of versions that are not known and older than `age`; gives how many files.
    pub(crate) fn forget_unknown(&self, known: &HashSet<(Party, VersionHash)>, age: Duration) -> io::Result<usize> {
        let sources: HashSet<_> = known.iter().map(|(_, hash)| hash.to_hex()).collect();
        let code: HashSet<_> = known.iter().map(|(party, hash)| self.code.name_of(*party, *hash)).collect();
        let removed = unknown::forget(&self.sources_dir, &sources, age)?;
        Ok(removed + unknown::forget(self.code.directory(), &code, age)?)
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

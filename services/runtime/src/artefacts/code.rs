//! Files of compiled code: each with a MAC over its name and content, so that code that was exchanged or altered is
//! compiled again instead of loaded.
//!
//! Code is native: loading it means trusting it. It is written by us alone, into a directory that nobody else can enter;
//! the MAC holds should that not be enough, as with a backup that was put back or a shared volume.

use std::fs::File;
use std::io::{self, Read, Seek, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use hmac::{Hmac, KeyInit, Mac};
use pleat_domain::VersionHash;
use sha2::{Digest, Sha256};
use tempfile::NamedTempFile;

use crate::gate::Party;

/// The key for MACs of compiled code. Every node of an installation may have its own; the code is then compiled anew.
#[derive(Clone)]
pub struct CodeKey([u8; 32]);

impl CodeKey {
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    fn mac(&self, purpose: &[u8]) -> Hmac<Sha256> {
        // HMAC pads a short key with zeros to its block of 64 bytes: this is the same key.
        let mut block = [0; 64];
        block.iter_mut().zip(self.0).for_each(|(to, from)| *to = from);
        let mut mac = Hmac::<Sha256>::new((&block).into());
        mac.update(purpose);
        mac
    }

    /// Tells keys apart without telling anything of them.
    pub(super) fn id(&self) -> String {
        let id = self.mac(b"pleat/code-key-id/v1").finalize().into_bytes();
        hex::encode(id.iter().copied().take(4).collect::<Vec<_>>())
    }
}

impl std::fmt::Debug for CodeKey {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str("CodeKey(…)")
    }
}

const CODE: &str = "cwasm";
const MAC: &str = "mac";
const BUFFER: usize = 256 << 10;

/// The compiled code of one engine.
#[derive(Debug)]
pub(crate) struct CodeFiles {
    directory: PathBuf,
    /// The engine settings that compiled code depends on.
    compatibility: String,
    key: CodeKey,
    /// Whether tenants share the code of the same source.
    shared: bool,
}

impl CodeFiles {
    pub(super) fn new(directory: PathBuf, compatibility: &str, key: CodeKey, shared: bool) -> Self {
        Self { directory, compatibility: compatibility.to_owned(), key, shared }
    }

    pub(crate) fn directory(&self) -> &Path {
        &self.directory
    }

    /// The name of a tenant's code of a version. Whether another tenant has deployed the same source cannot be told
    /// from how long a deploy takes, because nothing is shared.
    pub(crate) fn name_of(&self, party: Party, version: VersionHash) -> String {
        let party = if self.shared { Party::default() } else { party };
        let mut mac = self.key.mac(b"pleat/code-name/v1");
        mac.update(&party.0.to_be_bytes());
        mac.update(version.as_bytes());
        hex::encode(mac.finalize().into_bytes())
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.directory.join(name).with_extension(CODE)
    }

    fn mac_path(&self, name: &str) -> PathBuf {
        self.directory.join(name).with_extension(MAC)
    }

    pub(crate) fn is_there(&self, name: &str) -> bool {
        self.path(name).is_file() && self.mac_path(name).is_file()
    }

    /// The file, if its MAC is right. What is mapped should be this file, not what has its name later.
    pub(crate) fn open(&self, name: &str) -> Option<File> {
        self.verified(name, |_| {})
    }

    /// The SHA-256 of the content, if its MAC is right.
    pub(crate) fn digest(&self, name: &str) -> Option<String> {
        let mut digest = Sha256::new();
        self.verified(name, |bytes| digest.update(bytes))?;
        Some(hex::encode(digest.finalize()))
    }

    fn verified(&self, name: &str, mut look: impl FnMut(&[u8])) -> Option<File> {
        let expected = std::fs::read_to_string(self.mac_path(name)).ok()?;
        let mut file = File::open(self.path(name)).ok()?;
        let mut mac = self.begin(name);
        let whole = read_all(&mut file, |bytes| {
            mac.update(bytes);
            look(bytes);
        });
        let is_right =
            whole.is_ok() && hex::decode(expected.trim()).is_ok_and(|expected| mac.verify_slice(&expected).is_ok());
        if !is_right {
            tracing::warn!(file = name, "compiled code was altered or is damaged; it will be compiled again");
            return None;
        }
        // The least recently used is removed first. A file that cannot be marked is merely removed earlier.
        let _ = file.set_modified(SystemTime::now());
        file.rewind().ok()?;
        Some(file)
    }

    /// By rename, so that no reader ever sees half a file; the MAC first, so that a crash in between leaves something
    /// that is refused.
    pub(crate) fn write(&self, name: &str, code: &[u8]) -> io::Result<()> {
        let mut mac = self.begin(name);
        mac.update(code);
        let mac = hex::encode(mac.finalize().into_bytes());
        self.replace(&self.mac_path(name), mac.as_bytes())?;
        self.replace(&self.path(name), code)
    }

    pub(crate) fn remove(&self, name: &str) {
        // It may never have been there.
        let _ = std::fs::remove_file(self.path(name));
        let _ = std::fs::remove_file(self.mac_path(name));
    }

    fn begin(&self, name: &str) -> Hmac<Sha256> {
        let mut mac = self.key.mac(b"pleat/compiled-code/v1");
        for part in [&self.compatibility, name] {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part.as_bytes());
        }
        mac
    }

    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = NamedTempFile::new_in(&self.directory)?;
        file.write_all(bytes)?;
        file.persist(path).map(drop).map_err(|error| error.error)
    }
}

fn read_all(file: &mut File, mut look: impl FnMut(&[u8])) -> io::Result<()> {
    let mut buffer = vec![0; BUFFER];
    loop {
        let count = file.read(&mut buffer)?;
        match buffer.get(..count) {
            Some([]) | None => return Ok(()),
            Some(bytes) => look(bytes),
        }
    }
}

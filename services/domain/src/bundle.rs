//! A script of several files, as it is uploaded and kept: one JSON document,
//! `{"entry": "hello.ts", "files": {"hello.ts": "…", "lib/text.js": "…"}}`.
//!
//! Paths are relative to the directory of the project, with `/` between their parts. The same files always make the same
//! bytes, because a version is known by the hash of them.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::limits;

/// Files that are text of a script, or data that a script imports.
pub const SCRIPT_EXTENSIONS: [&str; 5] = ["js", "mjs", "ts", "mts", "json"];
const PATH_BYTES: usize = 200;

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bundle {
    entry: String,
    files: BTreeMap<String, String>,
}

#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BundleFault {
    #[error("the bundle is not a JSON document with `entry` and `files`: {0}")]
    Malformed(String),
    #[error("`{path}` {reason}")]
    Path { path: String, reason: &'static str },
    #[error("the bundle has {0} files; the most is {most}", most = limits::BUNDLE_FILES)]
    TooManyFiles(usize),
    #[error("the files of the bundle have {0} bytes together; the most is {most}", most = limits::SCRIPT_UPLOAD)]
    TooLarge(usize),
    #[error("the bundle's entry `{0}` is not among its files")]
    NoEntry(String),
}

impl Bundle {
    pub fn new(entry: String, files: BTreeMap<String, String>) -> Result<Self, BundleFault> {
        let bundle = Self { entry, files };
        bundle.check()?;
        Ok(bundle)
    }

    pub fn parse(bytes: &[u8]) -> Result<Self, BundleFault> {
        // A path that is there twice would be one file to one reader and another to the next.
        crate::json::check(bytes).map_err(|fault| BundleFault::Malformed(fault.to_string()))?;
        let bundle: Self = serde_json::from_slice(bytes).map_err(|error| BundleFault::Malformed(error.to_string()))?;
        bundle.check()?;
        Ok(bundle)
    }

    pub fn to_bytes(&self) -> Vec<u8> {
        // Text as keys and values: there is nothing in it that could fail.
        serde_json::to_vec(self).unwrap_or_default()
    }

    pub fn entry(&self) -> &str {
        &self.entry
    }

    /// Path and text, the entry first.
    pub fn into_files(mut self) -> Vec<(String, String)> {
        let text = self.files.remove(&self.entry).unwrap_or_default();
        std::iter::once((self.entry, text)).chain(self.files).collect()
    }

    fn check(&self) -> Result<(), BundleFault> {
        if self.files.len() > limits::BUNDLE_FILES {
            return Err(BundleFault::TooManyFiles(self.files.len()));
        }
        let size = self.files.values().map(String::len).sum();
        if size > limits::SCRIPT_UPLOAD {
            return Err(BundleFault::TooLarge(size));
        }
        for path in self.files.keys() {
            check_path(path).map_err(|reason| BundleFault::Path { path: path.chars().take(80).collect(), reason })?;
        }
        if !self.files.contains_key(&self.entry) || self.entry.ends_with(".json") {
            return Err(BundleFault::NoEntry(self.entry.chars().take(80).collect()));
        }
        Ok(())
    }
}

fn check_path(path: &str) -> Result<(), &'static str> {
    if path.len() > PATH_BYTES {
        return Err("is too long: a path has at most 200 bytes");
    }
    if path.chars().any(|character| character.is_control() || matches!(character, '\\' | ':')) {
        return Err("has a character that a path must not have");
    }
    if path.split('/').any(|part| part.is_empty() || part == "." || part == "..") {
        return Err("is not a plain relative path");
    }
    match path.rsplit_once('.') {
        Some((_, extension)) if SCRIPT_EXTENSIONS.contains(&extension) => Ok(()),
        _ => Err("is not a script: use .js, .mjs, .ts, .mts or .json"),
    }
}

//! What is deployed: a source in one of the languages, and the reference by which it is found again.

use std::fmt;
use std::str::FromStr;

use bytes::Bytes;
use pleat_domain::VersionHash;
use pleat_domain::limits;
use serde::{Deserialize, Serialize};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Language {
    #[serde(rename = "js")]
    JavaScript,
    #[serde(rename = "ts")]
    TypeScript,
    /// JavaScript and TypeScript in several files: a `pleat_domain::Bundle`.
    #[serde(rename = "bundle")]
    Bundle,
    /// A component in binary form.
    #[serde(rename = "wasm")]
    Component,
    /// A component in text form.
    #[serde(rename = "wat")]
    ComponentText,
}

impl Language {
    /// The stored form; part of a version's hash.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JavaScript => "js",
            Self::TypeScript => "ts",
            Self::Bundle => "bundle",
            Self::Component => "wasm",
            Self::ComponentText => "wat",
        }
    }

    /// By the file's extension.
    pub fn of_file(name: &str) -> Option<Self> {
        match name.rsplit_once('.')?.1 {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            "bundle" => Some(Self::Bundle),
            "wasm" => Some(Self::Component),
            "wat" => Some(Self::ComponentText),
            _ => None,
        }
    }

    /// Whether the script engine runs it.
    pub const fn is_script(self) -> bool {
        matches!(self, Self::JavaScript | Self::TypeScript | Self::Bundle)
    }

    /// The most bytes a source of this language may have.
    pub const fn most_bytes(self) -> usize {
        match self {
            Self::JavaScript | Self::TypeScript => limits::SCRIPT_UPLOAD,
            Self::Bundle => limits::BUNDLE_UPLOAD,
            Self::Component | Self::ComponentText => limits::COMPONENT_UPLOAD,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.as_str())
    }
}

/// The text names no language.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a language: use `js`, `ts`, `bundle`, `wasm` or `wat`")]
pub struct UnknownLanguage(String);

impl FromStr for Language {
    type Err = UnknownLanguage;

    fn from_str(text: &str) -> Result<Self, UnknownLanguage> {
        match text {
            "js" => Ok(Self::JavaScript),
            "ts" => Ok(Self::TypeScript),
            "bundle" => Ok(Self::Bundle),
            "wasm" => Ok(Self::Component),
            "wat" => Ok(Self::ComponentText),
            other => Err(UnknownLanguage(other.chars().take(40).collect())),
        }
    }
}

#[derive(Debug, Clone)]
pub struct Source {
    pub language: Language,
    /// As the user knows the file: it appears in error texts and stack traces.
    pub file_name: String,
    pub bytes: Bytes,
}

impl Source {
    pub fn hash(&self) -> VersionHash {
        match self.language {
            // A script's name is compiled into its stack traces.
            Language::JavaScript | Language::TypeScript => {
                VersionHash::of(&format!("{}:{}", self.language, self.file_name), &self.bytes)
            }
            language => VersionHash::of(language.as_str(), &self.bytes),
        }
    }

    pub fn version(&self) -> VersionRef {
        VersionRef { hash: self.hash(), language: self.language, file_name: self.file_name.clone() }
    }
}

/// A version that was prepared before, by this node or another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct VersionRef {
    pub hash: VersionHash,
    pub language: Language,
    pub file_name: String,
}

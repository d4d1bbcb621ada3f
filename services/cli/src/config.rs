//! What a node is told: the defaults, one file, the environment, the flags. The later of these wins, key by key, and
//! where each value came from is kept.
//!
//! A key is `section.name`, in the file `[section] name = …`, in the environment `PLEAT_SECTION_NAME`. The master key is
//! no part of this: it comes from the environment alone, so that no file and no list of processes holds it.

mod draft;
mod egress;
mod file;
mod machine_memory;
mod parts;
mod ranges;
mod settings;
pub mod show;

use std::fmt;
use std::path::PathBuf;

use serde_json::Value;

pub use self::settings::{LogFormat, Settings, TracingSettings};
use crate::config::draft::Draft;
use crate::node_args::NodeArgs;
use crate::problem::Problem;

/// The committed file, with every key, its default and what it is for.
pub const DEFAULT_FILE: &str = include_str!("../../../deploy/pleat.toml");

/// No `Debug`: it holds the database's password.
pub struct Config {
    pub settings: Settings,
    /// The file that was read.
    pub file: Option<PathBuf>,
    pub entries: Vec<Entry>,
}

/// One key as it is in effect.
#[derive(Clone)]
pub struct Entry {
    pub key: String,
    pub value: Value,
    pub default: Value,
    pub source: Source,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    Default,
    File(PathBuf),
    Environment(String),
    Flag(&'static str),
}

impl fmt::Display for Source {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Default => formatter.write_str("default"),
            Self::File(path) => write!(formatter, "file {}", path.display()),
            Self::Environment(name) => write!(formatter, "environment {name}"),
            Self::Flag(name) => write!(formatter, "flag {name}"),
        }
    }
}

impl Config {
    pub fn load(args: &NodeArgs, data_dir: Option<&PathBuf>) -> Result<Self, Problem> {
        let mut draft = Draft::defaults();
        let file = file::find(args.config.as_deref())?;
        if let Some(path) = &file {
            draft.read_file(path)?;
        }
        draft.read_environment(|name| std::env::var(name).ok())?;
        for given in args.given(data_dir) {
            draft.set_given(given)?;
        }
        let settings = draft.settings()?;
        Ok(Self { settings, file, entries: draft.into_entries() })
    }
}

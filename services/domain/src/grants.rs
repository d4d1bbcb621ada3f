//! What the deployer allowed. A manifest requests; grants are what counts.

use serde::{Deserialize, Serialize};

/// Who may call a skill and who sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize, Default)]
#[serde(rename_all = "lowercase")]
pub enum Visibility {
    /// On the card; anybody may call it.
    Public,
    /// On the card; needs a key that may invoke.
    #[default]
    Listed,
    /// On no public card or list; needs a key that may invoke.
    Unlisted,
}

impl Visibility {
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Public => "public",
            Self::Listed => "listed",
            Self::Unlisted => "unlisted",
        }
    }
}

/// Capabilities of a deployed version.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Grants {
    pub visibility: Visibility,
    pub secrets: Vec<String>,
    pub config: Vec<String>,
    pub hosts: Vec<String>,
    pub skills: Vec<String>,
    pub key_value: bool,
}

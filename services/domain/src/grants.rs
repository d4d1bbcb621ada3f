//! What the deployer allowed. A manifest requests; grants are what counts.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use crate::capability::Capability;

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

    /// How the database keeps it: a number that never changes its meaning.
    pub const fn to_code(self) -> i16 {
        match self {
            Self::Public => 0,
            Self::Listed => 1,
            Self::Unlisted => 2,
        }
    }

    pub fn from_code(code: i16) -> Option<Self> {
        [Self::Public, Self::Listed, Self::Unlisted].into_iter().find(|visibility| visibility.to_code() == code)
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

impl Grants {
    /// Each single thing in it.
    pub fn capabilities(&self) -> BTreeSet<Capability> {
        let mut all = BTreeSet::new();
        if self.visibility == Visibility::Public {
            all.insert(Capability::Public);
        }
        all.extend(self.secrets.iter().cloned().map(Capability::Secret));
        all.extend(self.config.iter().cloned().map(Capability::Config));
        all.extend(self.hosts.iter().cloned().map(Capability::Host));
        all.extend(self.skills.iter().cloned().map(Capability::Skill));
        if self.key_value {
            all.insert(Capability::KeyValue);
        }
        all
    }

    /// The grants that these are. Who may call the function is decided apart.
    pub fn of(visibility: Visibility, capabilities: impl IntoIterator<Item = Capability>) -> Self {
        let mut grants = Self { visibility, ..Self::default() };
        for capability in capabilities {
            match capability {
                Capability::Public => {}
                Capability::Secret(name) => grants.secrets.push(name),
                Capability::Config(name) => grants.config.push(name),
                Capability::Host(name) => grants.hosts.push(name),
                Capability::Skill(name) => grants.skills.push(name),
                Capability::KeyValue => grants.key_value = true,
            }
        }
        grants
    }
}

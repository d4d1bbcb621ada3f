//! The agent card: what a tenant's agent says of itself, generated from what is deployed.
//!
//! One generator, two shapes. The pure one has the fields of A2A 1.0 and no others; the hybrid one adds those of 0.3
//! and of the documented card, so that clients of every version find themselves in it. A card claims nothing that is
//! not served, and the caller hands in only skills that the reader may know of.

pub mod canonical;
mod hybrid;
mod pure;
pub mod schema;
mod security;
pub mod signing;
pub mod transport;

pub use pure::{SCHEMAS_EXTENSION, TRANSPORT_EXTENSION};

use serde_json::{Map, Value};

use crate::value::text_of;

/// What a card is made from.
#[derive(Debug, Clone)]
pub struct CardSource<'a> {
    /// The tenant's slug.
    pub tenant: &'a str,
    /// The tenant's origin (or path prefix), without a trailing slash. Requests may be sent there.
    pub base_url: &'a str,
    pub version: &'a str,
    pub skills: Vec<CardSkill<'a>>,
    /// Who may issue tokens for this tenant, by their names.
    pub issuers: &'a [String],
    pub served: Served,
}

/// Doors and features that a card announces only where they are there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Served {
    pub push_notifications: bool,
    pub mcp: bool,
}

/// A skill that the reader of the card may know of.
#[derive(Debug, Clone)]
pub struct CardSkill<'a> {
    pub name: &'a str,
    pub title: Option<&'a str>,
    pub description: &'a str,
    pub tags: &'a [String],
    pub examples: &'a [Value],
    pub input: Option<&'a Value>,
    pub output: Option<&'a Value>,
    /// Needs no key.
    pub public: bool,
}

/// Which fields a card has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Shape {
    /// 1.0 with 0.3 and the documented fields around it.
    Hybrid,
    /// 1.0 alone: its schema allows no other field.
    Pure,
}

impl Shape {
    /// What a client that sent this version wants to read. Whoever sends none, or one that is not 1.x, gets a card that
    /// every version can read.
    pub fn of_version(version: Option<&str>) -> Self {
        match version.map(str::trim).and_then(|version| version.split('.').next()) {
            Some("1") => Self::Pure,
            _ => Self::Hybrid,
        }
    }
}

/// The card, without signatures.
pub fn render(source: &CardSource<'_>, shape: Shape) -> Map<String, Value> {
    match shape {
        Shape::Pure => pure::card(source),
        Shape::Hybrid => hybrid::card(source),
    }
}

impl CardSource<'_> {
    /// The JSON-RPC door of all versions.
    fn rpc_url(&self) -> String {
        format!("{}/_a2a/", self.base_url)
    }

    fn rest_url(&self) -> String {
        format!("{}/_a2a/rest", self.base_url)
    }

    fn needs_key(&self) -> bool {
        self.skills.iter().any(|skill| !skill.public)
    }
}

impl CardSkill<'_> {
    /// A skill without a description cannot be chosen by a model, and later versions require one.
    fn described(&self) -> String {
        match (self.description, self.title) {
            ("", Some(title)) => title.to_owned(),
            ("", None) => format!("Runs the function {}", self.name),
            (description, _) => description.to_owned(),
        }
    }

    /// Examples on a card are strings; one given as JSON is shown as JSON text.
    fn shown_examples(&self) -> Vec<String> {
        let text = |example: &Value| text_of(&pleat_domain::json::raw(example)).into_owned();
        self.examples.iter().map(text).collect()
    }
}

#[cfg(test)]
mod tests;

//! The agent card: what a tenant's agent says of itself, generated from what is deployed.
//!
//! It claims nothing that is not served, and the caller hands in only skills that everybody may see: unlisted ones
//! are on no public card.

use serde::Serialize;
use serde_json::Value;

use crate::value::{accepts_text, text_of};

const JSON: &str = "application/json";
const TEXT: &str = "text/plain";

/// What a card is made from.
#[derive(Debug, Clone)]
pub struct CardSource<'a> {
    /// The tenant's slug.
    pub tenant: &'a str,
    /// The tenant's origin (or path prefix), without a trailing slash. Requests may be sent there.
    pub base_url: &'a str,
    pub version: &'a str,
    pub skills: Vec<CardSkill<'a>>,
}

/// A listed skill.
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

/// The card in the shape of the 0.1 family.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Card<'a> {
    name: String,
    description: String,
    url: &'a str,
    version: &'a str,
    capabilities: Capabilities,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<Authentication>,
    default_input_modes: [&'static str; 2],
    default_output_modes: [&'static str; 2],
    skills: Vec<Skill<'a>>,
}

impl<'a> Card<'a> {
    pub fn new(source: &CardSource<'a>) -> Self {
        let needs_key = source.skills.iter().any(|skill| !skill.public);
        Self {
            name: format!("pleat-{}", source.tenant),
            description: format!("AI agent powered by Pleat with {} tool(s)", source.skills.len()),
            url: source.base_url,
            version: source.version,
            capabilities: Capabilities { streaming: true, push_notifications: false, state_transition_history: false },
            authentication: needs_key.then_some(Authentication { schemes: ["bearer"] }),
            default_input_modes: [JSON, TEXT],
            default_output_modes: [JSON, TEXT],
            skills: source.skills.iter().map(Skill::new).collect(),
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Capabilities {
    streaming: bool,
    push_notifications: bool,
    state_transition_history: bool,
}

#[derive(Debug, Serialize)]
struct Authentication {
    schemes: [&'static str; 1],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
struct Skill<'a> {
    id: &'a str,
    name: &'a str,
    description: String,
    tags: &'a [String],
    #[serde(skip_serializing_if = "Vec::is_empty")]
    examples: Vec<String>,
    input_modes: Vec<&'static str>,
    output_modes: [&'static str; 2],
    #[serde(skip_serializing_if = "Option::is_none")]
    input_schema: Option<&'a Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    output_schema: Option<&'a Value>,
}

impl<'a> Skill<'a> {
    fn new(skill: &CardSkill<'a>) -> Self {
        Self {
            id: skill.name,
            name: skill.name,
            description: description(skill),
            tags: skill.tags,
            examples: skill.examples.iter().map(example).collect(),
            input_modes: if accepts_text(skill.input) { vec![JSON, TEXT] } else { vec![JSON] },
            output_modes: [JSON, TEXT],
            input_schema: skill.input,
            output_schema: skill.output,
        }
    }
}

/// A skill without a description cannot be chosen by a model, and later families require one.
fn description(skill: &CardSkill<'_>) -> String {
    match (skill.description, skill.title) {
        ("", Some(title)) => title.to_owned(),
        ("", None) => format!("Runs the function {}", skill.name),
        (description, _) => description.to_owned(),
    }
}

/// Examples on a card are strings; one given as JSON is shown as JSON text.
fn example(example: &Value) -> String {
    text_of(&pleat_domain::json::raw(example)).into_owned()
}

#[cfg(test)]
mod tests;

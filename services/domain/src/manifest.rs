//! What a function says of itself in `describe`, parsed and checked at deploy.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::capability::BadCapability;
use crate::grants::{Grants, Visibility};
use crate::limits::{self, CallLimits};

/// The manifest. Unknown fields are ignored, so that a function built for a newer platform still deploys.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Manifest {
    /// The name it would like: the deployer's choice goes first, the file's name last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    pub description: String,
    /// JSON Schema of the input; absent means anything.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub input: Option<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output: Option<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub examples: Vec<Value>,
    /// MCP's tool annotations (`readOnlyHint`, `idempotentHint`, …).
    #[serde(skip_serializing_if = "Map::is_empty")]
    pub annotations: Map<String, Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub visibility: Option<Visibility>,
    pub capabilities: Capabilities,
    /// Resources it offers, in the shape of MCP's `resources/list`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resources: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub resource_templates: Vec<Value>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub prompts: Vec<Value>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub limits: Option<CallLimits>,
    /// A guardrail policy. One that is set for the skill takes its place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub guardrails: Option<Value>,
}

/// Whether a call is answered with a task, at a door where the caller can take either.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TaskSupport {
    Required,
    /// When it takes long.
    Optional,
    Forbidden,
}

/// What the function asks to use.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, Default)]
#[serde(default, rename_all = "camelCase")]
pub struct Capabilities {
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub secrets: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub config: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub hosts: Vec<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub skills: Vec<String>,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub key_value: bool,
}

impl Capabilities {
    fn check(&self) -> Result<(), BadManifest> {
        let lists =
            [("secrets", &self.secrets), ("config", &self.config), ("hosts", &self.hosts), ("skills", &self.skills)];
        for (field, names) in lists {
            if names.len() > limits::CAPABILITIES {
                return Err(BadManifest::TooManyCapabilities { field, count: names.len() });
            }
        }
        for capability in self.requested(Visibility::default()).capabilities() {
            capability.checked()?;
        }
        Ok(())
    }

    fn requested(&self, visibility: Visibility) -> Grants {
        Grants {
            visibility,
            secrets: self.secrets.clone(),
            config: self.config.clone(),
            hosts: self.hosts.clone(),
            skills: self.skills.clone(),
            key_value: self.key_value,
        }
    }
}

/// Why a manifest is refused.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum BadManifest {
    #[error("`describe` did not return a manifest: {0}")]
    Shape(String),
    #[error("`describe` returned {0} bytes; the most is {most}", most = Manifest::MOST_BYTES)]
    TooLarge(usize),
    #[error("`{field}` must be a JSON Schema: an object, or true or false")]
    NotASchema { field: &'static str },
    #[error("`{field}` is too long: {length} characters, the most is {most}")]
    TooLong { field: &'static str, length: usize, most: usize },
    #[error("`limits.{0}` asks for more than this platform gives")]
    LimitTooHigh(&'static str),
    #[error("`capabilities.{field}` asks for {count}; the most is {most}", most = limits::CAPABILITIES)]
    TooManyCapabilities { field: &'static str, count: usize },
    #[error("`capabilities`: {0}")]
    Capability(#[from] BadCapability),
}

impl Manifest {
    pub const MOST_BYTES: usize = 256 * 1024;

    pub fn parse(json: &str) -> Result<Self, BadManifest> {
        if json.len() > Self::MOST_BYTES {
            return Err(BadManifest::TooLarge(json.len()));
        }
        // A derived struct would also read from an array, field by field.
        if !json.trim_start().starts_with('{') {
            return Err(BadManifest::Shape("it must be a JSON object".to_owned()));
        }
        crate::json::check(json.as_bytes()).map_err(|fault| BadManifest::Shape(fault.to_string()))?;
        let manifest: Self = serde_json::from_str(json).map_err(|error| BadManifest::Shape(error.to_string()))?;
        manifest.checked()
    }

    fn checked(self) -> Result<Self, BadManifest> {
        for (field, schema) in [("input", &self.input), ("output", &self.output)] {
            if schema.as_ref().is_some_and(|schema| !schema.is_object() && !schema.is_boolean()) {
                return Err(BadManifest::NotASchema { field });
            }
        }
        let title = self.title.as_deref().unwrap_or_default();
        for (field, text, most) in [("title", title, 128), ("description", self.description.as_str(), 4096)] {
            let length = text.chars().count();
            if length > most {
                return Err(BadManifest::TooLong { field, length, most });
            }
        }
        self.capabilities.check()?;
        match self.limits.as_ref().and_then(CallLimits::exceeds_most) {
            Some(limit) => Err(BadManifest::LimitTooHigh(limit)),
            None => Ok(self),
        }
    }

    pub fn limits(&self) -> CallLimits {
        self.limits.unwrap_or_default()
    }

    /// Marked as safe to run again.
    pub fn is_idempotent(&self) -> bool {
        self.annotations.get("idempotentHint").and_then(Value::as_bool).unwrap_or(false)
    }

    /// What it logs is for its callers too.
    pub fn shows_logs(&self) -> bool {
        self.annotations.get("callerLogs").and_then(Value::as_bool).unwrap_or(false)
    }

    pub fn task_support(&self) -> TaskSupport {
        match self.annotations.get("taskSupport").and_then(Value::as_str) {
            Some("required") => TaskSupport::Required,
            Some("forbidden") => TaskSupport::Forbidden,
            _ => TaskSupport::Optional,
        }
    }

    /// Everything that was asked for: what a deployer sees, and grants or not.
    pub fn requested(&self) -> Grants {
        self.capabilities.requested(self.visibility.unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_small_manifest_is_enough_and_unknown_fields_are_ignored() {
        let manifest = Manifest::parse(r#"{"description":"Says hello","input":{"type":"object"},"future":1}"#).unwrap();
        assert_eq!(manifest.description, "Says hello");
        assert_eq!(manifest.limits(), CallLimits::DEFAULT);
    }

    /// The schema that authors read and the type that we parse with say the same.
    #[test]
    fn the_published_schema_has_the_fields_and_limits_of_the_type() {
        let text = include_str!("../../../functions-sdk/wit/manifest.schema.json");
        let schema: Value = serde_json::from_str(text).unwrap();
        let full = Manifest {
            name: Some(String::new()),
            title: Some(String::new()),
            input: Some(Value::Bool(true)),
            output: Some(Value::Bool(true)),
            tags: vec![String::new()],
            examples: vec![Value::Null],
            annotations: Map::from_iter([("x".to_owned(), Value::Null)]),
            visibility: Some(Visibility::Public),
            resources: vec![Value::Null],
            resource_templates: vec![Value::Null],
            prompts: vec![Value::Null],
            limits: Some(CallLimits::MOST),
            guardrails: Some(Value::Null),
            ..Manifest::default()
        };
        let written = serde_json::to_value(&full).unwrap();
        let keys = |value: &Value| -> std::collections::BTreeSet<String> {
            value.as_object().unwrap().keys().cloned().collect()
        };
        assert_eq!(keys(&schema["properties"]), keys(&written));
        for (limit, most) in written["limits"].as_object().unwrap() {
            assert_eq!(schema["properties"]["limits"]["properties"][limit]["maximum"], *most, "{limit}");
        }
    }

    #[test]
    fn faults_are_named() {
        let fault = |json: &str| Manifest::parse(json).unwrap_err().to_string();
        assert!(fault("[]").starts_with("`describe` did not return a manifest"));
        assert_eq!(fault(r#"{"input":3}"#), "`input` must be a JSON Schema: an object, or true or false");
        assert!(fault(r#"{"capabilities":{"secrets":["a-b"]}}"#).starts_with("`capabilities`: `a-b` cannot name"));
        assert!(fault(r#"{"capabilities":{"hosts":["*x"]}}"#).starts_with("`capabilities`: `*x` cannot name a host"));
        let many = format!(r#"{{"capabilities":{{"skills":[{}"x"]}}}}"#, r#""x","#.repeat(100));
        assert_eq!(fault(&many), "`capabilities.skills` asks for 101; the most is 100");
        assert_eq!(fault(r#"{"limits":{"cpuMs":99999999}}"#), "`limits.cpuMs` asks for more than this platform gives");
        assert!(
            fault(&format!(r#"{{"description":"{}"}}"#, "x".repeat(5000))).starts_with("`description` is too long")
        );
    }
}

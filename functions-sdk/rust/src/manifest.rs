//! What a function says of itself. Unknown fields are ignored by the platform, so [`Manifest::set`] can carry what
//! this version of the crate does not name.

use serde_json::{Map, Value};

#[derive(Debug, Clone, PartialEq)]
pub struct Manifest(Map<String, Value>);

impl Manifest {
    pub fn new(description: &str) -> Self {
        Self(Map::new()).set("description", description)
    }

    pub fn title(self, title: &str) -> Self {
        self.set("title", title)
    }

    /// JSON Schema of the input.
    pub fn input(self, schema: Value) -> Self {
        self.set("input", schema)
    }

    /// JSON Schema of the returned value.
    pub fn output(self, schema: Value) -> Self {
        self.set("output", schema)
    }

    pub fn tags(self, tags: &[&str]) -> Self {
        self.set("tags", tags.to_vec())
    }

    pub fn examples(self, examples: &[Value]) -> Self {
        self.set("examples", examples)
    }

    /// Running the same call twice does no harm: the platform may do it after a node was lost.
    pub fn idempotent(self) -> Self {
        self.set("annotations", serde_json::json!({"idempotentHint": true}))
    }

    /// Secrets to read ([`crate::Context::secret`]). What is asked for is usable once the deployer grants it.
    pub fn secrets(self, names: &[&str]) -> Self {
        self.capability("secrets", names.to_vec())
    }

    /// Settings of the tenant to read ([`crate::Context::config`]).
    pub fn config(self, names: &[&str]) -> Self {
        self.capability("config", names.to_vec())
    }

    /// Hosts to send HTTP to ([`crate::Context::fetch`]): `api.example.com`, `*.example.com`, `host:8443`.
    pub fn hosts(self, patterns: &[&str]) -> Self {
        self.capability("hosts", patterns.to_vec())
    }

    /// Other skills to call ([`crate::Context::call`]).
    pub fn skills(self, names: &[&str]) -> Self {
        self.capability("skills", names.to_vec())
    }

    /// The tenant's key-value store ([`crate::Context::key_value`]).
    pub fn key_value(self) -> Self {
        self.capability("keyValue", true)
    }

    fn capability(mut self, name: &str, value: impl Into<Value>) -> Self {
        let capabilities = self.0.entry("capabilities").or_insert_with(|| Map::new().into());
        if let Some(capabilities) = capabilities.as_object_mut() {
            capabilities.insert(name.to_owned(), value.into());
        }
        self
    }

    /// Any field of the manifest, by its name in JSON.
    pub fn set(mut self, field: &str, value: impl Into<Value>) -> Self {
        self.0.insert(field.to_owned(), value.into());
        self
    }

    pub(crate) fn to_json(&self) -> String {
        serde_json::to_string(&self.0).unwrap_or_default()
    }
}

//! As much of JSON Schema as can be said without a value: which types are possible, which properties are there.
//!
//! What is not understood (combinations, references to elsewhere) counts as "anything", so that nothing is refused that
//! could work.

mod types;

use pleat_schemas::{Effort, Schema, Verdict};
use serde_json::{Map, Value};

pub(crate) use types::Types;

/// References that are followed before a schema counts as unknown.
const HOPS: usize = 16;
/// Schemas that are looked at to tell the types of one.
const WORK: usize = 64;

static ANYTHING: Value = Value::Bool(true);

/// A schema inside its document, which its references mean.
#[derive(Debug, Clone, Copy)]
pub(crate) struct View<'a> {
    root: &'a Value,
    here: &'a Value,
}

/// What a schema says of a property.
pub(crate) enum Property<'a> {
    Known(View<'a>),
    /// The schema allows it and does not speak of it, though it speaks of others.
    Unspoken,
    Unknown,
    Never,
}

impl<'a> View<'a> {
    pub(crate) fn new(root: &'a Value) -> Self {
        Self { root, here: root }.resolved()
    }

    fn of(self, here: &'a Value) -> Self {
        Self { root: self.root, here }.resolved()
    }

    fn resolved(self) -> Self {
        let mut here = self.here;
        for _ in 0..HOPS {
            let Some(Value::String(target)) = here.get("$ref") else { return Self { here, ..self } };
            let found = target.strip_prefix('#').and_then(|pointer| self.root.pointer(pointer));
            here = found.unwrap_or(&ANYTHING);
        }
        Self { here: &ANYTHING, ..self }
    }

    fn keyword(self, key: &str) -> Option<&'a Value> {
        self.here.get(key)
    }

    fn object(self, key: &str) -> Option<&'a Map<String, Value>> {
        self.keyword(key).and_then(Value::as_object)
    }

    pub(crate) fn types(self) -> Types {
        types::of(self, &mut { WORK })
    }

    pub(crate) fn required(self) -> impl Iterator<Item = &'a str> {
        self.keyword("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str)
    }

    pub(crate) fn properties(self) -> impl Iterator<Item = &'a str> {
        self.object("properties").into_iter().flat_map(Map::keys).map(String::as_str)
    }

    pub(crate) fn property(self, key: &str) -> Property<'a> {
        if self.here == &Value::Bool(false) || !self.types().overlap(Types::OBJECT) {
            return Property::Never;
        }
        if let Some(schema) = self.object("properties").and_then(|properties| properties.get(key)) {
            return if schema == &Value::Bool(false) { Property::Never } else { Property::Known(self.of(schema)) };
        }
        if self.object("patternProperties").is_some_and(|patterns| !patterns.is_empty()) {
            return Property::Unknown;
        }
        match self.keyword("additionalProperties") {
            Some(Value::Bool(false)) => Property::Never,
            Some(schema @ Value::Object(_)) => Property::Known(self.of(schema)),
            _ if self.combines() || self.properties().next().is_none() => Property::Unknown,
            _ => Property::Unspoken,
        }
    }

    /// The schema of an item, of any or of one by its number.
    pub(crate) fn item(self, index: Option<usize>) -> Option<View<'a>> {
        let first = self.keyword("prefixItems").or_else(|| self.keyword("items").filter(|items| items.is_array()));
        if let Some(first) = first.and_then(Value::as_array).filter(|first| !first.is_empty()) {
            return first.get(index?).map(|schema| self.of(schema));
        }
        self.keyword("items").filter(|items| !items.is_array()).map(|schema| self.of(schema))
    }

    fn combines(self) -> bool {
        ["allOf", "anyOf", "oneOf", "if", "not", "dependentSchemas", "$dynamicRef", "unevaluatedProperties"]
            .iter()
            .any(|key| self.keyword(key).is_some())
    }

    /// Why a value does not fit, in the words of the validator.
    pub(crate) fn refuses(self, value: &Value) -> Option<String> {
        let mut alone = Map::new();
        for key in self.context() {
            alone.extend(self.root.get(*key).map(|found| ((*key).to_owned(), found.clone())));
        }
        alone.insert("allOf".into(), Value::Array(vec![self.here.clone()]));
        // What cannot be compiled apart from its document is left to the check of each call.
        match Schema::compile_apart(&Value::Object(alone)).ok()?.check(value, Effort::INLINE).ok()? {
            Verdict::Valid => None,
            Verdict::Invalid(faults) => Some(faults.first()?.message.chars().take(200).collect()),
        }
    }

    /// What `refuses` costs, in values of schemas.
    pub(crate) fn weight(self) -> usize {
        let context = self.context().iter().filter_map(|key| self.root.get(*key));
        context.chain([self.here]).map(values).sum()
    }

    /// What of its document a schema needs to be understood alone.
    fn context(self) -> &'static [&'static str] {
        if refers(self.here) { &["$schema", "$defs", "definitions"] } else { &["$schema"] }
    }
}

fn values(value: &Value) -> usize {
    1 + match value {
        Value::Array(items) => items.iter().map(values).sum(),
        Value::Object(entries) => entries.values().map(values).sum(),
        _ => 0,
    }
}

fn refers(value: &Value) -> bool {
    match value {
        Value::Array(items) => items.iter().any(refers),
        Value::Object(entries) => entries.contains_key("$ref") || entries.values().any(refers),
        _ => false,
    }
}

/// The same rules as when functions are called: no references to elsewhere, patterns in linear time.
pub(crate) fn compile(schema: &Value) -> Result<Schema, String> {
    Schema::compile_apart(schema).map_err(|refused| {
        let message: String = refused.message.chars().take(200).collect();
        match refused.pointer.as_str() {
            "" => message,
            place => format!("{message} (at `{place}` of the schema)"),
        }
    })
}

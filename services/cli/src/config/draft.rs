//! The layers, put one over the other: a flat map from keys to values that knows every key there is.

use std::collections::BTreeMap;
use std::path::Path;

use serde_json::{Map, Value};

use super::settings::Settings;
use super::{Entry, Source, file, ranges};
use crate::node_args::Given;
use crate::problem::Problem;

/// Further names that the environment may use, because others use them too.
const ALIASES: &[(&str, &str)] = &[("tracing.endpoint", "OTEL_EXPORTER_OTLP_ENDPOINT"), ("log.level", "RUST_LOG")];

pub struct Draft {
    entries: BTreeMap<String, Entry>,
}

impl Draft {
    pub fn defaults() -> Self {
        let tree = serde_json::to_value(Settings::default()).unwrap_or_default();
        let entry = |(key, value): (String, Value)| {
            (String::clone(&key), Entry { key, default: value.clone(), value, source: Source::Default })
        };
        Self { entries: flat(tree).into_iter().map(entry).collect() }
    }

    pub fn read_file(&mut self, path: &Path) -> Result<(), Problem> {
        for (key, value) in flat(file::read(path)?) {
            if !self.entries.contains_key(&key) {
                // Plans have names of the operator's.
                if !key.starts_with("plans.") || !value.is_object() {
                    return Err(self.unknown(&key, path));
                }
                let table = Value::Object(Map::new());
                let entry = Entry { key: key.clone(), value: table.clone(), default: table, source: Source::Default };
                self.entries.insert(key.clone(), entry);
            }
            self.set(&key, value, Source::File(path.to_owned()))?;
        }
        Ok(())
    }

    /// An empty variable is as good as none.
    pub fn read_environment(&mut self, look: impl Fn(&str) -> Option<String>) -> Result<(), Problem> {
        let keys: Vec<String> = self.entries.keys().cloned().collect();
        for key in keys {
            let aliases = ALIASES.iter().filter(|(of, _)| *of == key).map(|(_, name)| (*name).to_owned());
            for name in aliases.chain([variable(&key)]) {
                if let Some(text) = look(&name).filter(|text| !text.trim().is_empty()) {
                    self.set_text(&key, &text, Source::Environment(name))?;
                }
            }
        }
        Ok(())
    }

    pub fn set_given(&mut self, given: Given) -> Result<(), Problem> {
        self.set_text(given.key, &given.text, given.source)
    }

    /// What the layers come to.
    pub fn settings(&self) -> Result<Settings, Problem> {
        let mut tree = Map::new();
        for (key, entry) in &self.entries {
            let (section, name) = key.split_once('.').unwrap_or((key, ""));
            let section = tree.entry(section).or_insert_with(|| Value::Object(Map::new()));
            if let Some(section) = section.as_object_mut() {
                section.insert(name.to_owned(), entry.value.clone());
            }
        }
        serde_json::from_value(Value::Object(tree))
            .map_err(|error| Problem::usage(format!("the configuration does not fit: {error}"), SEE))
    }

    pub fn into_entries(self) -> Vec<Entry> {
        self.entries.into_values().collect()
    }

    /// Text is read as what the key's default is.
    fn set_text(&mut self, key: &str, text: &str, source: Source) -> Result<(), Problem> {
        let text = text.trim();
        let value = match self.entries.get(key).map(|entry| &entry.default).unwrap_or(&Value::Null) {
            Value::Number(_) | Value::Bool(_) => number(text),
            Value::Array(of) => {
                let numbers = of.first().is_some_and(Value::is_number);
                let parts = text.split(',').map(str::trim).filter(|part| !part.is_empty());
                parts.map(|part| if numbers { number(part) } else { Value::from(part) }).collect()
            }
            _ => Value::from(text),
        };
        self.set(key, value, source)
    }

    fn set(&mut self, key: &str, value: Value, source: Source) -> Result<(), Problem> {
        let Some(entry) = self.entries.get_mut(key) else { return Ok(()) };
        if let Some(fault) = fault(key, &entry.default, &value) {
            return Err(Problem::usage(format!("`{key}` ({source}): {fault}"), SEE));
        }
        entry.value = value;
        entry.source = source;
        Ok(())
    }

    fn unknown(&self, key: &str, path: &Path) -> Problem {
        let last = |key: &str| key.rsplit('.').next().unwrap_or_default().to_owned();
        let likeness = |known: &&String| {
            let (whole, name) = (strsim::jaro_winkler(known, key), strsim::jaro_winkler(&last(known), &last(key)));
            (2.0 * whole + name) / 3.0
        };
        let nearest = self.entries.keys().max_by(|one, other| likeness(one).total_cmp(&likeness(other)));
        let hint = match nearest.filter(|nearest| likeness(nearest) > 0.7) {
            Some(nearest) => format!("did you mean `{nearest}`?"),
            None => SEE.to_owned(),
        };
        Problem::usage(format!("`{}`: there is no key `{key}`", path.display()), hint)
    }
}

const SEE: &str = "`pleat config --default` prints every key with its default and what it is for";

/// `PLEAT_SECTION_NAME`.
pub fn variable(key: &str) -> String {
    format!("PLEAT_{}", key.replace('.', "_").to_ascii_uppercase())
}

/// A number or a truth; what is neither stays a text, and is refused as one.
fn number(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::from(text))
}

/// Lists hold texts, unless the default holds numbers.
fn same_kind(default: &[Value], list: &[Value]) -> bool {
    let numbers = default.first().is_some_and(Value::is_number);
    list.iter().all(|value| if numbers { value.is_u64() } else { value.is_string() })
}

/// Sections are one deep: whatever is below a name is its value.
fn flat(tree: Value) -> Vec<(String, Value)> {
    let Value::Object(sections) = tree else { return Vec::new() };
    let mut all = Vec::new();
    for (section, value) in sections {
        match value {
            Value::Object(names) => {
                all.extend(names.into_iter().map(|(name, value)| (format!("{section}.{name}"), value)))
            }
            other => all.push((section, other)),
        }
    }
    all
}

/// Why a value cannot stand where the default stood.
fn fault(key: &str, default: &Value, new: &Value) -> Option<String> {
    let expected = match (default, new) {
        (Value::Bool(_), Value::Bool(_)) => return None,
        (Value::Number(was), Value::Number(_)) if was.is_f64() => return ranges::fault(key, new),
        (Value::Number(_), Value::Number(_)) if new.as_u64().is_some() => return ranges::fault(key, new),
        (Value::Array(of), Value::Array(list)) if same_kind(of, list) => return None,
        (Value::Null | Value::String(_), Value::String(_)) => return None,
        (Value::Object(_), Value::Object(_)) => return None,
        (Value::Bool(_), _) => "`true` or `false`",
        (Value::Number(_), _) => "a number that is not negative",
        (Value::Array(of), _) if of.first().is_some_and(Value::is_number) => "a list of numbers",
        (Value::Array(_), _) => "a list of texts",
        (Value::Object(_), _) => "a table",
        _ => "a text",
    };
    Some(format!("this must be {expected}"))
}

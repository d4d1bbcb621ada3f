//! Where schemas are in a schema, and where everything else is data.

use std::collections::HashMap;

use serde_json::{Map, Value};

use crate::schema::Refused;

/// The most schemas in a schema.
const MOST_SCHEMAS: usize = 8000;

/// Keywords with schemas by name.
const MAPS: &[&str] = &["properties", "patternProperties", "$defs", "definitions"];
/// The same, about the value that the schema itself is about.
const MAPS_IN_PLACE: &[&str] = &["dependentSchemas", "dependencies"];
const LISTS: &[&str] = &["prefixItems", "items"];
const LISTS_IN_PLACE: &[&str] = &["allOf", "anyOf", "oneOf"];
const SINGLES: &[&str] = &[
    "items",
    "additionalItems",
    "additionalProperties",
    "unevaluatedItems",
    "unevaluatedProperties",
    "contains",
    "propertyNames",
    "contentSchema",
];
const SINGLES_IN_PLACE: &[&str] = &["not", "if", "then", "else"];
/// Keywords whose values are data.
const DATA: &[&str] = &["enum", "const", "default", "examples"];
const REFERENCES: &[&str] = &["$ref", "$dynamicRef", "$recursiveRef"];

/// One schema inside a schema.
#[derive(Debug, Default)]
pub(crate) struct Position {
    pub(crate) pointer: String,
    /// Schemas about the same value, as indices.
    pub(crate) in_place: Vec<usize>,
    /// References, with the keyword.
    pub(crate) references: Vec<(&'static str, String)>,
    /// Where the resource begins that it is in.
    resource: String,
    /// A boolean that says something else to the library than the same said by a keyword.
    plain: bool,
}

/// All schemas of a schema.
#[derive(Debug, Default)]
pub(crate) struct Positions {
    pub(crate) all: Vec<Position>,
    by_pointer: HashMap<String, usize>,
    anchors: HashMap<String, Vec<usize>>,
    /// Pointers of resources with their identifiers.
    resources: Vec<(String, String)>,
    /// The most values that a keyword carries as data.
    pub(crate) data: u64,
}

impl Positions {
    pub(crate) fn of(root: &Value) -> Result<Self, Refused> {
        let mut found = Self::default();
        found.resources.push((String::new(), identifier(root).unwrap_or_default().to_owned()));
        found.visit(root, "", "", false)?;
        let mut next = 0;
        while let Some(position) = found.all.get(next) {
            let (references, resource) = (position.references.clone(), position.resource.clone());
            for (keyword, reference) in references {
                found.visit_target(root, keyword, &reference, &resource)?;
            }
            next += 1;
        }
        Ok(found)
    }

    /// A reference may lead to where no keyword has a schema.
    fn visit_target(&mut self, root: &Value, keyword: &str, reference: &str, resource: &str) -> Result<(), Refused> {
        for pointer in self.pointers(keyword, reference, resource) {
            let Some(target) = root.pointer(&pointer) else { continue };
            match self.by_pointer.get(&pointer).and_then(|index| self.all.get(*index)) {
                Some(position) if !position.plain => {}
                Some(_) => {
                    return Err(Refused::at(&pointer, format!("`{reference}` leads to a boolean of another keyword")));
                }
                None if pointer.split('/').any(|segment| DATA.contains(&segment)) => {
                    return Err(Refused::at(&pointer, format!("`{reference}` leads to data")));
                }
                None => drop(self.visit(target, &pointer, resource, false)?),
            }
        }
        Ok(())
    }

    fn visit(&mut self, schema: &Value, pointer: &str, resource: &str, plain: bool) -> Result<Option<usize>, Refused> {
        if let Some(index) = self.by_pointer.get(pointer) {
            return Ok(Some(*index));
        }
        if !matches!(schema, Value::Object(_) | Value::Bool(_)) {
            return Ok(None);
        }
        if self.all.len() >= MOST_SCHEMAS {
            return Err(Refused::at(pointer, format!("the schema has more than {MOST_SCHEMAS} schemas in it")));
        }
        let index = self.all.len();
        self.by_pointer.insert(pointer.to_owned(), index);
        let resource = match identifier(schema) {
            Some(id) if !id.starts_with('#') => {
                if !pointer.is_empty() {
                    self.resources.push((pointer.to_owned(), id.to_owned()));
                }
                pointer.to_owned()
            }
            _ => resource.to_owned(),
        };
        let plain = plain && schema.is_boolean();
        self.all.push(Position {
            pointer: pointer.to_owned(),
            resource: resource.clone(),
            plain,
            ..Position::default()
        });
        if let Value::Object(members) = schema {
            self.name(members, index);
            let (in_place, references) = self.visit_members(members, pointer, &resource)?;
            if let Some(position) = self.all.get_mut(index) {
                (position.in_place, position.references) = (in_place, references);
            }
        }
        Ok(Some(index))
    }

    fn name(&mut self, members: &Map<String, Value>, index: usize) {
        for keyword in ["$anchor", "$dynamicAnchor", "$id", "id"] {
            let named = members.get(keyword).and_then(Value::as_str);
            let name = if keyword.ends_with("id") { named.and_then(|id| id.strip_prefix('#')) } else { named };
            if let Some(name) = name {
                self.anchors.entry(name.to_owned()).or_default().push(index);
            }
        }
    }

    #[expect(clippy::type_complexity, reason = "the two fields of a position")]
    fn visit_members(
        &mut self,
        members: &Map<String, Value>,
        pointer: &str,
        resource: &str,
    ) -> Result<(Vec<usize>, Vec<(&'static str, String)>), Refused> {
        let mut in_place = Vec::new();
        for (key, value) in members {
            let at = format!("{pointer}/{}", escaped(key));
            let is = |keywords: &[&str]| keywords.contains(&key.as_str());
            if is(DATA) || is(&["required"]) {
                self.data = self.data.max(crate::counted::size(value));
            }
            let here = is(MAPS_IN_PLACE) || is(LISTS_IN_PLACE) || is(SINGLES_IN_PLACE);
            let mut found = Vec::new();
            match value {
                Value::Object(entries) if is(MAPS) || is(MAPS_IN_PLACE) => {
                    for (name, schema) in entries {
                        found.push(self.visit(schema, &format!("{at}/{}", escaped(name)), resource, false)?);
                    }
                }
                Value::Array(entries) if is(LISTS) || is(LISTS_IN_PLACE) => {
                    for (number, schema) in entries.iter().enumerate() {
                        found.push(self.visit(schema, &format!("{at}/{number}"), resource, false)?);
                    }
                }
                schema if is(SINGLES) || is(SINGLES_IN_PLACE) => found.push(self.visit(schema, &at, resource, !here)?),
                _ => {}
            }
            if here {
                in_place.extend(found.into_iter().flatten());
            }
        }
        let reference = |keyword: &&'static str| Some((*keyword, members.get(*keyword)?.as_str()?.to_owned()));
        Ok((in_place, REFERENCES.iter().filter_map(reference).collect()))
    }

    /// Where a reference may lead within the schema. Too many rather than too few.
    fn pointers(&self, keyword: &str, reference: &str, resource: &str) -> Vec<String> {
        let (uri, fragment) = reference.split_once('#').unwrap_or((reference, ""));
        let fragment = unescaped(fragment);
        if keyword == "$recursiveRef" {
            return self.resources.iter().map(|(pointer, _)| pointer.clone()).collect();
        }
        if !fragment.is_empty() && !fragment.starts_with('/') {
            let named = self.anchors.get(&fragment).into_iter().flatten();
            return named.filter_map(|index| self.all.get(*index)).map(|position| position.pointer.clone()).collect();
        }
        if uri.is_empty() {
            return vec![format!("{resource}{fragment}")];
        }
        let last = |uri: &str| uri.trim_end_matches('#').rsplit(['/', ':']).next().map(str::to_owned);
        let meant = self.resources.iter().filter(|(_, id)| last(id) == last(uri));
        meant.map(|(pointer, _)| format!("{pointer}{fragment}")).collect()
    }

    /// The schemas that a reference may mean, as indices.
    pub(crate) fn targets(&self, position: &Position) -> Vec<usize> {
        let meant =
            position.references.iter().flat_map(|(key, reference)| self.pointers(key, reference, &position.resource));
        meant.filter_map(|pointer| self.by_pointer.get(&pointer).copied()).collect()
    }

    /// Puts the keyword that counts into every schema.
    pub(crate) fn count(&self, schema: &mut Value, keyword: &str) {
        for position in self.all.iter().filter(|position| !position.plain) {
            match schema.pointer_mut(&position.pointer) {
                Some(Value::Object(members)) => {
                    members.shift_insert(0, keyword.to_owned(), Value::Bool(true));
                }
                Some(boolean @ Value::Bool(_)) => {
                    // A number, so that it is not taken for a schema without keywords when it is told.
                    let allows = u8::from(*boolean == Value::Bool(true));
                    *boolean = Value::Object([(keyword.to_owned(), allows.into())].into_iter().collect());
                }
                _ => {}
            }
        }
    }
}

fn identifier(schema: &Value) -> Option<&str> {
    schema.get("$id").or_else(|| schema.get("id")).and_then(Value::as_str)
}

fn escaped(key: &str) -> String {
    key.replace('~', "~0").replace('/', "~1")
}

/// The percent signs of a fragment read.
fn unescaped(fragment: &str) -> String {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [first, behind @ ..] = rest {
        let hex = behind.get(..2).filter(|_| *first == b'%').and_then(|two| std::str::from_utf8(two).ok());
        match hex.and_then(|two| u8::from_str_radix(two, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = behind.get(2..).unwrap_or_default();
            }
            None => {
                bytes.push(*first);
                rest = behind;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

//! JSON values as the library sees them, with everything that it reads of them counted.

use std::borrow::Cow;

use jsonschema::JsonType;
use jsonschema::json::{Array, Json, Node, NodeIdentity, Object, SerdeJson};
use jsonschema::{Keyword, ValidationError};
use serde_json::{Map, Number, Value};

use crate::steps::{keep, spend};

/// What a fault takes besides the values that it quotes.
const FAULT_VALUES: u64 = 8;

/// The representation that counts.
pub(crate) struct Counted;

impl Json for Counted {
    type Node<'a> = &'a Value;
    type PreparedKey = String;
    type StringBuffer = Value;

    const KEYS_PER_LOOKUP: usize = SerdeJson::KEYS_PER_LOOKUP;

    fn prepare_key(key: &str) -> String {
        spend(1);
        key.to_owned()
    }

    fn with_string_node<T>(buffer: &mut Value, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        spend(text(string));
        SerdeJson::with_string_node(buffer, string, f)
    }
}

/// The steps of reading a text.
const fn text(text: &str) -> u64 {
    1 + text.len() as u64 / 16
}

impl<'a> Node<'a, Counted> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];
    type Number = &'a Number;

    fn as_object(&self) -> Option<&'a Map<String, Value>> {
        spend(1);
        Node::<SerdeJson>::as_object(self)
    }

    fn as_array(&self) -> Option<&'a [Value]> {
        spend(1);
        Node::<SerdeJson>::as_array(self)
    }

    fn as_string(&self) -> Option<Cow<'a, str>> {
        let found = Node::<SerdeJson>::as_string(self);
        spend(found.as_deref().map_or(1, text));
        found
    }

    fn as_number(&self) -> Option<&'a Number> {
        spend(1);
        Node::<SerdeJson>::as_number(self)
    }

    fn as_boolean(&self) -> Option<bool> {
        spend(1);
        Node::<SerdeJson>::as_boolean(self)
    }

    fn is_null(&self) -> bool {
        spend(1);
        Node::<SerdeJson>::is_null(self)
    }

    fn json_type(&self) -> JsonType {
        spend(1);
        Node::<SerdeJson>::json_type(self)
    }

    fn string_length(&self) -> Option<u64> {
        if let Value::String(string) = self {
            spend(text(string));
        }
        Node::<SerdeJson>::string_length(self)
    }

    fn equals_value(&self, expected: &Value) -> bool {
        spend(compared(self, expected));
        Node::<SerdeJson>::equals_value(self, expected)
    }

    fn to_value(&self) -> Cow<'a, Value> {
        // Faults quote values, and those of combined schemas copy them.
        let quoted = size(self);
        spend(quoted);
        keep(quoted + FAULT_VALUES);
        Node::<SerdeJson>::to_value(self)
    }

    fn identity(&self) -> Option<NodeIdentity> {
        spend(1);
        Node::<SerdeJson>::identity(self)
    }
}

/// Values in a value, texts by their length.
pub(crate) fn size(value: &Value) -> u64 {
    match value {
        Value::Array(items) => 1 + items.iter().map(size).sum::<u64>(),
        Value::Object(members) => 1 + members.iter().map(|(key, value)| text(key) + size(value)).sum::<u64>(),
        Value::String(string) => text(string),
        _ => 1,
    }
}

/// The steps of comparing: at most those of the smaller, and one where kinds or lengths differ.
fn compared(value: &Value, expected: &Value) -> u64 {
    match (value, expected) {
        (Value::Array(one), Value::Array(other)) if one.len() == other.len() => size(value),
        (Value::Object(one), Value::Object(other)) if one.len() == other.len() => size(value),
        (Value::String(one), Value::String(other)) if one.len() == other.len() => text(one),
        _ => 1,
    }
}

impl<'a> Object<'a, Counted> for &'a Map<String, Value> {
    type Node = &'a Value;
    type MemberName = &'a str;
    type MembersIter = Members<'a>;

    fn len(&self) -> usize {
        spend(1);
        Map::len(self)
    }

    fn get(&self, key: &String) -> Option<&'a Value> {
        spend(1);
        (*self).get(key.as_str())
    }

    fn members(&self) -> Members<'a> {
        spend(1);
        Members((*self).iter())
    }
}

pub(crate) struct Members<'a>(serde_json::map::Iter<'a>);

impl<'a> Iterator for Members<'a> {
    type Item = (&'a str, &'a Value);

    fn next(&mut self) -> Option<Self::Item> {
        let (key, value) = self.0.next()?;
        spend(text(key));
        Some((key, value))
    }
}

impl<'a> Array<'a, Counted> for &'a [Value] {
    type Node = &'a Value;
    type ElementsIter = Elements<'a>;

    fn len(&self) -> usize {
        spend(1);
        <[Value]>::len(self)
    }

    fn elements(&self) -> Elements<'a> {
        spend(1);
        Elements((*self).iter())
    }

    fn is_unique(&self) -> bool {
        // All are hashed, and a few are compared with each other.
        let all: u64 = self.iter().map(size).sum();
        spend(all.saturating_mul(16));
        Array::<SerdeJson>::is_unique(self)
    }
}

pub(crate) struct Elements<'a>(std::slice::Iter<'a, Value>);

impl<'a> Iterator for Elements<'a> {
    type Item = &'a Value;

    fn next(&mut self) -> Option<&'a Value> {
        let next = self.0.next()?;
        spend(1);
        Some(next)
    }
}

/// The keyword that stands for a boolean schema, and beside every other keyword: a schema that reads nothing of its
/// value is counted, too, while it is compiled and while it is asked.
pub(crate) struct Step {
    pub(crate) allows: bool,
}

impl<'i> Keyword<'i, Counted> for Step {
    fn validate(&self, instance: &'i Value) -> Result<(), ValidationError<'i>> {
        spend(1);
        if self.allows {
            return Ok(());
        }
        keep(size(instance) + FAULT_VALUES);
        Err(ValidationError::custom(format!("False schema does not allow {instance}")))
    }

    fn is_valid(&self, _: &'i Value) -> bool {
        spend(1);
        self.allows
    }
}

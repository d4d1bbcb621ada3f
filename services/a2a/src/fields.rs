//! Reads the members of a JSON object one by one, so that every fault can say where it is.
//!
//! A derived struct would say less, would also read from an array, and cannot tell `null` from nothing. An optional
//! member that is `null` counts as absent. The text must have passed `json::check`.

use std::borrow::Cow;
use std::fmt;

use pleat_domain::json::{self, Raw};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;
use serde_json::{Map, Value};
use time::OffsetDateTime;
use time::format_description::well_known::Rfc3339;

use crate::error::InvalidParams;

/// What an id that a client chose may be long.
const IDENTIFIER_MOST_BYTES: usize = 256;
/// How many of them there may be.
const LIST_MOST: usize = 100;

pub(crate) struct Fields<'a> {
    pointer: String,
    entries: Entries<'a>,
    /// Whether a member may also be called as in the protocol's definition: ProtoJSON takes `historyLength` and
    /// `history_length`.
    both_names: bool,
}

impl<'a> Fields<'a> {
    /// `name` is what the fault calls the thing that should have been an object.
    pub fn read(raw: &'a RawValue, name: &str, pointer: String) -> Result<Self, InvalidParams> {
        match serde_json::from_str(raw.get()) {
            Ok(entries) => Ok(Self { pointer, entries, both_names: false }),
            Err(_) => Err(InvalidParams::new(format!("`{name}` must be an object"), pointer)),
        }
    }

    /// Those of an object that was left out.
    pub fn none() -> Self {
        Self { pointer: String::new(), entries: Entries(Vec::new()), both_names: false }
    }

    pub fn try_read(raw: &'a RawValue, pointer: &str) -> Option<Self> {
        let entries = serde_json::from_str(raw.get()).ok()?;
        Some(Self { pointer: pointer.to_owned(), entries, both_names: false })
    }

    /// The same, where members may have either of their names.
    pub fn by_both_names(self, both_names: bool) -> Self {
        Self { both_names, ..self }
    }

    /// The member's text, `null` included.
    pub fn present(&self, name: &str) -> Option<&'a RawValue> {
        let find = |is: fn(&str, &str) -> bool| self.entries.0.iter().find(|(key, _)| is(key, name));
        let found = find(str::eq).or_else(|| find(is_defined_as).filter(|_| self.both_names));
        found.map(|(_, raw)| *raw)
    }

    pub fn get(&self, name: &str) -> Option<&'a RawValue> {
        self.present(name).filter(|raw| raw.get() != "null")
    }

    /// The member's text, where there is no other.
    pub fn only(&self, name: &str) -> Option<&'a RawValue> {
        self.present(name).filter(|_| self.entries.0.len() == 1)
    }

    pub fn count_of_all(&self) -> usize {
        self.entries.0.len()
    }

    /// All members but one, as they are written.
    pub fn without(&self, name: &str) -> Raw {
        struct Others<'a>(&'a Entries<'a>, &'a str);
        impl Serialize for Others<'_> {
            fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
                serializer.collect_map(self.0.0.iter().filter(|(key, _)| key != self.1).map(|(key, raw)| (key, raw)))
            }
        }
        json::raw(&Others(&self.entries, name))
    }

    /// The JSON pointer to a member. The names are ours, so that nothing needs escaping.
    pub fn pointer_to(&self, name: &str) -> String {
        format!("{}/{name}", self.pointer)
    }

    pub fn invalid(&self, name: &str, must: &str) -> InvalidParams {
        InvalidParams::new(format!("`{name}` {must}"), self.pointer_to(name))
    }

    /// Of the object as a whole.
    pub fn fault(&self, message: &str) -> InvalidParams {
        InvalidParams::new(message, self.pointer.clone())
    }

    pub fn string(&self, name: &str) -> Result<Option<String>, InvalidParams> {
        self.parsed(name, "must be a string")
    }

    pub fn required_string(&self, name: &str) -> Result<String, InvalidParams> {
        self.string(name)?.ok_or_else(|| self.invalid(name, "is missing; it must be a string"))
    }

    pub fn map(&self, name: &str) -> Result<Option<Map<String, Value>>, InvalidParams> {
        self.parsed(name, "must be an object")
    }

    pub fn strings(&self, name: &str) -> Result<Option<Vec<String>>, InvalidParams> {
        self.parsed(name, "must be an array of strings")
    }

    pub fn object(&self, name: &str) -> Result<Option<Self>, InvalidParams> {
        let read = |raw| Self::read(raw, name, self.pointer_to(name)).map(|read| read.by_both_names(self.both_names));
        self.get(name).map(read).transpose()
    }

    pub fn count(&self, name: &str) -> Result<Option<u32>, InvalidParams> {
        self.parsed(name, "must be a whole number of 0 or more")
    }

    /// The same for ProtoJSON, whose numbers end earlier.
    pub fn int32(&self, name: &str) -> Result<Option<u32>, InvalidParams> {
        let number: Option<u32> = self.count(name)?;
        if number.is_some_and(|number| i32::try_from(number).is_err()) {
            return Err(self.invalid(name, "must be at most 2147483647"));
        }
        Ok(number)
    }

    pub fn boolean(&self, name: &str) -> Result<Option<bool>, InvalidParams> {
        self.parsed(name, "must be true or false")
    }

    /// A moment, as RFC 3339 writes it.
    pub fn time(&self, name: &str) -> Result<Option<OffsetDateTime>, InvalidParams> {
        let refused = |_| self.invalid(name, "must be a time such as 2026-11-16T10:00:00Z");
        self.string(name)?.map(|text| OffsetDateTime::parse(&text, &Rfc3339).map_err(refused)).transpose()
    }

    /// A list of ids or addresses that a client chose; empty when it is not there.
    pub fn identifiers(&self, name: &str) -> Result<Vec<String>, InvalidParams> {
        let all: Vec<String> = self.parsed(name, "must be an array of strings")?.unwrap_or_default();
        if all.len() > LIST_MOST || !all.iter().all(|text| is_identifier(text)) {
            return Err(
                self.invalid(name, "must have at most 100 entries of 1 to 256 bytes without control characters")
            );
        }
        Ok(all)
    }

    /// An id that a client chose.
    pub fn identifier(&self, name: &str) -> Result<Option<String>, InvalidParams> {
        let text = self.string(name)?;
        if text.as_ref().is_some_and(|text| !is_identifier(text)) {
            return Err(self.invalid(name, "must have 1 to 256 bytes and no control characters"));
        }
        Ok(text)
    }

    fn parsed<T: serde::de::DeserializeOwned>(&self, name: &str, must: &str) -> Result<Option<T>, InvalidParams> {
        let parse = |raw: &RawValue| serde_json::from_str(raw.get()).map_err(|_| self.invalid(name, must));
        self.get(name).map(parse).transpose()
    }
}

/// The members as they come. There are few, and to look through them costs less than to put them in order.
struct Entries<'a>(Vec<(Cow<'a, str>, &'a RawValue)>);

#[derive(serde::Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_map(Collecting)
    }
}

struct Collecting;

impl<'de> Visitor<'de> for Collecting {
    type Value = Entries<'de>;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Entries<'de>, A::Error> {
        let mut entries = Vec::new();
        while let Some((Key(key), value)) = members.next_entry()? {
            entries.push((key, value));
        }
        Ok(Entries(entries))
    }
}

/// Whether `key` is how the definition spells `name`: `history_length` for `historyLength`.
fn is_defined_as(key: &str, name: &str) -> bool {
    let mut rest = key.bytes();
    let same = name.bytes().all(|byte| match byte.is_ascii_uppercase() {
        true => rest.next() == Some(b'_') && rest.next() == Some(byte.to_ascii_lowercase()),
        false => rest.next() == Some(byte),
    });
    same && rest.next().is_none()
}

fn is_identifier(text: &str) -> bool {
    (1..=IDENTIFIER_MOST_BYTES).contains(&text.len()) && !text.chars().any(char::is_control)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_names_of_the_definition_are_taken_where_they_may_be() {
        let raw: Box<RawValue> =
            serde_json::from_str(r#"{"history_length":1,"task_id":"a","taskId":"b","x_Y":1}"#).unwrap();
        let plain = Fields::read(&raw, "params", String::new()).unwrap();
        assert_eq!(
            (plain.count("historyLength").unwrap(), plain.string("taskId").unwrap().as_deref()),
            (None, Some("b"))
        );
        let both = plain.by_both_names(true);
        assert_eq!(both.count("historyLength").unwrap(), Some(1));
        assert_eq!(both.string("taskId").unwrap().as_deref(), Some("b"), "the name of JSON comes first");
        assert!(both.present("xY").is_none());
        assert!(both.present("history").is_none());
    }
}

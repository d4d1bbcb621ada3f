//! What JSON we accept from outside, checked once over the bytes and without building a tree.
//!
//! serde_json keeps the last of two equal keys without a word, so that two readers of one request may disagree
//! about what it says; it also nests up to 128 deep. Here a duplicate key, too deep a nesting and too many values
//! are faults, and payloads can then travel as raw text.

use std::borrow::Cow;
use std::collections::HashSet;
use std::fmt;

use serde::Deserialize;
use serde::de::{DeserializeSeed, Deserializer, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;

use crate::limits;

/// A payload nobody needs to look into: kept as the text it came as.
pub type Raw = Box<RawValue>;

/// Why a text is not acceptable JSON.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum JsonFault {
    #[error("not valid JSON: {0}")]
    Syntax(String),
    #[error("the text is not UTF-8")]
    NotUtf8,
    #[error("the key `{0}` occurs twice in one object")]
    DuplicateKey(String),
    #[error("nested more than {max} deep", max = limits::JSON_DEPTH)]
    TooDeep,
    #[error("more than {max} values", max = limits::JSON_VALUES)]
    TooManyValues,
}

/// Checks a text against the rules above.
pub fn check(bytes: &[u8]) -> Result<(), JsonFault> {
    let text = std::str::from_utf8(bytes).map_err(|_| JsonFault::NotUtf8)?;
    let mut state = State { values: 0, fault: None };
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let outcome = Node { depth: 1, state: &mut state }.deserialize(&mut deserializer).and_then(|()| deserializer.end());
    match (state.fault, outcome) {
        (Some(fault), _) => Err(fault),
        (None, Err(error)) if error.to_string().starts_with("recursion limit") => Err(JsonFault::TooDeep),
        (None, Err(error)) => Err(JsonFault::Syntax(error.to_string())),
        (None, Ok(())) => Ok(()),
    }
}

/// Checks a text and hands it on as a payload.
pub fn checked(text: String) -> Result<Raw, JsonFault> {
    check(text.as_bytes())?;
    RawValue::from_string(text).map_err(|error| JsonFault::Syntax(error.to_string()))
}

/// A value of ours as a payload. Maps with string keys and plain values cannot fail to serialise; were one to, the
/// payload is `null`.
pub fn raw<T: serde::Serialize + ?Sized>(value: &T) -> Raw {
    serde_json::value::to_raw_value(value).unwrap_or_else(|_| RawValue::NULL.to_owned())
}

struct State {
    values: usize,
    fault: Option<JsonFault>,
}

struct Node<'a> {
    depth: usize,
    state: &'a mut State,
}

impl Node<'_> {
    fn fail<T, E: serde::de::Error>(self, fault: JsonFault) -> Result<T, E> {
        self.state.fault = Some(fault);
        Err(E::custom("refused"))
    }
}

impl<'de> DeserializeSeed<'de> for Node<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        self.state.values += 1;
        if self.state.values > limits::JSON_VALUES {
            return self.fail(JsonFault::TooManyValues);
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Node<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<(), A::Error> {
        if self.depth > limits::JSON_DEPTH {
            return self.fail(JsonFault::TooDeep);
        }
        let depth = self.depth + 1;
        while items.next_element_seed(Node { depth, state: self.state })?.is_some() {}
        Ok(())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<(), A::Error> {
        if self.depth > limits::JSON_DEPTH {
            return self.fail(JsonFault::TooDeep);
        }
        let depth = self.depth + 1;
        let mut seen = Seen::default();
        while let Some(Key(key)) = entries.next_key()? {
            if let Some(key) = seen.twice(key) {
                return self.fail(JsonFault::DuplicateKey(key.chars().take(80).collect()));
            }
            entries.next_value_seed(Node { depth, state: self.state })?;
        }
        Ok(())
    }
}

#[derive(Deserialize)]
struct Key<'a>(#[serde(borrow)] Cow<'a, str>);

/// How many keys are compared one by one: most objects have no more, and need no table for them.
const FEW: usize = 8;

/// The keys of one object.
#[derive(Default)]
struct Seen<'a> {
    few: [Option<Cow<'a, str>>; FEW],
    count: usize,
    many: HashSet<Cow<'a, str>>,
}

impl<'a> Seen<'a> {
    /// Gives a key back that was there before.
    fn twice(&mut self, key: Cow<'a, str>) -> Option<Cow<'a, str>> {
        if self.few.iter().take(self.count).flatten().any(|other| *other == key) || self.many.contains(&key) {
            return Some(key);
        }
        match self.few.get_mut(self.count) {
            Some(place) => {
                *place = Some(key);
                self.count += 1;
            }
            None => drop(self.many.insert(key)),
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ordinary_json_passes() {
        for good in ["1", "\"x\"", "null", r#"{"a":[1,2.5,{"b":true}],"c":"\u0000"}"#, "123456789012345678901234567890"]
        {
            assert_eq!(check(good.as_bytes()), Ok(()), "{good}");
        }
    }

    #[test]
    fn equal_keys_are_refused_however_they_are_spelled() {
        assert_eq!(check(br#"{"a":1,"b":{"x":1,"\u0078":2}}"#), Err(JsonFault::DuplicateKey("x".into())));
    }

    #[test]
    fn equal_keys_are_found_among_few_and_among_many() {
        for count in [1, FEW - 1, FEW, FEW + 1, 100] {
            let keys = (0..count).map(|key| format!("\"k{key}\":0")).collect::<Vec<_>>().join(",");
            assert_eq!(check(format!("{{{keys}}}").as_bytes()), Ok(()), "{count}");
            for twice in [0, count / 2, count - 1] {
                let again = format!("{{{keys},\"k{twice}\":1}}");
                assert_eq!(check(again.as_bytes()), Err(JsonFault::DuplicateKey(format!("k{twice}"))), "{count}");
            }
        }
    }

    #[test]
    fn nesting_stops_at_the_limit() {
        let nested = |depth: usize| format!("{}{}", "[".repeat(depth), "]".repeat(depth));
        assert_eq!(check(nested(limits::JSON_DEPTH).as_bytes()), Ok(()));
        assert_eq!(check(nested(limits::JSON_DEPTH + 1).as_bytes()), Err(JsonFault::TooDeep));
        assert_eq!(check("[".repeat(1_000_000).as_bytes()), Err(JsonFault::TooDeep));
    }

    #[test]
    fn too_many_values_are_refused() {
        let many = format!("[{}0]", "0,".repeat(limits::JSON_VALUES));
        assert_eq!(check(many.as_bytes()), Err(JsonFault::TooManyValues));
    }

    #[test]
    fn broken_text_says_where() {
        assert_eq!(check(b"\xff"), Err(JsonFault::NotUtf8));
        for bad in ["", "{", "[1,]", "1 2", "nul", "{\"a\":1e999}", "\"\\ud800\"", "\u{feff}1"] {
            assert!(matches!(check(bad.as_bytes()), Err(JsonFault::Syntax(_))), "{bad}");
        }
    }
}

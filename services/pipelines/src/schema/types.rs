//! Sets of JSON types.

use std::fmt;

use serde_json::Value;

use super::View;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Types(u8);

const NAMES: [(&str, Types); 7] = [
    ("null", Types(1)),
    ("boolean", Types(2)),
    ("integer", Types::INTEGER),
    ("number", Types(4 | 8)),
    ("string", Types(16)),
    ("array", Types::ARRAY),
    ("object", Types::OBJECT),
];

impl Types {
    pub(crate) const ANY: Self = Self(127);
    pub(crate) const NONE: Self = Self(0);
    pub(crate) const INTEGER: Self = Self(4);
    pub(crate) const ARRAY: Self = Self(32);
    pub(crate) const OBJECT: Self = Self(64);

    pub(crate) fn of_value(value: &Value) -> Self {
        match value {
            Value::Null => Self(1),
            Value::Bool(_) => Self(2),
            Value::Number(number) => {
                let whole = number.is_i64() || number.is_u64() || number.as_f64().is_some_and(|n| n.fract() == 0.0);
                if whole { Self::INTEGER } else { Self(8) }
            }
            Value::String(_) => Self(16),
            Value::Array(_) => Self::ARRAY,
            Value::Object(_) => Self::OBJECT,
        }
    }

    pub(crate) const fn overlap(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    pub(crate) const fn within(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    const fn and(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    const fn or(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }
}

impl fmt::Display for Types {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // A set with all numbers says so once.
        let numbers = Self(12).within(*self);
        let names = NAMES.iter().filter(|(name, types)| types.within(*self) && !(numbers && *name == "integer"));
        let mut names: Vec<&str> = names.map(|(name, _)| *name).collect();
        if names.is_empty() {
            names.push(if self.overlap(Self(8)) { "number" } else { "nothing" });
        }
        formatter.write_str(&names.join(" or "))
    }
}

/// `work` is how many schemas may be looked at: a few that refer to each other can stand for any number.
pub(super) fn of(view: View<'_>, work: &mut usize) -> Types {
    if view.here == &Value::Bool(false) {
        return Types::NONE;
    }
    let Some(left) = work.checked_sub(1) else { return Types::ANY };
    *work = left;
    let mut types = match view.keyword("type") {
        Some(Value::String(name)) => named(name),
        Some(Value::Array(names)) => names.iter().filter_map(Value::as_str).map(named).fold(Types::NONE, Types::or),
        _ => Types::ANY,
    };
    if let Some(value) = view.keyword("const") {
        types = types.and(Types::of_value(value));
    }
    if let Some(Value::Array(values)) = view.keyword("enum") {
        types = types.and(values.iter().map(Types::of_value).fold(Types::NONE, Types::or));
    }
    let below = |key| view.keyword(key).and_then(Value::as_array).into_iter().flatten();
    for schema in below("allOf") {
        types = types.and(of(view.of(schema), work));
    }
    for key in ["anyOf", "oneOf"] {
        if view.keyword(key).is_some() {
            let any = below(key).fold(Types::NONE, |types, schema| types.or(of(view.of(schema), work)));
            types = types.and(any);
        }
    }
    types
}

fn named(name: &str) -> Types {
    NAMES.iter().find(|(known, _)| *known == name).map_or(Types::ANY, |(_, types)| *types)
}

//! A redacted value in the words of the original: what was not redacted stays as it was written, byte for byte, so that a
//! number that is too large for this machine is still the same number.

use std::fmt;

use pleat_domain::json::{self, Raw};
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// `after`: what has become of it.
pub(super) fn patched(original: &Raw, after: &Value) -> Raw {
    let before: Value = serde_json::from_str(original.get()).unwrap_or_default();
    let mut text = String::with_capacity(original.get().len());
    write(original, &before, after, &mut text);
    RawValue::from_string(text).unwrap_or_else(|_| json::raw(after))
}

fn write(original: &RawValue, before: &Value, after: &Value, out: &mut String) {
    match (before, after) {
        (before, after) if before == after => out.push_str(original.get()),
        (Value::Array(old), Value::Array(new)) => {
            let parts: Vec<&RawValue> = serde_json::from_str(original.get()).unwrap_or_default();
            if parts.len() != new.len() || old.len() != new.len() {
                return out.push_str(&after.to_string());
            }
            out.push('[');
            for (at, ((part, old), new)) in parts.into_iter().zip(old).zip(new).enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                write(part, old, new, out);
            }
            out.push(']');
        }
        (Value::Object(old), Value::Object(new)) => {
            let Members(parts) = serde_json::from_str(original.get()).unwrap_or_default();
            if parts.len() != new.len() || old.len() != new.len() {
                return out.push_str(&after.to_string());
            }
            out.push('{');
            // Names may have changed, places have not.
            for (at, ((part, old), (name, new))) in parts.into_iter().zip(old.values()).zip(new).enumerate() {
                out.push_str(if at == 0 { "" } else { "," });
                out.push_str(&Value::from(name.as_str()).to_string());
                out.push(':');
                write(part, old, new, out);
            }
            out.push('}');
        }
        (_, after) => out.push_str(&after.to_string()),
    }
}

/// The members of an object as they are written, in their order.
#[derive(Default)]
struct Members<'a>(Vec<&'a RawValue>);

impl<'de> Deserialize<'de> for Members<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Each;
        impl<'de> Visitor<'de> for Each {
            type Value = Members<'de>;

            fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
                let mut all = Vec::new();
                while let Some((_, value)) = members.next_entry::<String, &RawValue>()? {
                    all.push(value);
                }
                Ok(Members(all))
            }
        }
        deserializer.deserialize_map(Each)
    }
}

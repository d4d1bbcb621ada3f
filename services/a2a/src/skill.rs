//! Where a message names the skill that it is for.

use pleat_domain::content::Block;
use pleat_domain::json::{self, Raw};
use pleat_domain::message::Message;
use serde_json::{Map, Value};

use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::input::Input;

/// `skill` or `skillId`; both only when they agree.
pub(crate) fn named(fields: &Fields<'_>) -> Result<Option<String>, InvalidParams> {
    let (skill, alias) = (fields.string("skill")?, fields.string("skillId")?);
    match (skill, alias) {
        (Some(skill), Some(alias)) if skill != alias => {
            Err(fields.invalid("skillId", "must be the same as `skill` when both are given"))
        }
        (skill, alias) => Ok(skill.or(alias)),
    }
}

/// The skill that the only data part names, and the input that it carries.
pub(crate) fn named_by_data(message: &Message) -> Option<(String, Raw)> {
    let mut data = message.content.iter().filter_map(|block| match block {
        Block::Data { data, .. } => Some(data),
        _ => None,
    });
    let (Some(Value::Object(object)), None) = (data.next(), data.next()) else { return None };
    let key = ["skill", "skillId"].into_iter().find(|key| object.get(*key).is_some_and(Value::is_string))?;
    let name = object.get(key)?.as_str()?.to_owned();
    if let (Some(input), 2) = (object.get("input"), object.len()) {
        return Some((name, json::raw(input)));
    }
    let rest: Map<String, Value> =
        object.iter().filter(|(other, _)| *other != key).map(|(key, value)| (key.clone(), value.clone())).collect();
    Some((name, json::raw(&rest)))
}

/// The skill that an answer to the question which one it is names: a hint, or else the whole of its text.
pub fn answered(hint: Option<&str>, input: &Input) -> Option<String> {
    let text = match input {
        _ if hint.is_some() => return hint.map(str::to_owned),
        Input::Value(value) => serde_json::from_str::<String>(value.get()).ok()?,
        Input::Message { message, .. } => match message.content.as_slice() {
            [Block::Text { text, .. }] => text.clone(),
            _ => return None,
        },
    };
    let quotes: &[char] = &['`', '"', '\'', '.'];
    let name = text.trim().trim_matches(quotes).to_lowercase();
    (!name.is_empty()).then_some(name)
}

//! Where a message names the skill that it is for.

use pleat_domain::content::Block;
use pleat_domain::json::Raw;
use pleat_domain::message::Message;

use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::input::Input;
use crate::value::as_data;

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
    let mut data = message.content.iter().filter_map(as_data);
    let (Some(data), None) = (data.next(), data.next()) else { return None };
    let object = Fields::try_read(data, "")?;
    let named = |key: &&str| object.get(key).and_then(|name| serde_json::from_str(name.get()).ok());
    let (key, name) = ["skill", "skillId"].iter().find_map(|key| Some((key, named(key)?)))?;
    match (object.present("input"), object.count_of_all()) {
        (Some(input), 2) => Some((name, input.to_owned())),
        _ => Some((name, object.without(key))),
    }
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

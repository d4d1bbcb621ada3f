//! The parameters of the legacy methods, read strictly: a fault names the place.

use pleat_domain::content::Block;
use pleat_domain::ids::ContextId;
use pleat_domain::json::{self, Raw};
use pleat_domain::message::Message;
use pleat_domain::push::NewPush;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{message, push};
use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::value::{NoInput, input_from_message};

/// `tasks/send` and `tasks/sendSubscribe`.
#[derive(Debug)]
pub struct SendParams {
    /// The first of: `skill` or `skillId`, the same in `metadata`, in `message.metadata`, in the only data part.
    pub skill: Option<String>,
    pub input: Input,
    /// An id that the client made: the task's alias; that of an earlier task continues it.
    pub id: Option<String>,
    pub session_id: Option<ContextId>,
    pub history_length: Option<u32>,
    pub metadata: Option<Map<String, Value>>,
    /// Who is told of the task.
    pub push: Option<NewPush>,
}

/// What was sent. A 0.1 message is one that has `role` and a `parts` array; anything else is the input itself.
#[derive(Debug)]
pub enum Input {
    Value(Raw),
    Message {
        message: Message,
        /// Set when the only data part named the skill: `{"skill", "input"}` gives `input`, any other object that
        /// names a skill gives the rest of itself.
        named: Option<Raw>,
    },
}

impl Input {
    /// The input of a new task, and the message it came in (none when the input says it all).
    pub fn into_call(self, schema: Option<&Value>) -> Result<(Raw, Option<Message>), NoInput> {
        match self {
            Self::Message { message, named: Some(value) } => Ok((value, Some(message))),
            other => other.into_answer(schema),
        }
    }

    /// The same for a message that continues a task: its skill is known, so that a data part names none.
    pub fn into_answer(self, schema: Option<&Value>) -> Result<(Raw, Option<Message>), NoInput> {
        match self {
            Self::Value(value) => Ok((value, None)),
            Self::Message { message, .. } => Ok((input_from_message(&message, schema)?, Some(message))),
        }
    }
}

impl SendParams {
    pub fn parse(params: Option<&RawValue>) -> Result<Self, InvalidParams> {
        let fields = read(params)?;
        let metadata = fields.map("metadata")?;
        let mut skill = match skill_name(&fields)? {
            Some(name) => Some(name),
            None => fields.object("metadata")?.map(|fields| skill_name(&fields)).transpose()?.flatten(),
        };
        let input = match message::read(&fields, skill.is_some())? {
            message::Sent::Value(raw) => Input::Value(raw.to_owned()),
            message::Sent::Message { message, skill: hinted } => {
                skill = skill.or(hinted);
                let named = if skill.is_none() { named_by_data(&message) } else { None };
                let (name, value) = named.unzip();
                skill = skill.or(name);
                Input::Message { message, named: value }
            }
        };
        Ok(Self {
            skill,
            input,
            id: fields.identifier("id")?,
            session_id: session(&fields)?,
            history_length: fields.count("historyLength")?,
            metadata,
            push: push::config(&fields, "pushNotification")?,
        })
    }
}

/// `tasks/get`, `tasks/cancel` and `tasks/resubscribe`.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskParams {
    /// Ours, or the alias that the client made.
    pub id: String,
    pub history_length: Option<u32>,
}

impl TaskParams {
    pub fn parse(params: Option<&RawValue>) -> Result<Self, InvalidParams> {
        let fields = read(params)?;
        let id = required_id(&fields)?;
        Ok(Self { id, history_length: fields.count("historyLength")? })
    }
}

/// `skill` or `skillId`; both only when they agree.
pub(super) fn skill_name(fields: &Fields<'_>) -> Result<Option<String>, InvalidParams> {
    let (skill, alias) = (fields.string("skill")?, fields.string("skillId")?);
    match (skill, alias) {
        (Some(skill), Some(alias)) if skill != alias => {
            Err(fields.invalid("skillId", "must be the same as `skill` when both are given"))
        }
        (skill, alias) => Ok(skill.or(alias)),
    }
}

pub(super) fn required_id(fields: &Fields<'_>) -> Result<String, InvalidParams> {
    fields.identifier("id")?.ok_or_else(|| fields.invalid("id", "is missing; it must name a task"))
}

pub(super) fn read(params: Option<&RawValue>) -> Result<Fields<'_>, InvalidParams> {
    let params = params.ok_or_else(|| InvalidParams::new("`params` is missing; it must be an object", ""))?;
    Fields::read(params, "params", String::new())
}

fn session(fields: &Fields<'_>) -> Result<Option<ContextId>, InvalidParams> {
    let text = fields.identifier("sessionId")?;
    let refused = |_| fields.invalid("sessionId", "must have 1 to 256 bytes and no control characters");
    text.map(ContextId::try_from).transpose().map_err(refused)
}

fn named_by_data(message: &Message) -> Option<(String, Raw)> {
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

#[cfg(test)]
mod tests;

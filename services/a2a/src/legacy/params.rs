//! The parameters of the legacy methods, read strictly: a fault names the place.

use pleat_domain::RequestNotes;
use pleat_domain::ids::ContextId;
use pleat_domain::push::NewPush;
use serde_json::value::RawValue;

use super::{message, push};
use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::input::Input;
use crate::skill;

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
    /// Who is told of the task.
    pub push: Option<NewPush>,
}

impl SendParams {
    pub fn parse(params: Option<&RawValue>) -> Result<Self, InvalidParams> {
        let fields = read(params)?;
        let metadata = fields.map("metadata")?;
        let mut skill = match skill::named(&fields)? {
            Some(name) => Some(name),
            None => fields.object("metadata")?.map(|fields| skill::named(&fields)).transpose()?.flatten(),
        };
        let input = match message::read(&fields, skill.is_some())? {
            message::Sent::Value(raw) => Input::Value(raw.to_owned()),
            message::Sent::Message { mut message, skill: hinted } => {
                message.request = RequestNotes::new(metadata, Vec::new());
                skill = skill.or(hinted);
                let named = if skill.is_none() { skill::named_by_data(&message) } else { None };
                let (name, value) = named.unzip();
                skill = skill.or(name);
                Input::Message { message: *message, named: value }
            }
        };
        Ok(Self {
            skill,
            input,
            id: fields.identifier("id")?,
            session_id: session(&fields)?,
            history_length: fields.count("historyLength")?,
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

#[cfg(test)]
mod tests;

//! Tells a 0.1 message from an input, and reads it.

use pleat_domain::ids::TaskId;
use pleat_domain::message::{Message, Role, Source};
use serde_json::value::RawValue;

use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::part::read::{self, Form};
use crate::skill;

pub(super) enum Sent<'a> {
    /// The input itself.
    Value(&'a RawValue),
    Message {
        message: Box<Message>,
        /// What the message's metadata names.
        skill: Option<String>,
    },
}

/// Reads `params.message`. With a skill, anything that is no message is the input. Without one, what looks like a
/// message and is none is more likely a mistake than an input.
pub(super) fn read<'a>(params: &Fields<'a>, has_skill: bool) -> Result<Sent<'a>, InvalidParams> {
    let Some(raw) = params.present("message") else {
        return Err(
            params.invalid("message", "is missing; send the input itself, or a message with `role` and `parts`")
        );
    };
    let Some(fields) = Fields::try_read(raw, &params.pointer_to("message")) else { return Ok(Sent::Value(raw)) };
    let is_list = |raw: &&RawValue| raw.get().starts_with('[');
    match (fields.present("role"), fields.present("parts")) {
        (Some(_), Some(parts)) if is_list(&parts) => read_message(&fields, parts),
        (role, parts) if !has_skill => refuse_near_miss(&fields, role, parts).map_or(Ok(Sent::Value(raw)), Err),
        _ => Ok(Sent::Value(raw)),
    }
}

fn refuse_near_miss(fields: &Fields<'_>, role: Option<&RawValue>, parts: Option<&RawValue>) -> Option<InvalidParams> {
    let speaks = role.is_some_and(|role| matches!(role.get(), "\"user\"" | "\"agent\""));
    match (role, parts) {
        (None, Some(_)) => Some(fields.invalid("role", "is missing; name the `skill` if this is the input itself")),
        (Some(_), Some(_)) => {
            Some(fields.invalid("parts", "must be an array; name the `skill` if this is the input itself"))
        }
        (Some(_), None) if speaks => {
            Some(fields.invalid("parts", "is missing; name the `skill` if this is the input itself"))
        }
        _ => None,
    }
}

fn read_message<'a>(fields: &Fields<'_>, parts: &RawValue) -> Result<Sent<'a>, InvalidParams> {
    let role = match fields.required_string("role")?.as_str() {
        "user" => Role::User,
        "agent" => Role::Agent,
        _ => return Err(fields.invalid("role", "must be `user` or `agent`")),
    };
    let skill = fields.object("metadata")?.map(|metadata| skill::named(&metadata)).transpose()?.flatten();
    let content = read::all(parts, &fields.pointer_to("parts"), Form::Type)?;
    let message = Message {
        // 0.1 messages have no id of their own; everything after them has.
        message_id: fields.identifier("messageId")?.unwrap_or_else(fresh_id),
        role,
        source: Source::A2aExternal,
        content,
        metadata: fields.map("metadata")?,
        reference_task_ids: Vec::new(),
        extensions: Vec::new(),
        request: None,
    };
    Ok(Sent::Message { message: Box::new(message), skill })
}

fn fresh_id() -> String {
    TaskId::new().as_uuid().simple().to_string()
}

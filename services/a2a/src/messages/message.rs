//! Messages, read: what they say, and which task and conversation they are for.

use pleat_domain::ids::ContextId;
use pleat_domain::message::{Message, Source};

use super::Dialect;
use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::part::read;
use crate::skill;

pub(super) struct Addressed {
    pub message: Message,
    pub task: Option<String>,
    pub context: Option<ContextId>,
    /// What the message names.
    pub skill: Option<String>,
}

pub(super) fn read(params: &Fields<'_>, dialect: Dialect) -> Result<Addressed, InvalidParams> {
    let fields =
        params.object("message")?.ok_or_else(|| params.invalid("message", "is missing; it must be an object"))?;
    if dialect.kind("message").is_some() && fields.string("kind")?.is_some_and(|kind| kind != "message") {
        return Err(fields.invalid("kind", "must be `message`"));
    }
    let message_id = fields.identifier("messageId")?;
    let role = fields.required_string("role")?;
    let role = dialect.role_of(&role).ok_or_else(|| {
        let [user, agent] = [pleat_domain::Role::User, pleat_domain::Role::Agent].map(|role| dialect.role(role));
        fields.invalid("role", &format!("must be `{user}` or `{agent}`"))
    })?;
    let parts = fields.get("parts").ok_or_else(|| fields.invalid("parts", "is missing; it must be an array"))?;
    let message_id = message_id.ok_or_else(|| fields.invalid("messageId", "is missing; it must be a string"))?;
    let content = read::all(parts, &fields.pointer_to("parts"), dialect.form())?;
    let message = Message {
        message_id,
        role,
        source: Source::A2aExternal,
        content,
        metadata: fields.map("metadata")?,
        reference_task_ids: fields.identifiers("referenceTaskIds")?,
        extensions: fields.identifiers("extensions")?,
        request: None,
    };
    Ok(Addressed {
        skill: hint(&fields)?,
        task: id(&fields, "taskId", dialect)?,
        context: context(&fields, dialect)?,
        message,
    })
}

/// In the message's metadata, or as the bridge to external agents writes it: `"skill": {"skillId": "…"}`.
fn hint(fields: &Fields<'_>) -> Result<Option<String>, InvalidParams> {
    let by = |object: Option<Fields<'_>>| object.map(|object| skill::named(&object)).transpose().map(Option::flatten);
    match by(fields.object("metadata")?)? {
        Some(name) => Ok(Some(name)),
        None => match fields.get("skill") {
            Some(raw) if raw.get().starts_with('{') => by(fields.object("skill")?),
            _ => fields.string("skill"),
        },
    }
}

/// An id that may be left out.
pub(super) fn id(fields: &Fields<'_>, name: &str, dialect: Dialect) -> Result<Option<String>, InvalidParams> {
    if dialect.given(fields.string(name)?.as_deref()) { fields.identifier(name) } else { Ok(None) }
}

pub(super) fn context(fields: &Fields<'_>, dialect: Dialect) -> Result<Option<ContextId>, InvalidParams> {
    let refused = |_| fields.invalid("contextId", "must have 1 to 256 bytes and no control characters");
    id(fields, "contextId", dialect)?.map(ContextId::try_from).transpose().map_err(refused)
}

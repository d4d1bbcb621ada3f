//! The parameters of every method, read strictly: a fault names the place.

use pleat_domain::RequestNotes;
use pleat_domain::ids::ContextId;
use pleat_domain::push::NewPush;
use serde_json::value::RawValue;

use super::{Dialect, ListParams, PushParams, message, push};
use crate::error::InvalidParams;
use crate::fields::Fields;
use crate::input::Input;
use crate::method::Operation;
use crate::skill;

/// A request, read.
#[derive(Debug)]
pub enum Call {
    Send(Box<SendParams>),
    Stream(Box<SendParams>),
    Get(TaskParams),
    List(ListParams),
    Cancel(TaskParams),
    Subscribe(TaskParams),
    SetPush(PushParams, NewPush),
    GetPush(PushParams),
    ListPushes(PushParams),
    DeletePush(PushParams),
    ExtendedCard { tenant: Option<String> },
}

impl Call {
    pub fn read(dialect: Dialect, operation: Operation, params: Option<&RawValue>) -> Result<Self, InvalidParams> {
        let fields = match (params, operation) {
            (Some(params), _) => Fields::read(params, "params", String::new())?.by_both_names(dialect == Dialect::V1),
            // Nothing in them is required.
            (None, Operation::List | Operation::ExtendedCard) => Fields::none(),
            (None, _) => return Err(InvalidParams::new("`params` is missing; it must be an object", "")),
        };
        Ok(match operation {
            Operation::Send => Self::Send(Box::new(SendParams::read(&fields, dialect)?)),
            Operation::Stream => Self::Stream(Box::new(SendParams::read(&fields, dialect)?)),
            Operation::Get => Self::Get(TaskParams::read(&fields, dialect)?),
            Operation::List => Self::List(ListParams::read(&fields, dialect)?),
            Operation::Cancel => Self::Cancel(TaskParams::read(&fields, dialect)?),
            Operation::Subscribe => Self::Subscribe(TaskParams::read(&fields, dialect)?),
            Operation::SetPush => {
                let (place, push) = push::read_set(&fields, dialect)?;
                Self::SetPush(place, push)
            }
            Operation::GetPush => Self::GetPush(PushParams::read(&fields, dialect, dialect == Dialect::V1)?),
            Operation::ListPushes => Self::ListPushes(PushParams::read_list(&fields, dialect)?),
            Operation::DeletePush => Self::DeletePush(PushParams::read(&fields, dialect, true)?),
            Operation::ExtendedCard => Self::ExtendedCard { tenant: tenant(&fields, dialect)? },
        })
    }

    /// The tenant that the request itself names; it must be the one that was asked.
    pub fn tenant(&self) -> Option<&str> {
        match self {
            Self::Send(params) | Self::Stream(params) => params.tenant.as_deref(),
            Self::Get(params) | Self::Cancel(params) | Self::Subscribe(params) => params.tenant.as_deref(),
            Self::List(params) => params.tenant.as_deref(),
            Self::SetPush(params, _) | Self::GetPush(params) => params.tenant.as_deref(),
            Self::ListPushes(params) | Self::DeletePush(params) => params.tenant.as_deref(),
            Self::ExtendedCard { tenant } => tenant.as_deref(),
        }
    }
}

/// A message, and how it is to be answered.
#[derive(Debug)]
pub struct SendParams {
    /// The first of: `skill` or `skillId`, the same in `metadata`, in `message.metadata`, in the only data part.
    pub skill: Option<String>,
    pub input: Input,
    /// The task that the message continues.
    pub task: Option<String>,
    pub context: Option<ContextId>,
    pub history_length: Option<u32>,
    /// Answer when the turn is over, not when it has begun.
    pub wait: bool,
    pub push: Option<NewPush>,
    pub tenant: Option<String>,
}

impl SendParams {
    fn read(fields: &Fields<'_>, dialect: Dialect) -> Result<Self, InvalidParams> {
        let mut addressed = message::read(fields, dialect)?;
        let mut skill = match skill::named(fields)? {
            Some(name) => Some(name),
            None => fields.object("metadata")?.map(|fields| skill::named(&fields)).transpose()?.flatten(),
        };
        skill = skill.or(addressed.skill);
        let named = if skill.is_none() { skill::named_by_data(&addressed.message) } else { None };
        let (name, value) = named.unzip();
        let wishes = Wishes::read(fields, dialect)?;
        addressed.message.request = RequestNotes::new(fields.map("metadata")?, wishes.output_modes);
        Ok(Self {
            skill: skill.or(name),
            input: Input::Message { message: addressed.message, named: value },
            task: addressed.task,
            context: addressed.context,
            history_length: wishes.history_length,
            wait: wishes.wait,
            push: wishes.push,
            tenant: tenant(fields, dialect)?,
        })
    }
}

/// `configuration`.
struct Wishes {
    output_modes: Vec<String>,
    history_length: Option<u32>,
    wait: bool,
    push: Option<NewPush>,
}

impl Wishes {
    fn read(fields: &Fields<'_>, dialect: Dialect) -> Result<Self, InvalidParams> {
        let Some(fields) = fields.object("configuration")? else {
            return Ok(Self { output_modes: Vec::new(), history_length: None, wait: true, push: None });
        };
        // The same wish, the other way round.
        let (wait, push) = match dialect {
            Dialect::V03 => (fields.boolean("blocking")?.unwrap_or(true), "pushNotificationConfig"),
            Dialect::V1 => (!fields.boolean("returnImmediately")?.unwrap_or(false), "taskPushNotificationConfig"),
        };
        let push = fields.object(push)?.map(|fields| push::read(&fields, dialect)).transpose()?;
        let output_modes = fields.identifiers("acceptedOutputModes")?;
        Ok(Self { output_modes, history_length: fields.int32("historyLength")?, wait, push })
    }
}

/// The methods that name a task.
#[derive(Debug, PartialEq, Eq)]
pub struct TaskParams {
    pub id: String,
    pub history_length: Option<u32>,
    pub tenant: Option<String>,
}

impl TaskParams {
    fn read(fields: &Fields<'_>, dialect: Dialect) -> Result<Self, InvalidParams> {
        let id = fields.identifier("id")?.ok_or_else(|| fields.invalid("id", "is missing; it must name a task"))?;
        fields.map("metadata")?;
        Ok(Self { id, history_length: fields.int32("historyLength")?, tenant: tenant(fields, dialect)? })
    }
}

/// Only 1.0 has it.
pub(super) fn tenant(fields: &Fields<'_>, dialect: Dialect) -> Result<Option<String>, InvalidParams> {
    match dialect {
        Dialect::V03 => Ok(None),
        Dialect::V1 => Ok(fields.string("tenant")?.filter(|tenant| !tenant.is_empty())),
    }
}

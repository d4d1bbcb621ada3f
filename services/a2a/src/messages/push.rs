//! Push configurations: where a caller wants to be told of its task.

use pleat_domain::push::{NewPush, PushAuth, PushConfig};
use serde::Serialize;

use super::list::page_size;
use super::params::tenant;
use super::{Dialect, message};
use crate::error::InvalidParams;
use crate::fields::Fields;

/// Which configuration of which task.
#[derive(Debug, PartialEq, Eq)]
pub struct PushParams {
    pub task: String,
    /// None: the first that there is.
    pub id: Option<String>,
    pub tenant: Option<String>,
}

impl PushParams {
    /// 0.3 calls the task `id` and the configuration `pushNotificationConfigId`, 1.0 `taskId` and `id`.
    pub(super) fn read(fields: &Fields<'_>, dialect: Dialect, needs_id: bool) -> Result<Self, InvalidParams> {
        let (task, name) = match dialect {
            Dialect::V03 => ("id", "pushNotificationConfigId"),
            Dialect::V1 => ("taskId", "id"),
        };
        let id = message::id(fields, name, dialect)?;
        if needs_id && id.is_none() {
            return Err(fields.invalid(name, "is missing; it must name a push configuration"));
        }
        Ok(Self { task: named_task(fields, task)?, id, tenant: tenant(fields, dialect)? })
    }

    /// A task has few: they fit on one page, and there is no second.
    pub(super) fn read_list(fields: &Fields<'_>, dialect: Dialect) -> Result<Self, InvalidParams> {
        page_size(fields)?;
        if fields.string("pageToken")?.is_some_and(|token| !token.is_empty()) {
            return Err(fields.invalid("pageToken", "is not one that this list has given out; begin without one"));
        }
        let task = if dialect == Dialect::V03 { "id" } else { "taskId" };
        Ok(Self { task: named_task(fields, task)?, id: None, tenant: tenant(fields, dialect)? })
    }
}

/// The parameters that set one: 0.3 has it as a member, 1.0 is flat.
pub(super) fn read_set(fields: &Fields<'_>, dialect: Dialect) -> Result<(PushParams, NewPush), InvalidParams> {
    let push = match dialect {
        Dialect::V1 => read(fields, dialect)?,
        Dialect::V03 => {
            let name = "pushNotificationConfig";
            let missing = || fields.invalid(name, "is missing; it must be an object");
            read(&fields.object(name)?.ok_or_else(missing)?, dialect)?
        }
    };
    let place =
        PushParams { task: named_task(fields, "taskId")?, id: push.id.clone(), tenant: tenant(fields, dialect)? };
    Ok((place, push))
}

/// A configuration as it is sent. What it may hold is checked where it is kept.
pub(super) fn read(fields: &Fields<'_>, dialect: Dialect) -> Result<NewPush, InvalidParams> {
    // In ProtoJSON, what is empty is not there.
    let given = |text: Option<String>| text.filter(|text| dialect == Dialect::V03 || !text.is_empty());
    let auth = match fields.object("authentication")? {
        None => None,
        Some(auth) => {
            let credentials = given(auth.string("credentials")?);
            let scheme = match dialect {
                Dialect::V1 => given(Some(auth.required_string("scheme")?)),
                // Of several schemes the first is used.
                Dialect::V03 => auth.identifiers("schemes")?.into_iter().next(),
            };
            scheme.map(|scheme| PushAuth { scheme, credentials })
        }
    };
    Ok(NewPush {
        id: given(fields.string("id")?),
        url: fields.required_string("url")?,
        token: given(fields.string("token")?),
        auth,
        dialect: dialect.of_push(),
    })
}

fn named_task(fields: &Fields<'_>, name: &str) -> Result<String, InvalidParams> {
    fields.identifier(name)?.ok_or_else(|| fields.invalid(name, "is missing; it must name a task"))
}

/// A configuration as it is answered.
#[derive(Serialize)]
#[serde(transparent)]
pub struct PushView<'a>(Shape<'a>);

#[derive(Serialize)]
#[serde(untagged)]
enum Shape<'a> {
    Flat(Flat<'a>),
    Nested(Nested<'a>),
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Flat<'a> {
    id: &'a str,
    task_id: String,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<&'a PushAuth>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Nested<'a> {
    task_id: String,
    push_notification_config: Config<'a>,
}

#[derive(Serialize)]
struct Config<'a> {
    id: &'a str,
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<Schemes<'a>>,
}

#[derive(Serialize)]
struct Schemes<'a> {
    schemes: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

impl<'a> PushView<'a> {
    pub fn new(dialect: Dialect, push: &'a PushConfig) -> Self {
        Self(match dialect {
            Dialect::V03 => Shape::Nested(Nested::new(push)),
            Dialect::V1 => Shape::Flat(Flat {
                id: &push.id,
                task_id: push.task.to_string(),
                url: &push.url,
                token: push.token.as_deref(),
                authentication: push.auth.as_ref(),
            }),
        })
    }
}

impl<'a> Nested<'a> {
    fn new(push: &'a PushConfig) -> Self {
        let schemes =
            |auth: &'a PushAuth| Schemes { schemes: [auth.scheme.as_str()], credentials: auth.credentials.as_deref() };
        let push_notification_config = Config {
            id: &push.id,
            url: &push.url,
            token: push.token.as_deref(),
            authentication: push.auth.as_ref().map(schemes),
        };
        Self { task_id: push.task.to_string(), push_notification_config }
    }
}

/// All configurations of a task: a list, or in 1.0 a page of one.
#[derive(Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub enum PushesView<'a> {
    List(Vec<PushView<'a>>),
    Page { configs: Vec<PushView<'a>>, next_page_token: &'static str },
}

impl<'a> PushesView<'a> {
    pub fn new(dialect: Dialect, pushes: &'a [PushConfig]) -> Self {
        let views = pushes.iter().map(|push| PushView::new(dialect, push)).collect();
        match dialect {
            Dialect::V03 => Self::List(views),
            Dialect::V1 => Self::Page { configs: views, next_page_token: "" },
        }
    }
}

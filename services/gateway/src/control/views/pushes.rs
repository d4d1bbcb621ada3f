//! Push notifications: of a receiver's address only the origin, of its token and credentials nothing.

use pleat_domain::timestamp;
use pleat_engine::{DeliveryPage, DeliveryRow, PushRow};
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct PushView {
    pub(crate) task: String,
    pub(crate) id: String,
    /// Who set it.
    pub(crate) caller: String,
    /// The version of A2A that it was set in, and is told in.
    pub(crate) dialect: String,
    /// Scheme, host and port of its URL.
    pub(crate) destination: String,
    /// `active`, `retrying`, `dead` (given up until somebody asks) or `done`.
    pub(crate) state: &'static str,
    /// The last event that the receiver has, or need not have.
    pub(crate) delivered: u32,
    /// How often the next one was tried in vain.
    pub(crate) attempts: u32,
    /// When it is tried again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_at: Option<String>,
    /// Why it is dead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) ended: Option<String>,
    pub(crate) created_at: String,
}

impl From<PushRow> for PushView {
    fn from(row: PushRow) -> Self {
        let state = match (row.dead, row.next_at, row.attempts) {
            (true, _, _) => "dead",
            (false, None, _) => "done",
            (false, Some(_), 0) => "active",
            (false, Some(_), _) => "retrying",
        };
        Self {
            task: row.task.to_string(),
            id: row.id,
            caller: row.caller.to_string(),
            dialect: row.dialect.as_str().to_owned(),
            destination: row.destination,
            state,
            delivered: row.delivered,
            attempts: row.attempts,
            next_at: row.next_at.filter(|_| state == "retrying").map(timestamp::format),
            ended: row.ended,
            created_at: timestamp::format(row.created_at),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Pushes {
    pub(crate) pushes: Vec<PushView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct DeliveryView {
    /// As the receiver has it in `webhook-id`.
    pub(crate) id: String,
    pub(crate) task: String,
    pub(crate) push: String,
    /// The number of the task's event.
    pub(crate) event: u32,
    pub(crate) destination: String,
    /// `delivered`, `retrying` or `dead`.
    pub(crate) state: String,
    pub(crate) attempts: u32,
    /// What the receiver answered last.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) status: Option<i32>,
    /// Why the last attempt was in vain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) fault: Option<String>,
    /// How long the last attempt took.
    pub(crate) took_ms: i32,
    pub(crate) first_at: String,
    pub(crate) at: String,
}

impl From<DeliveryRow> for DeliveryView {
    fn from(row: DeliveryRow) -> Self {
        Self {
            id: DeliveryPage::message_name(&row),
            task: row.task.to_string(),
            push: row.push,
            event: row.seq,
            destination: row.destination,
            state: row.state,
            attempts: row.attempts,
            status: row.status,
            fault: row.fault,
            took_ms: row.took_ms,
            first_at: timestamp::format(row.first_at),
            at: timestamp::format(row.at),
        }
    }
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Deliveries {
    pub(crate) deliveries: Vec<DeliveryView>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) next_cursor: Option<String>,
}

#[derive(Serialize, ToSchema)]
pub(crate) struct PushKey {
    /// `whsec_` and base64, as libraries for Standard Webhooks take it.
    pub(crate) key: String,
}

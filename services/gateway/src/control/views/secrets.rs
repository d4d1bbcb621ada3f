//! Secrets and settings. A secret goes in and does not come out.

use pleat_domain::timestamp;
use pleat_engine::{SecretRow, SettingRow};
use serde::{Deserialize, Serialize};
use utoipa::ToSchema;

/// No `Debug`: it may hold a secret.
#[derive(Deserialize, ToSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct NewValue {
    /// At most 64 KiB.
    pub(crate) value: String,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SecretView {
    pub(crate) name: String,
    /// Bytes of the value, which is never shown.
    pub(crate) length: i32,
    pub(crate) updated_at: String,
    pub(crate) updated_by: String,
}

impl From<SecretRow> for SecretView {
    fn from(row: SecretRow) -> Self {
        Self {
            name: row.name,
            length: row.length,
            updated_at: timestamp::format(row.updated_at),
            updated_by: row.updated_by,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Secrets {
    pub(crate) secrets: Vec<SecretView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct SettingView {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) updated_at: String,
    pub(crate) updated_by: String,
}

impl From<SettingRow> for SettingView {
    fn from(row: SettingRow) -> Self {
        Self {
            name: row.name,
            value: row.value,
            updated_at: timestamp::format(row.updated_at),
            updated_by: row.updated_by,
        }
    }
}

#[derive(Serialize, ToSchema)]
pub(crate) struct Settings {
    pub(crate) settings: Vec<SettingView>,
}

//! Keys of cards as the control API shows them.

use pleat_domain::timestamp;
use pleat_engine::CardKey;
use serde::Serialize;
use utoipa::ToSchema;

#[derive(Serialize, ToSchema)]
pub(crate) struct CardKeys {
    pub(crate) keys: Vec<CardKeyView>,
}

#[derive(Serialize, ToSchema)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CardKeyView {
    /// As signatures name it in `kid`.
    pub(crate) id: String,
    pub(crate) created_at: String,
    /// Cards are signed with this one.
    pub(crate) signs: bool,
}

impl From<CardKey> for CardKeyView {
    fn from(key: CardKey) -> Self {
        Self { id: key.id, created_at: timestamp::format(key.created_at), signs: key.signs }
    }
}

//! The keys that cards are signed with: the operator brings in new ones and revokes old ones.

use axum::Json;
use axum::extract::State;
use http::StatusCode;
use pleat_engine::CardKey;

use super::views::{CardKeyView, CardKeys};
use crate::app::App;
use crate::extract::{Named, Platform};
use crate::problem::Problem;

/// Bring in a new key. It is published at once and signs as soon as every node knows it.
#[utoipa::path(post, operation_id = "addCardKey", path = "/card-keys",
    responses((status = 201, body = CardKeys)), security(("key" = [])))]
pub(crate) async fn create(
    State(app): State<App>,
    Platform(principal): Platform,
) -> Result<(StatusCode, Json<CardKeys>), Problem> {
    let keys = app.engine.add_card_key(&principal).await?;
    Ok((StatusCode::CREATED, Json(view(keys))))
}

/// The published keys, the newest first.
#[utoipa::path(get, operation_id = "listCardKeys", path = "/card-keys",
    responses((status = 200, body = CardKeys)), security(("key" = [])))]
pub(crate) async fn list(State(app): State<App>, Platform(principal): Platform) -> Result<Json<CardKeys>, Problem> {
    Ok(Json(view(app.engine.list_card_keys(&principal).await?)))
}

/// Revoke a key: what it signed is no longer good. Where it was the newest, another takes its place.
#[utoipa::path(delete, operation_id = "revokeCardKey", path = "/card-keys/{id}", params(("id" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn revoke(
    State(app): State<App>,
    Platform(principal): Platform,
    Named(id): Named,
) -> Result<StatusCode, Problem> {
    app.engine.revoke_card_key(&principal, &id).await?;
    Ok(StatusCode::NO_CONTENT)
}

fn view(keys: Vec<CardKey>) -> CardKeys {
    CardKeys { keys: keys.into_iter().map(CardKeyView::from).collect() }
}

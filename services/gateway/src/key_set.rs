//! `/.well-known/jwks.json`: the public keys that cards are signed with. The same on the control host and at every tenant,
//! so that a card's keys are at the card's own origin.

use axum::extract::State;
use axum::response::{IntoResponse, Response};
use http::HeaderValue;
use http::header::{CACHE_CONTROL, CONTENT_TYPE};

use crate::app::App;
use crate::problem::Problem;

/// A key that was revoked is believed for no longer than this.
const CACHING: HeaderValue = HeaderValue::from_static("public, max-age=60");

pub(crate) async fn show(State(app): State<App>) -> Result<Response, Problem> {
    let signer = app.engine.card_signer().await?;
    let headers = [(CACHE_CONTROL, CACHING), (CONTENT_TYPE, HeaderValue::from_static("application/jwk-set+json"))];
    Ok((headers, signer.key_set()).into_response())
}

//! Whose key is this.

use axum::Json;
use axum::extract::State;
use pleat_domain::{Principal, Scope, Scopes};
use pleat_engine::EngineError;

use super::views::Whoami;
use crate::app::App;
use crate::extract::Platform;
use crate::problem::Problem;

/// The tenant and the scopes of the key that asks.
#[utoipa::path(get, operation_id = "whoami", path = "/whoami", responses((status = 200, body = Whoami), (status = 401)), security(("key" = [])))]
pub(crate) async fn whoami(State(app): State<App>, Platform(principal): Platform) -> Result<Json<Whoami>, Problem> {
    let tenant = app.engine.home_of(&principal).await?.map(|tenant| tenant.slug.to_string());
    let (key, scopes) = match principal {
        // A token is of one tenant, which is not named here.
        Principal::Anonymous | Principal::Token { .. } => return Err(EngineError::Unauthenticated.into()),
        Principal::Key { id, scopes, .. } => (id, scopes),
        Principal::Operator { id } => (id, Scopes::of([Scope::Operator])),
    };
    Ok(Json(Whoami { tenant, scopes, key }))
}

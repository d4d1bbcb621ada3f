//! Tenants: the operator makes and ends them; a member sees its own.

use axum::Json;
use axum::body::Body;
use axum::extract::{Extension, State};
use http::{HeaderMap, StatusCode};
use pleat_domain::{PlanName, TenantSlug};
use pleat_engine::EngineError;

use super::query;
use super::views::{NewCard, NewPlan, NewTenant, TenantView, Tenants};
use crate::app::App;
use crate::extract::{Member, Named, Platform};
use crate::problem::Problem;
use crate::site::ControlSite;

/// Make a tenant. The answer holds its first key, which is shown this once.
#[utoipa::path(post, operation_id = "createTenant", path = "/tenants", request_body = NewTenant,
    responses((status = 201, body = TenantView), (status = 409)), security(("key" = [])))]
pub(crate) async fn create(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    Platform(principal): Platform,
    headers: HeaderMap,
    sent: Body,
) -> Result<(StatusCode, Json<TenantView>), Problem> {
    let wish: NewTenant = query::json(&headers, sent).await?;
    let slug = TenantSlug::parse(&wish.slug).map_err(|fault| Problem::invalid(fault.to_string()))?;
    let plan = wish.plan.unwrap_or_else(PlanName::standard);
    let (mut tenant, key) = app.engine.create_tenant(&principal, &slug, &plan).await?;
    if wish.card != tenant.card {
        tenant.card = app.engine.set_card(&principal, &slug, wish.card).await?.card;
    }
    let view = TenantView { admin_key: Some(key.text), ..TenantView::new(&tenant, &site.base_url) };
    Ok((StatusCode::CREATED, Json(view)))
}

/// All tenants, for the operator.
#[utoipa::path(get, operation_id = "listTenants", path = "/tenants", responses((status = 200, body = Tenants)), security(("key" = [])))]
pub(crate) async fn list(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    Platform(principal): Platform,
) -> Result<Json<Tenants>, Problem> {
    let tenants = app.engine.list_tenants(&principal).await?;
    Ok(Json(Tenants { tenants: tenants.iter().map(|tenant| TenantView::new(tenant, &site.base_url)).collect() }))
}

/// One's own tenant.
#[utoipa::path(get, operation_id = "showTenant", path = "/tenants/{tenant}", params(("tenant" = String, Path)),
    responses((status = 200, body = TenantView), (status = 401)), security(("key" = [])))]
pub(crate) async fn show(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    member: Member,
) -> Result<Json<TenantView>, Problem> {
    app.engine.functions(&member.tenant, &member.principal).await?;
    Ok(Json(TenantView::new(&member.tenant, &site.base_url)))
}

/// Give a tenant another plan.
#[utoipa::path(put, operation_id = "setPlan", path = "/tenants/{tenant}/plan", params(("tenant" = String, Path)),
    request_body = NewPlan, responses((status = 200, body = TenantView), (status = 404)), security(("key" = [])))]
pub(crate) async fn set_plan(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    Platform(principal): Platform,
    Named(tenant): Named,
    headers: HeaderMap,
    sent: Body,
) -> Result<Json<TenantView>, Problem> {
    let wish: NewPlan = query::json(&headers, sent).await?;
    let slug = TenantSlug::parse(&tenant).map_err(|_| EngineError::UnknownTenant)?;
    let tenant = app.engine.set_plan(&principal, &slug, &wish.plan).await?;
    Ok(Json(TenantView::new(&tenant, &site.base_url)))
}

/// Say for which versions of A2A a tenant's card is.
#[utoipa::path(put, operation_id = "setCard", path = "/tenants/{tenant}/card", params(("tenant" = String, Path)),
    request_body = NewCard, responses((status = 200, body = TenantView), (status = 404)), security(("key" = [])))]
pub(crate) async fn set_card(
    State(app): State<App>,
    Extension(site): Extension<ControlSite>,
    Platform(principal): Platform,
    Named(tenant): Named,
    headers: HeaderMap,
    sent: Body,
) -> Result<Json<TenantView>, Problem> {
    let wish: NewCard = query::json(&headers, sent).await?;
    let slug = TenantSlug::parse(&tenant).map_err(|_| EngineError::UnknownTenant)?;
    let tenant = app.engine.set_card(&principal, &slug, wish.card).await?;
    Ok(Json(TenantView::new(&tenant, &site.base_url)))
}

/// End a tenant. Its name is not given out again.
#[utoipa::path(delete, operation_id = "deleteTenant", path = "/tenants/{tenant}", params(("tenant" = String, Path)),
    responses((status = 204), (status = 404)), security(("key" = [])))]
pub(crate) async fn delete(
    State(app): State<App>,
    Platform(principal): Platform,
    Named(tenant): Named,
) -> Result<StatusCode, Problem> {
    let slug = TenantSlug::parse(&tenant).map_err(|_| EngineError::UnknownTenant)?;
    app.engine.delete_tenant(&principal, &slug).await?;
    Ok(StatusCode::NO_CONTENT)
}

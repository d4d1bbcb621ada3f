//! The agent card: rendered once per deployment and address, then served from memory.

use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LAST_MODIFIED, VARY};
use http::{HeaderMap, HeaderValue, StatusCode};
use pleat_a2a::{Card, CardSkill, CardSource};
use pleat_engine::Catalog;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::app::{App, RenderedCard};
use crate::problem::Problem;
use crate::site::TenantSite;

/// A deploy must be seen at once: caches may keep the card, but ask whether it changed.
const CACHING: HeaderValue = HeaderValue::from_static("public, max-age=0, must-revalidate");
/// The address in the card follows the host; the shape will follow the version asked for.
const VARIES: HeaderValue = HeaderValue::from_static("A2A-Version, Host");

const HTTP_DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

pub(crate) async fn show(
    State(app): State<App>,
    Extension(site): Extension<TenantSite>,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let catalog = app.engine.catalog(&site.tenant).await?;
    let key = (site.tenant.id, catalog.generation, site.base_url.clone());
    let card = app.cards.get_with(key, || render(&site, &catalog));
    let caching = [
        (ETAG, card.etag.clone()),
        (LAST_MODIFIED, card.last_modified.clone()),
        (CACHE_CONTROL, CACHING),
        (VARY, VARIES),
    ];
    if is_known(&headers, &card.etag) {
        return Ok((StatusCode::NOT_MODIFIED, caching).into_response());
    }
    Ok((caching, [(CONTENT_TYPE, "application/json")], card.body).into_response())
}

fn render(site: &TenantSite, catalog: &Catalog) -> RenderedCard {
    let skills = catalog.listed().map(|skill| CardSkill {
        name: skill.name.as_str(),
        title: skill.manifest.title.as_deref(),
        description: &skill.manifest.description,
        tags: &skill.manifest.tags,
        examples: &skill.manifest.examples,
        input: skill.manifest.input.as_ref(),
        output: skill.manifest.output.as_ref(),
        public: skill.is_public(),
    });
    // Semantic, and higher with every deployment.
    let version = format!("0.1.{}", catalog.generation);
    let source = CardSource {
        tenant: site.tenant.slug.as_str(),
        base_url: &site.base_url,
        version: &version,
        skills: skills.collect(),
    };
    let body = Bytes::from(serde_json::to_vec(&Card::new(&source)).unwrap_or_default());
    let tag = hex::encode(Sha256::digest(&body));
    let etag = format!("\"{}\"", tag.get(..32).unwrap_or_default());
    RenderedCard {
        etag: HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("\"\"")),
        last_modified: http_date(catalog.updated_at.max(site.tenant.created_at)),
        body,
    }
}

fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let current = etag.to_str().unwrap_or_default();
    let mut sent = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    sent.any(|value| value.split(',').map(str::trim).any(|tag| tag == "*" || tag.trim_start_matches("W/") == current))
}

fn http_date(at: OffsetDateTime) -> HeaderValue {
    let text = at.to_offset(time::UtcOffset::UTC).format(HTTP_DATE).unwrap_or_default();
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

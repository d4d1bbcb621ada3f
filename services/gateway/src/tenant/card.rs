//! The agent card: rendered and signed once per deployment, address, shape and key, then served from memory.

use axum::extract::{Extension, State};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::header::{CACHE_CONTROL, CONTENT_TYPE, ETAG, IF_NONE_MATCH, LAST_MODIFIED, VARY};
use http::{HeaderMap, HeaderValue, StatusCode, Uri};
use pleat_a2a::card::{self, signing, transport};
use pleat_a2a::{CardSkill, CardSource, Served, Shape};
use pleat_domain::{CardVersions, Raw, Tenant, json};
use pleat_engine::{CardSigner, Catalog, Skill};
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

use crate::app::{App, CardKey, RenderedCard};
use crate::extract::Visitor;
use crate::problem::Problem;
use crate::site::TenantSite;

/// What is there beside A2A itself.
const SERVED: Served = Served { push_notifications: true, mcp: true };

/// A deploy must be seen at once: caches may keep the card, but ask whether it changed.
const CACHING: HeaderValue = HeaderValue::from_static("public, max-age=0, must-revalidate");
/// The shape follows the version that is asked for, the addresses follow the host.
const VARIES: HeaderValue = HeaderValue::from_static("A2A-Version, Host");

const HTTP_DATE: &[BorrowedFormatItem<'_>] =
    format_description!("[weekday repr:short], [day] [month repr:short] [year] [hour]:[minute]:[second] GMT");

/// The card for everybody.
pub(crate) async fn show(
    State(app): State<App>,
    Extension(site): Extension<TenantSite>,
    uri: Uri,
    headers: HeaderMap,
) -> Result<Response, Problem> {
    let card = public(&app, &site, shape(&site.tenant, version(&headers, &uri))).await?;
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

/// The card for one caller: exactly what it may call, unlisted skills too.
pub(crate) async fn extended(app: &App, visitor: &Visitor, shape: Shape) -> Result<Raw, Problem> {
    let Visitor { site, principal } = visitor;
    let catalog = app.engine.catalog(&site.tenant).await?;
    let skills = catalog.extended(principal)?;
    let issuers = app.engine.issuer_names(&site.tenant).await?;
    let signer = app.engine.card_signer().await?;
    let skills = skills.iter().map(|callable| card_skill(callable.skill())).collect();
    let unsigned = unsigned(site, &catalog, skills, &issuers, shape);
    Ok(json::raw(&signed(unsigned, site, &signer)?))
}

/// Where the card tells how an MCP session begins, for whoever came without it.
pub(crate) fn recipe_url(tenant: &Tenant, base_url: &str) -> String {
    transport::recipe_url(base_url, shape(tenant, None))
}

/// The version that the caller speaks, from the header or the query.
fn version<'a>(headers: &'a HeaderMap, uri: &'a Uri) -> Option<&'a str> {
    let header = headers.get("a2a-version").and_then(|value| value.to_str().ok());
    header.or_else(|| {
        let mut pairs = uri.query()?.split('&').filter_map(|pair| pair.split_once('='));
        pairs.find(|(name, _)| name.eq_ignore_ascii_case("a2a-version")).map(|(_, value)| value)
    })
}

fn shape(tenant: &Tenant, version: Option<&str>) -> Shape {
    match tenant.card {
        CardVersions::Only10 => Shape::Pure,
        CardVersions::All => Shape::of_version(version),
    }
}

async fn public(app: &App, site: &TenantSite, shape: Shape) -> Result<RenderedCard, Problem> {
    let catalog = app.engine.catalog(&site.tenant).await?;
    let signer = app.engine.card_signer().await?;
    let key = CardKey {
        tenant: site.tenant.id,
        generation: catalog.generation,
        issuers: app.engine.issuer_names(&site.tenant).await?,
        base_url: site.base_url.to_string(),
        shape,
        signer: signer.key_id().to_owned(),
    };
    if let Some(card) = app.cards.get(&key) {
        return Ok(card);
    }
    let skills = catalog.listed().map(|skill| card_skill(skill)).collect();
    let unsigned = unsigned(site, &catalog, skills, &key.issuers, shape);
    // Without the signatures, which differ each time they are made: the card is the same on every node.
    let etag = etag(&unsigned, signer.key_id());
    let body = Bytes::from(serde_json::to_vec(&signed(unsigned, site, &signer)?).unwrap_or_default());
    let changed = catalog.updated_at.max(site.tenant.created_at).max(signer.since());
    let card = RenderedCard { body, etag, last_modified: http_date(changed) };
    // Of two made at once the first stays: whoever asks twice gets the same signatures.
    Ok(app.cards.entry(key).or_insert(card).into_value())
}

fn unsigned(
    site: &TenantSite,
    catalog: &Catalog,
    skills: Vec<CardSkill<'_>>,
    issuers: &[String],
    shape: Shape,
) -> Map<String, Value> {
    // Semantic, and higher with every deployment.
    let version = format!("0.1.{}", catalog.generation);
    let source = CardSource {
        tenant: site.tenant.slug.as_str(),
        base_url: &site.base_url,
        version: &version,
        skills,
        issuers,
        served: SERVED,
    };
    card::render(&source, shape)
}

fn signed(card: Map<String, Value>, site: &TenantSite, signer: &CardSigner) -> Result<Map<String, Value>, Problem> {
    let key_set_url = format!("{}/.well-known/jwks.json", site.base_url);
    let name = signing::Signer { key_id: signer.key_id(), key_set_url: &key_set_url };
    Ok(signing::signed(card, name, |message| signer.sign(message))?)
}

fn card_skill(skill: &Skill) -> CardSkill<'_> {
    CardSkill {
        name: skill.name.as_str(),
        title: skill.manifest.title.as_deref(),
        description: &skill.manifest.description,
        tags: &skill.manifest.tags,
        examples: &skill.manifest.examples,
        input: skill.manifest.input.as_ref(),
        output: skill.manifest.output.as_ref(),
        public: skill.is_public(),
    }
}

fn etag(card: &Map<String, Value>, key_id: &str) -> HeaderValue {
    let mut digest = Sha256::new();
    digest.update(key_id);
    digest.update(serde_json::to_vec(card).unwrap_or_default());
    let tag = hex::encode(digest.finalize());
    let etag = format!("W/\"{}\"", tag.get(..32).unwrap_or_default());
    HeaderValue::from_str(&etag).unwrap_or(HeaderValue::from_static("W/\"\""))
}

/// RFC 9110, 13.1.2: tags are compared without regard to their weakness.
fn is_known(headers: &HeaderMap, etag: &HeaderValue) -> bool {
    let opaque = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
    let current = opaque(etag.to_str().unwrap_or_default());
    let mut sent = headers.get_all(IF_NONE_MATCH).iter().filter_map(|value| value.to_str().ok());
    sent.any(|value| value.split(',').map(opaque).any(|tag| tag == "*" || tag == current))
}

fn http_date(at: OffsetDateTime) -> HeaderValue {
    let text = at.to_offset(time::UtcOffset::UTC).format(HTTP_DATE).unwrap_or_default();
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static(""))
}

//! The card that everybody can read: 1.0's fields, 0.3's, those of the documented card and the transport block.

use serde_json::{Map, Value, json};

use super::{CardSource, Shape, pure, security, transport};
use crate::extension;

pub(super) fn card(source: &CardSource<'_>) -> Map<String, Value> {
    let mut card = pure::common(source);
    if let Some(Value::Object(capabilities)) = card.get_mut("capabilities") {
        capabilities.insert("extensions".to_owned(), extension::declared().into());
        capabilities.insert("stateTransitionHistory".to_owned(), json!(false));
    }
    if let Some(Value::Array(skills)) = card.get_mut("skills") {
        widen_skills(skills, source);
    }
    let mut put = |name: &str, value: Value| card.insert(name.to_owned(), value);
    put("securitySchemes", security::schemes_of_both(source));
    if security::needed_by_all(source) {
        put("security", security::requirements_03(source));
    }
    // The documented card's address is the origin, which takes requests too.
    put("url", json!(source.base_url));
    put("preferredTransport", json!("JSONRPC"));
    put("protocolVersion", json!("0.3.0"));
    // All of them are here, the main one too: 0.3 wants no client to have to put them together.
    let interfaces = [source.base_url.to_owned(), source.rpc_url()];
    put("additionalInterfaces", interfaces.map(|url| json!({ "url": url, "transport": "JSONRPC" })).into());
    put("supportsAuthenticatedExtendedCard", json!(true));
    if source.needs_key() {
        put("authentication", json!({ "schemes": ["bearer"] }));
    }
    put("transport", transport::block(source, Shape::Hybrid));
    card
}

/// Schemas stand with their skill here, and needs are said in both dialects.
fn widen_skills(skills: &mut [Value], source: &CardSource<'_>) {
    for (view, skill) in skills.iter_mut().zip(&source.skills) {
        let Value::Object(view) = view else { continue };
        view.extend(pure::schemas_of(skill));
        if !skill.public {
            view.insert("security".to_owned(), security::requirements_03(source));
        }
    }
}

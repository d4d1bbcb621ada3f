//! How callers prove who they are: a key of the tenant, or a token of an issuer that the tenant has registered.

use serde_json::{Map, Value, json};

use super::CardSource;

const KEY: &str = "bearer";
const TOKEN: &str = "jwt";

struct Scheme {
    name: &'static str,
    /// As 1.0 and 0.3 both have it.
    fields: Value,
}

fn all(source: &CardSource<'_>) -> Vec<Scheme> {
    let mut all = vec![Scheme {
        name: KEY,
        fields: json!({ "description": "A key of this agent's tenant: plt_…", "scheme": "Bearer" }),
    }];
    if !source.issuers.is_empty() {
        let description = format!("A token for this agent from {}", source.issuers.join(" or "));
        let fields = json!({ "description": description, "scheme": "Bearer", "bearerFormat": "JWT" });
        all.push(Scheme { name: TOKEN, fields });
    }
    all
}

/// Always there: whoever wants the extended card has to know how.
pub(super) fn schemes(source: &CardSource<'_>) -> Value {
    let wrapped = |scheme: Scheme| (scheme.name.to_owned(), json!({ "httpAuthSecurityScheme": scheme.fields }));
    Value::Object(all(source).into_iter().map(wrapped).collect())
}

/// The same, so that both versions can read it: told apart by `type` in 0.3, by the name of the member in 1.0.
pub(super) fn schemes_of_both(source: &CardSource<'_>) -> Value {
    let both = |scheme: Scheme| {
        let mut fields = Map::from_iter([("type".to_owned(), json!("http"))]);
        if let Value::Object(own) = &scheme.fields {
            fields.extend(own.clone());
        }
        fields.insert("httpAuthSecurityScheme".to_owned(), scheme.fields);
        (scheme.name.to_owned(), Value::Object(fields))
    };
    Value::Object(all(source).into_iter().map(both).collect())
}

/// One of these will do.
pub(super) fn requirements(source: &CardSource<'_>) -> Value {
    let names = all(source).into_iter().map(|scheme| scheme.name);
    names.map(|name| json!({ "schemes": { name: { "list": ["invoke"] } } })).collect()
}

/// The same in the words of 0.3.
pub(super) fn requirements_03(source: &CardSource<'_>) -> Value {
    all(source).into_iter().map(|scheme| json!({ scheme.name: ["invoke"] })).collect()
}

/// Of the whole agent: where some skill is open to everybody, only the others say that they need a key.
pub(super) fn requirements_of_all(source: &CardSource<'_>) -> Option<Value> {
    needed_by_all(source).then(|| requirements(source))
}

pub(super) fn needed_by_all(source: &CardSource<'_>) -> bool {
    !source.skills.is_empty() && source.skills.iter().all(|skill| !skill.public)
}

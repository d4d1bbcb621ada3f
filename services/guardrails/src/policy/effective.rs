//! What holds for a skill, as a policy that could be set: the same as [`super::Policy::over`] says, in words.

use serde_json::{Map, Value, json};

/// A skill's policy over the tenant's default. What a policy says for all its checks stands with each of them.
pub(super) fn effective(own: Option<&Value>, default: Option<&Value>) -> Value {
    let inherited = default.map(checks).unwrap_or_default();
    let Some(own) = own else { return json!({ "checks": inherited }) };
    let mut all = checks(own);
    if is(own, "enabled") && is(own, "inherit") && default.is_some_and(|default| is(default, "enabled")) {
        let named = |check: &Value| all.iter().any(|one| one.get("type") == check.get("type"));
        let mut kept: Vec<Value> = inherited.into_iter().filter(|check| !named(check)).collect();
        kept.append(&mut all);
        all = kept;
    }
    json!({ "checks": all })
}

/// True unless it says otherwise.
fn is(policy: &Value, field: &str) -> bool {
    policy.get(field).and_then(Value::as_bool).unwrap_or(true)
}

fn checks(policy: &Value) -> Vec<Value> {
    let list = policy.get("checks").and_then(Value::as_array).filter(|_| is(policy, "enabled"));
    let spelled = |check: &Value| {
        let mut fields: Map<String, Value> = check.as_object().cloned().unwrap_or_default();
        for field in ["action", "mode", "on_error"] {
            if let (false, Some(value)) = (fields.contains_key(field), policy.get(field)) {
                fields.insert(field.to_owned(), value.clone());
            }
        }
        Value::Object(fields)
    };
    list.into_iter().flatten().map(spelled).collect()
}

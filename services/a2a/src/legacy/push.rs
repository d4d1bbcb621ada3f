//! `tasks/pushNotification/set` and `get`, and the same configuration given along with a send.

use pleat_domain::{Dialect, NewPush, PushAuth, PushConfig};
use serde::Serialize;
use serde_json::value::RawValue;

use super::params::{read, required_id};
use crate::error::InvalidParams;
use crate::fields::Fields;

/// `tasks/pushNotification/set`.
#[derive(Debug)]
pub struct PushParams {
    /// The task: ours, or the alias that the client made.
    pub id: String,
    pub push: NewPush,
}

impl PushParams {
    pub fn parse(params: Option<&RawValue>) -> Result<Self, InvalidParams> {
        let fields = read(params)?;
        let id = required_id(&fields)?;
        let push = config(&fields, "pushNotificationConfig")?;
        let missing = || fields.invalid("pushNotificationConfig", "is missing; it must be an object with a `url`");
        Ok(Self { id, push: push.ok_or_else(missing)? })
    }
}

/// The configuration in this member, if there is one.
pub(super) fn config(fields: &Fields<'_>, name: &str) -> Result<Option<NewPush>, InvalidParams> {
    let Some(config) = fields.object(name)? else { return Ok(None) };
    let auth = match config.object("authentication")? {
        Some(auth) => Some(authentication(&auth)?),
        None => None,
    };
    Ok(Some(NewPush {
        id: None,
        url: config.required_string("url")?,
        token: config.string("token")?,
        auth,
        dialect: Dialect::A2a01,
    }))
}

/// Of several schemes the first is used.
fn authentication(fields: &Fields<'_>) -> Result<PushAuth, InvalidParams> {
    let schemes = fields.strings("schemes")?.unwrap_or_default();
    let must = "must name a scheme, for example [\"Bearer\"]";
    let scheme = schemes.into_iter().next().ok_or_else(|| fields.invalid("schemes", must))?;
    Ok(PushAuth { scheme, credentials: fields.string("credentials")? })
}

/// The answer to both methods. `id` is the task's, as the caller has it.
pub fn push_json<'a>(id: &'a str, push: &'a PushConfig) -> PushView<'a> {
    let authentication = push
        .auth
        .as_ref()
        .map(|auth| AuthenticationView { schemes: [&auth.scheme], credentials: auth.credentials.as_deref() });
    let config = ConfigView { url: &push.url, token: push.token.as_deref(), authentication };
    PushView { id, push_notification_config: config }
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
pub struct PushView<'a> {
    id: &'a str,
    push_notification_config: ConfigView<'a>,
}

#[derive(Serialize)]
struct ConfigView<'a> {
    url: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    token: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    authentication: Option<AuthenticationView<'a>>,
}

#[derive(Serialize)]
struct AuthenticationView<'a> {
    schemes: [&'a str; 1],
    #[serde(skip_serializing_if = "Option::is_none")]
    credentials: Option<&'a str>,
}

#[cfg(test)]
mod tests {
    use pleat_domain::TaskId;
    use serde_json::json;

    use super::*;

    fn parse(params: &serde_json::Value) -> Result<PushParams, InvalidParams> {
        let raw = serde_json::value::to_raw_value(params).unwrap();
        PushParams::parse(Some(&raw))
    }

    #[test]
    fn a_configuration_is_read_and_written_alike() {
        let config = json!({ "url": "https://hooks.example.com/1", "token": "t",
            "authentication": { "schemes": ["Bearer"], "credentials": "c" } });
        let sent = json!({ "id": "t-1", "pushNotificationConfig": config });
        let PushParams { id, push } = parse(&sent).unwrap();
        let NewPush { url, token, auth, .. } = push;
        let kept = PushConfig { id: "default".to_owned(), task: TaskId::new(), url, token, auth };
        assert_eq!(serde_json::to_value(push_json(&id, &kept)).unwrap(), sent);
    }

    #[test]
    fn a_fault_names_its_place() {
        for (config, pointer) in [
            (json!(null), "/pushNotificationConfig"),
            (json!("https://a.example"), "/pushNotificationConfig"),
            (json!({}), "/pushNotificationConfig/url"),
            (json!({ "url": 1 }), "/pushNotificationConfig/url"),
            (json!({ "url": "u", "token": {} }), "/pushNotificationConfig/token"),
            (json!({ "url": "u", "authentication": [] }), "/pushNotificationConfig/authentication"),
            (json!({ "url": "u", "authentication": {} }), "/pushNotificationConfig/authentication/schemes"),
            (
                json!({ "url": "u", "authentication": { "schemes": "x" } }),
                "/pushNotificationConfig/authentication/schemes",
            ),
            (
                json!({ "url": "u", "authentication": { "schemes": [] } }),
                "/pushNotificationConfig/authentication/schemes",
            ),
            (
                json!({ "url": "u", "authentication": { "schemes": ["x"], "credentials": 1 } }),
                "/pushNotificationConfig/authentication/credentials",
            ),
        ] {
            let fault = parse(&json!({ "id": "t-1", "pushNotificationConfig": config })).unwrap_err();
            assert_eq!(fault.pointer, pointer, "{config}: {fault}");
        }
        assert_eq!(parse(&json!({ "pushNotificationConfig": { "url": "u" } })).unwrap_err().pointer, "/id");
    }
}

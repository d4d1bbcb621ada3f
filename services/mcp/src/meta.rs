//! `_meta` of a request: what it says of its client, in the versions without a handshake, and what it asks for.

use pleat_domain::json::Raw;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::capabilities::ClientCapabilities;
use crate::error::RpcError;
use crate::level::Level;

pub const PROTOCOL_VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

#[derive(Debug, Clone, Default)]
pub struct Meta {
    /// Of this request alone; `None` where it says nothing.
    pub version: Option<String>,
    pub capabilities: Option<ClientCapabilities>,
    pub level: Option<Level>,
    /// A string or a number, under which progress is reported.
    pub progress_token: Option<Raw>,
}

impl Meta {
    /// Of checked parameters. A `_meta` that is no object is a fault.
    pub fn read(params: Option<&RawValue>) -> Result<Self, RpcError> {
        let Some(params) = params else { return Ok(Self::default()) };
        #[derive(serde::Deserialize)]
        struct Params<'a> {
            #[serde(borrow, rename = "_meta")]
            meta: Option<&'a RawValue>,
        }
        let Ok(Params { meta: Some(raw) }) = serde_json::from_str(params.get()) else { return Ok(Self::default()) };
        let meta: Map<String, Value> =
            serde_json::from_str(raw.get()).map_err(|_| RpcError::invalid_params("`_meta` must be an object"))?;
        let version = match meta.get(PROTOCOL_VERSION) {
            Some(Value::String(version)) => Some(version.clone()),
            Some(_) => return Err(must_be(PROTOCOL_VERSION, "a string")),
            None => None,
        };
        let capabilities = match meta.get(CLIENT_CAPABILITIES) {
            Some(declared @ Value::Object(_)) => Some(ClientCapabilities::read(declared)),
            Some(_) => return Err(must_be(CLIENT_CAPABILITIES, "an object")),
            None => None,
        };
        let level = match meta.get(LOG_LEVEL) {
            Some(level) => {
                let level = level.as_str().and_then(Level::parse);
                Some(level.ok_or_else(|| must_be(LOG_LEVEL, "a level such as `info`"))?)
            }
            None => None,
        };
        let progress_token = match meta.get("progressToken") {
            Some(token @ (Value::String(_) | Value::Number(_))) => Some(pleat_domain::json::raw(token)),
            Some(_) => return Err(must_be("progressToken", "a string or a number")),
            None => None,
        };
        Ok(Self { version, capabilities, level, progress_token })
    }

    /// What every request of the versions without a handshake must say.
    pub fn complete(&self) -> Result<(&str, ClientCapabilities), RpcError> {
        let missing = |name: &str| RpcError::invalid_params(format!("`_meta` must have `{name}`"));
        let version = self.version.as_deref().ok_or_else(|| missing(PROTOCOL_VERSION))?;
        Ok((version, self.capabilities.ok_or_else(|| missing(CLIENT_CAPABILITIES))?))
    }
}

fn must_be(name: &str, what: &str) -> RpcError {
    RpcError::invalid_params(format!("`_meta.{name}` must be {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn read(meta: &Value) -> Result<Meta, RpcError> {
        Meta::read(Some(&pleat_domain::json::raw(&json!({ "name": "x", "_meta": meta }))))
    }

    #[test]
    fn nothing_said_is_nothing_known() {
        assert!(Meta::read(None).unwrap().version.is_none());
        assert_eq!(Meta::default().complete().unwrap_err().code, -32602);
    }

    #[test]
    fn a_request_says_what_its_client_is() {
        let meta = read(&json!({
            PROTOCOL_VERSION: "2026-07-28", CLIENT_CAPABILITIES: {"sampling": {}}, LOG_LEVEL: "info", "progressToken": 7
        }))
        .unwrap();
        let (version, capabilities) = meta.complete().unwrap();
        assert_eq!((version, capabilities.sampling, meta.level), ("2026-07-28", true, Some(Level::Info)));
        assert_eq!(meta.progress_token.unwrap().get(), "7");
    }

    #[test]
    fn what_does_not_fit_is_named() {
        for bad in
            [json!(3), json!({PROTOCOL_VERSION: 3}), json!({CLIENT_CAPABILITIES: []}), json!({LOG_LEVEL: "loud"})]
        {
            assert_eq!(read(&bad).unwrap_err().code, -32602);
        }
        assert!(read(&json!({"progressToken": {}})).unwrap_err().message.contains("progressToken"));
    }
}

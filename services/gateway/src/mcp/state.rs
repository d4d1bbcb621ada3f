//! What a client carries for us between an `input_required` result and the repeated call: sealed, bound to tenant and
//! caller, good for a while, and for this very call only.

use pleat_domain::Raw;
use pleat_mcp::RpcError;
use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;
use sha2::{Digest, Sha256};
use time::OffsetDateTime;

use super::exchange::Exchange;
use crate::problem::Problem;

const PURPOSE: &str = "mcp-state";
/// As long as a person may take over a form.
const GOOD_SECONDS: i64 = 3_600;

#[derive(Serialize, Deserialize)]
pub(super) struct State {
    /// The waiting task, and its turn.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) task: Option<(String, i16)>,
    /// What a function kept that has no task: one that gives a prompt or a resource.
    #[serde(skip_serializing_if = "Option::is_none", default)]
    pub(super) kept: Option<Raw>,
    call: String,
    until: i64,
}

impl State {
    pub(super) fn of_task(exchange: &Exchange, task: &pleat_domain::Task) -> Self {
        Self::new(exchange, Some((task.id.to_string(), task.turn)), None)
    }

    pub(super) fn of_offer(exchange: &Exchange, kept: Option<Raw>) -> Self {
        Self::new(exchange, None, kept)
    }

    fn new(exchange: &Exchange, task: Option<(String, i16)>, kept: Option<Raw>) -> Self {
        let until = OffsetDateTime::now_utc().unix_timestamp() + GOOD_SECONDS;
        Self { task, kept, call: digest(exchange), until }
    }

    pub(super) fn sealed(&self, exchange: &Exchange) -> Result<String, Problem> {
        let text = serde_json::to_string(self).unwrap_or_default();
        Ok(exchange.engine().seal(exchange.tenant(), &exchange.peer.principal, PURPOSE, &text)?)
    }

    /// What was changed, another's, too old or made for another call is one and the same fault.
    pub(super) fn opened(exchange: &Exchange, sealed: &str) -> Result<Self, Problem> {
        let refused = || RpcError::invalid_params("`requestState` is not one that was given for this call, or too old");
        let text = exchange.engine().unseal(exchange.tenant(), &exchange.peer.principal, PURPOSE, sealed);
        let state: Self = text.and_then(|text| serde_json::from_str(&text).ok()).ok_or_else(refused)?;
        let now = OffsetDateTime::now_utc().unix_timestamp();
        if state.is_good(now, &digest(exchange)) { Ok(state) } else { Err(refused().into()) }
    }

    fn is_good(&self, now: i64, call: &str) -> bool {
        now <= self.until && self.call == call
    }
}

/// The method with what it is called with: a state does not fit another call.
fn digest(exchange: &Exchange) -> String {
    #[derive(Deserialize)]
    struct Called<'a> {
        #[serde(default)]
        name: Option<String>,
        #[serde(default)]
        uri: Option<String>,
        #[serde(borrow, default)]
        arguments: Option<&'a RawValue>,
    }
    let params = exchange.request.params.as_deref().map_or("{}", RawValue::get);
    let called: Option<Called<'_>> = serde_json::from_str(params).ok();
    // Read and written again, so that only what it means counts.
    let arguments: serde_json::Value = called
        .as_ref()
        .and_then(|called| called.arguments)
        .and_then(|raw| serde_json::from_str(raw.get()).ok())
        .unwrap_or_default();
    let name = called.and_then(|called| called.name.or(called.uri)).unwrap_or_default();
    let text = serde_json::to_string(&(exchange.request.method.as_str(), name, arguments)).unwrap_or_default();
    hex::encode(Sha256::digest(text.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_state_is_good_for_a_while_and_for_its_call() {
        let state = State { task: None, kept: None, call: "a".to_owned(), until: 10 };
        assert!(state.is_good(10, "a"));
        assert!(!state.is_good(11, "a"), "it is too old");
        assert!(!state.is_good(10, "b"), "it is of another call");
    }
}

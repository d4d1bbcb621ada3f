//! Requests to the caller's client, as a function returns them: one of a kind, or several, each under a name.

use pleat_bindings::types;
use pleat_domain::{ClientAsk, ClientKind, ClientRequest, json};
use serde_json::{Map, Value};

use super::{Breach, Outcome, parsed};

/// Requests in one outcome.
const MOST: usize = 16;
const MOST_KEY_BYTES: usize = 64;

/// `kind` is `elicit`, `sample` or `roots`; with `several` the params are `{ name: { "kind", "params" } }`.
pub(super) fn checked(request: types::ClientRequest) -> Result<Outcome, Breach> {
    let state = request.state.map(|text| parsed("`state`", text)).transpose()?;
    let params = parsed("`params`", request.params)?;
    let ask = match (request.kind.as_str(), ClientKind::parse(&request.kind)) {
        (_, Some(kind)) => {
            let one = ClientRequest { key: kind.as_str().to_owned(), kind, params: object(params)? };
            ClientAsk { requests: vec![one], named: false }
        }
        ("several", None) => ClientAsk { requests: several(&params)?, named: true },
        (other, None) => return Err(unknown(other)),
    };
    Ok(Outcome::NeedClient { ask, state })
}

fn several(params: &json::Raw) -> Result<Vec<ClientRequest>, Breach> {
    let shape = || Breach::Invalid("the params of `several` must be { name: { kind, params } }".to_owned());
    let named: Map<String, Value> = serde_json::from_str(params.get()).map_err(|_| shape())?;
    if named.is_empty() || named.len() > MOST {
        return Err(Breach::Invalid(format!("`several` takes 1 to {MOST} requests")));
    }
    named.into_iter().map(|(key, one)| single(key, &one).unwrap_or_else(|| Err(shape()))).collect()
}

/// `None`: not of the shape.
fn single(key: String, one: &Value) -> Option<Result<ClientRequest, Breach>> {
    let kind = one.get("kind")?.as_str()?;
    let params = match one.get("params") {
        None => json::raw(&Map::new()),
        Some(params) => json::raw(params.as_object()?),
    };
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.');
    if key.is_empty() || key.len() > MOST_KEY_BYTES || !key.bytes().all(fits) {
        let text =
            format!("a request of `several` is named with 1 to {MOST_KEY_BYTES} of A-Z, a-z, 0-9, `_`, `-`, `.`");
        return Some(Err(Breach::Invalid(text)));
    }
    let Some(kind) = ClientKind::parse(kind) else { return Some(Err(unknown(kind))) };
    Some(Ok(ClientRequest { key, kind, params }))
}

fn object(params: json::Raw) -> Result<json::Raw, Breach> {
    if params.get().starts_with('{') {
        return Ok(params);
    }
    Err(Breach::Invalid("the params of a client request must be an object".to_owned()))
}

fn unknown(kind: &str) -> Breach {
    let kind: String = kind.chars().take(40).collect();
    Breach::Invalid(format!("`{kind}` is no kind of client request: use elicit, sample, roots or several"))
}

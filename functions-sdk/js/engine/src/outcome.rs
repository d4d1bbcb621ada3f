//! From what the JavaScript half hands over to the words of the contract.

use rquickjs::{Array, Ctx, Value};

use crate::bindings::pleat::function::types::{Ask, ClientRequest, Content, Error, Outcome};

/// A result that `finish` made: JSON text, or a list whose first item names the outcome.
pub fn outcome(value: &Value<'_>) -> rquickjs::Result<Outcome> {
    let Some(fields) = value.as_array() else {
        return Ok(Outcome::Value(value.get()?));
    };
    let kind: String = fields.get(0)?;
    Ok(match kind.as_str() {
        "content" => Outcome::Content(Content { blocks: fields.get(1)?, structured: fields.get(2)? }),
        "need-input" => Outcome::NeedInput(ask(fields)?),
        "need-auth" => Outcome::NeedAuth(ask(fields)?),
        "need-client" => {
            Outcome::NeedClient(ClientRequest { kind: fields.get(1)?, params: fields.get(2)?, state: fields.get(3)? })
        }
        _ => Outcome::Reject(fields.get(1)?),
    })
}

fn ask(fields: &Array<'_>) -> rquickjs::Result<Ask> {
    Ok(Ask { prompt: fields.get(1)?, schema: fields.get(2)?, state: fields.get(3)? })
}

/// The list that `fault` made of a thrown value.
pub fn error(fields: &Array<'_>) -> rquickjs::Result<Error> {
    Ok(Error { code: fields.get(0)?, message: fields.get(1)?, retryable: fields.get(2)?, details: fields.get(3)? })
}

/// A failure in our own words.
pub fn fault(code: &str, message: impl Into<String>) -> Error {
    Error { code: code.to_owned(), message: message.into(), retryable: false, details: None }
}

/// When even describing what was thrown fails: a hostile getter, or memory at its end.
pub fn indescribable(ctx: &Ctx<'_>) -> Error {
    // Left pending, the second exception would be mistaken for one of a later call.
    let _ = ctx.catch();
    fault("exception", "the function threw something that cannot be described")
}

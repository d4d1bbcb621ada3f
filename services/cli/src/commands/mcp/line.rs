//! What a line of the client says. What is no message is found out here, where there is still an id to answer it with.

use pleat_domain::json;
use serde_json::{Map, Value};

pub struct Line {
    /// Sent as it was written.
    pub text: String,
    pub said: Said,
}

pub enum Said {
    One(Value),
    /// A batch, in the versions that have it. The server judges what is in it.
    Several(Vec<Value>),
}

pub enum Handshake {
    Begun,
    Done,
}

/// Why a line is no message, as it is answered.
#[derive(Debug)]
pub struct Fault {
    pub id: Value,
    pub code: i32,
    pub message: String,
}

impl Line {
    pub fn parse(bytes: &[u8]) -> Result<Self, Fault> {
        let no_json = |message: String| Fault { id: Value::Null, code: -32700, message };
        json::check(bytes).map_err(|fault| no_json(fault.to_string()))?;
        let text = String::from_utf8_lossy(bytes).trim().to_owned();
        let said = match serde_json::from_str(&text).map_err(|fault| no_json(fault.to_string()))? {
            Value::Array(all) if all.is_empty() => return Err(invalid(Value::Null, "a batch must hold a message")),
            Value::Array(all) => Said::Several(all),
            Value::Object(fields) => Said::One(message(fields)?),
            _ => return Err(invalid(Value::Null, "a message must be a JSON object")),
        };
        Ok(Self { text, said })
    }

    /// What has to be there before anything else is sent.
    pub fn part_of_handshake(&self) -> Option<Handshake> {
        let Said::One(message) = &self.said else { return None };
        match message.get("method")?.as_str()? {
            "initialize" => Some(Handshake::Begun),
            "notifications/initialized" => Some(Handshake::Done),
            _ => None,
        }
    }

    /// The questions that this answers, by id.
    pub fn answers(&self) -> Vec<&Value> {
        let all = match &self.said {
            Said::One(message) => std::slice::from_ref(message),
            Said::Several(all) => all,
        };
        all.iter().filter(|message| message.get("method").is_none()).filter_map(|message| message.get("id")).collect()
    }
}

fn message(fields: Map<String, Value>) -> Result<Value, Fault> {
    let has = |name: &str| fields.contains_key(name);
    let named = fields.get("id").filter(|id| id.is_string() || id.is_number()).cloned();
    let answer = named.clone().unwrap_or_default();
    if fields.get("jsonrpc").is_none_or(|version| version != "2.0") {
        return Err(invalid(answer, "`jsonrpc` must be \"2.0\""));
    }
    if has("id") && named.is_none() {
        return Err(invalid(answer, "`id` must be a string or a number"));
    }
    if fields.get("params").is_some_and(|params| !params.is_object() && !params.is_null()) {
        return Err(invalid(answer, "`params` must be an object"));
    }
    let is_message = match fields.get("method") {
        Some(method) => method.is_string() && !has("result") && !has("error"),
        None => has("id") && has("result") != has("error"),
    };
    match is_message {
        true => Ok(Value::Object(fields)),
        false => Err(invalid(answer, "a message has a `method`, or answers with a `result` or an `error`")),
    }
}

fn invalid(id: Value, message: &str) -> Fault {
    Fault { id, code: -32600, message: message.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_message_is_answered_with_its_id_where_it_has_one() {
        let fault = |text: &str| match Line::parse(text.as_bytes()) {
            Err(fault) => (fault.code, fault.id.to_string()),
            Ok(_) => panic!("{text}"),
        };
        let nobody = |code: i32| (code, "null".to_owned());
        for text in ["no json", "{", r#"{"a":1,"a":2}"#] {
            assert_eq!(fault(text), nobody(-32700), "{text}");
        }
        for text in ["[]", "5", "\"x\"", "null", "{}", r#"{"jsonrpc":"2.0","id":null,"method":"ping"}"#] {
            assert_eq!(fault(text), nobody(-32600), "{text}");
        }
        for text in [
            r#"{"jsonrpc":"2.0","id":9}"#,
            r#"{"id":9,"method":"ping"}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":5}"#,
            r#"{"jsonrpc":"2.0","id":9,"method":"ping","params":[]}"#,
            r#"{"jsonrpc":"2.0","id":9,"result":{},"error":{}}"#,
        ] {
            assert_eq!(fault(text), (-32600, "9".to_owned()), "{text}");
        }
    }

    #[test]
    fn an_answer_names_its_question() {
        let ids = |text: &str| {
            let line = Line::parse(text.as_bytes()).unwrap_or_else(|fault| panic!("{fault:?}"));
            line.answers().into_iter().map(ToString::to_string).collect::<Vec<_>>()
        };
        let (answer, request) =
            (r#"{"jsonrpc":"2.0","id":"q","result":{}}"#, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
        assert_eq!(ids(answer), ["\"q\""]);
        assert!(ids(request).is_empty());
        assert_eq!(ids(&format!("[{request},{answer}]")), ["\"q\""]);
    }
}

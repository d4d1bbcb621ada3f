//! Requests to a caller's client: what a waiting task asks for, how it is put on the wire, and what the answers mean.

use pleat_domain::task::Ask;
use pleat_domain::{ClientKind, ClientRequest, Raw, TaskId, json};
use serde_json::{Map, Value, json};

/// Under which a plain question is asked.
const QUESTION: &str = "input";
/// The property of an answer that is no object.
const ANSWER: &str = "answer";

pub const fn method(kind: ClientKind) -> &'static str {
    match kind {
        ClientKind::Elicit => "elicitation/create",
        ClientKind::Sample => "sampling/createMessage",
        ClientKind::Roots => "roots/list",
    }
}

/// Everything that a waiting task asks of its caller's client. A plain question is one to the user.
pub fn requests(ask: &Ask) -> Vec<ClientRequest> {
    match &ask.client {
        Some(client) => client.requests.clone(),
        None => {
            let schema = ask.schema.as_ref().and_then(|raw| serde_json::from_str(raw.get()).ok());
            let params = json!({ "message": ask.prompt, "requestedSchema": form(schema.as_ref()) });
            vec![ClientRequest { key: QUESTION.to_owned(), kind: ClientKind::Elicit, params: json::raw(&params) }]
        }
    }
}

/// As entries of `inputRequests`.
pub fn input_requests<'a>(requests: impl IntoIterator<Item = &'a ClientRequest>) -> Map<String, Value> {
    let entry = |request: &ClientRequest| {
        let params: Value = serde_json::from_str(request.params.get()).unwrap_or_default();
        (request.key.clone(), json!({ "method": method(request.kind), "params": params }))
    };
    requests.into_iter().map(entry).collect()
}

/// What is wrong with the form of an answer. Where that is nothing, what its content has to fit: the schema, and the
/// content.
pub fn check(request: &ClientRequest, answer: &Raw) -> Result<Option<(Value, Raw)>, String> {
    let key = &request.key;
    let Ok(answer) = serde_json::from_str::<Map<String, Value>>(answer.get()) else {
        return Err(format!("the answer to `{key}` must be an object"));
    };
    // The client would not, or could not.
    if answer.contains_key("error") {
        return Ok(None);
    }
    match request.kind {
        ClientKind::Elicit => match answer.get("action").and_then(Value::as_str) {
            Some("accept") => {
                let params: Map<String, Value> = serde_json::from_str(request.params.get()).unwrap_or_default();
                let content = answer.get("content").cloned().unwrap_or_else(|| json!({}));
                Ok(params.get("requestedSchema").map(|schema| (schema.clone(), json::raw(&content))))
            }
            Some("decline" | "cancel") => Ok(None),
            _ => Err(format!("`action` in the answer to `{key}` must be `accept`, `decline` or `cancel`")),
        },
        ClientKind::Sample if !answer.contains_key("content") => {
            Err(format!("the answer to `{key}` must be a message with `role` and `content`"))
        }
        ClientKind::Roots if !answer.get("roots").is_some_and(Value::is_array) => {
            Err(format!("the answer to `{key}` must have a list of `roots`"))
        }
        ClientKind::Sample | ClientKind::Roots => Ok(None),
    }
}

/// What the answers come to.
#[derive(Debug)]
pub enum Answered {
    /// The next turn's input, and what the client said.
    Turn { input: Option<Raw>, reply: Option<Raw> },
    /// The user would not answer a plain question.
    Declined,
}

/// All answers to a task's requests, by name.
pub fn answered(ask: &Ask, answers: &[(String, Raw)]) -> Answered {
    match &ask.client {
        Some(client) if client.named => {
            let all: Map<String, Value> = answers
                .iter()
                .map(|(key, body)| (key.clone(), serde_json::from_str(body.get()).unwrap_or_default()))
                .collect();
            Answered::Turn { input: None, reply: Some(json::raw(&all)) }
        }
        Some(_) => Answered::Turn { input: None, reply: answers.first().map(|(_, body)| body.clone()) },
        None => answers.first().map_or(Answered::Declined, |(_, body)| plain(ask, body)),
    }
}

fn plain(ask: &Ask, body: &Raw) -> Answered {
    let body: Value = serde_json::from_str(body.get()).unwrap_or_default();
    if body.get("action").is_none_or(|action| action != "accept") {
        return Answered::Declined;
    }
    let content = body.get("content").cloned().unwrap_or_else(|| json!({}));
    let schema = ask.schema.as_ref().and_then(|raw| serde_json::from_str::<Value>(raw.get()).ok());
    let input = match schema.as_ref().is_some_and(is_form) {
        true => content,
        false => content.get(ANSWER).cloned().unwrap_or_default(),
    };
    Answered::Turn { input: Some(json::raw(&input)), reply: None }
}

/// A form has an object's properties, and each of them is a plain value: anything else is asked for as one text.
fn form(schema: Option<&Value>) -> Value {
    match schema {
        Some(schema) if is_form(schema) => {
            let mut form = Map::from_iter([("type".to_owned(), Value::from("object"))]);
            for place in ["properties", "required"] {
                if let Some(kept) = schema.get(place) {
                    form.insert(place.to_owned(), kept.clone());
                }
            }
            Value::Object(form)
        }
        Some(schema) if is_plain(schema) => {
            json!({ "type": "object", "properties": { ANSWER: schema }, "required": [ANSWER] })
        }
        _ => json!({ "type": "object", "properties": { ANSWER: { "type": "string" } }, "required": [ANSWER] }),
    }
}

fn is_form(schema: &Value) -> bool {
    let object = schema.get("type").is_some_and(|kind| kind == "object");
    let properties = schema.get("properties").and_then(Value::as_object);
    object && properties.is_some_and(|all| !all.is_empty() && all.values().all(is_plain))
}

fn is_plain(schema: &Value) -> bool {
    let kind = schema.get("type").and_then(Value::as_str).unwrap_or_default();
    matches!(kind, "string" | "number" | "integer" | "boolean")
}

/// The id under which a request goes to a client of the session era: it says itself what it is about.
pub fn request_id(task: TaskId, turn: i16, key: &str) -> String {
    format!("{task}.{turn}.{key}")
}

/// What an answer is about; `None` for an id that was never given out.
pub fn parse_request_id(id: &Raw) -> Option<(TaskId, i16, String)> {
    let text: String = serde_json::from_str(id.get()).ok()?;
    let mut parts = text.splitn(3, '.');
    let (task, turn, key) = (parts.next()?, parts.next()?, parts.next()?);
    Some((task.parse().ok()?, turn.parse().ok()?, key.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use pleat_domain::ClientAsk;

    fn reply(value: &Value) -> Vec<(String, Raw)> {
        vec![(QUESTION.to_owned(), json::raw(value))]
    }

    #[test]
    fn a_question_becomes_a_form_and_its_answer_the_input() {
        let schema = json!({"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]});
        let ask = Ask { schema: Some(json::raw(&schema)), ..Ask::new("where?") };
        let asked = input_requests(&requests(&ask));
        assert_eq!(asked["input"]["params"], json!({"message": "where?", "requestedSchema": schema}));
        let given = reply(&json!({"action": "accept", "content": {"city": "Oslo"}}));
        let Answered::Turn { input: Some(input), reply: None } = answered(&ask, &given) else { panic!() };
        assert_eq!(input.get(), r#"{"city":"Oslo"}"#);
        assert!(matches!(answered(&ask, &reply(&json!({"action": "decline"}))), Answered::Declined));
        assert!(matches!(answered(&ask, &reply(&json!({"error": {"code": -1}}))), Answered::Declined));
    }

    #[test]
    fn an_answer_has_the_form_of_its_kind() {
        let one = |kind, params: &Value| ClientRequest { key: "k".to_owned(), kind, params: json::raw(params) };
        let checked = |kind, answer: Value| check(&one(kind, &json!({})), &json::raw(&answer)).map(|_| ());
        for (kind, good, bad) in [
            (ClientKind::Elicit, json!({"action": "accept"}), json!({"action": "maybe"})),
            (ClientKind::Elicit, json!({"action": "decline"}), json!(5)),
            (ClientKind::Elicit, json!({"error": {"code": -1}}), json!({})),
            (ClientKind::Sample, json!({"role": "assistant", "content": {}}), json!({"foo": 1})),
            (ClientKind::Roots, json!({"roots": []}), json!({"roots": 5})),
        ] {
            assert_eq!(checked(kind, good.clone()), Ok(()), "{good}");
            let fault = checked(kind, bad.clone()).unwrap_err();
            assert!(fault.contains("`k`"), "{bad}: {fault}");
        }
        let schema = json!({"type": "object", "properties": {"sure": {"type": "boolean"}}});
        let asked = one(ClientKind::Elicit, &json!({"message": "?", "requestedSchema": schema}));
        let (to_fit, content) = check(&asked, &json::raw(&json!({"action": "accept"}))).unwrap().unwrap();
        assert_eq!((to_fit, content.get()), (schema, "{}"));
    }

    #[test]
    fn what_is_no_form_is_asked_for_as_one_value() {
        for (schema, input) in [(None, "\"x\""), (Some(json!({"type": "string"})), "\"x\"")] {
            let ask = Ask { schema: schema.map(|schema| json::raw(&schema)), ..Ask::new("what?") };
            let given = reply(&json!({"action": "accept", "content": {"answer": "x"}}));
            let Answered::Turn { input: Some(got), .. } = answered(&ask, &given) else { panic!() };
            assert_eq!(got.get(), input);
        }
    }

    #[test]
    fn the_answers_of_several_keep_their_names() {
        let one = |key: &str| ClientRequest { key: key.to_owned(), kind: ClientKind::Roots, params: json::raw("{}") };
        let client = ClientAsk { requests: vec![one("a"), one("b")], named: true };
        let ask = Ask { client: Some(client), ..Ask::new("x") };
        let answers = [("a".to_owned(), json::raw(&1)), ("b".to_owned(), json::raw(&2))];
        let Answered::Turn { reply: Some(reply), .. } = answered(&ask, &answers) else { panic!() };
        assert_eq!(reply.get(), r#"{"a":1,"b":2}"#);
    }

    #[test]
    fn an_id_names_its_task_its_turn_and_its_request() {
        let task = TaskId::new();
        let id = json::raw(&request_id(task, 3, "a.b"));
        assert_eq!(parse_request_id(&id), Some((task, 3, "a.b".to_owned())));
        for forged in ["1", "\"x\"", "\"task_0.1.a\"", "\"..\""] {
            assert_eq!(parse_request_id(&json::checked(forged.to_owned()).unwrap()), None, "{forged}");
        }
    }
}

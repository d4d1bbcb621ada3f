//! What a client says that it can do, and what this server says.

use pleat_domain::ClientKind;
use serde_json::{Map, Value, json};

pub const TASKS: &str = "io.modelcontextprotocol/tasks";

/// The part of a client's capabilities that something here depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct ClientCapabilities {
    pub elicitation: bool,
    pub sampling: bool,
    pub roots: bool,
    pub tasks: bool,
}

impl ClientCapabilities {
    pub fn read(declared: &Value) -> Self {
        let has = |name: &str| declared.get(name).is_some_and(Value::is_object);
        let elicitation = match declared.get("elicitation") {
            // A form is what is asked for when nothing is said; a client may say that it only opens addresses.
            Some(Value::Object(modes)) => modes.is_empty() || modes.contains_key("form"),
            _ => false,
        };
        let tasks = declared.get("extensions").and_then(|extensions| extensions.get(TASKS)).is_some();
        Self { elicitation, sampling: has("sampling"), roots: has("roots"), tasks }
    }

    /// As a client would declare no more than this: what is kept of it is small, however much it said.
    pub fn declared(self) -> Value {
        let tasks = self.tasks.then(|| ("extensions", json!({ TASKS: {} })));
        let plain = [("elicitation", self.elicitation), ("sampling", self.sampling), ("roots", self.roots)];
        let plain = plain.into_iter().filter(|(_, can)| *can).map(|(name, _)| (name, json!({})));
        Value::Object(plain.chain(tasks).map(|(name, value)| (name.to_owned(), value)).collect())
    }

    pub const fn serves(self, kind: ClientKind) -> bool {
        match kind {
            ClientKind::Elicit => self.elicitation,
            ClientKind::Sample => self.sampling,
            ClientKind::Roots => self.roots,
        }
    }
}

/// What a client would have to declare.
pub fn required(kinds: impl IntoIterator<Item = ClientKind>) -> Value {
    let name = |kind| match kind {
        ClientKind::Elicit => "elicitation",
        ClientKind::Sample => "sampling",
        ClientKind::Roots => "roots",
    };
    Value::Object(kinds.into_iter().map(|kind| (name(kind).to_owned(), json!({}))).collect())
}

pub fn required_tasks() -> Value {
    json!({ "extensions": { TASKS: {} } })
}

/// What a server has to offer.
#[derive(Debug, Clone, Copy)]
pub struct Offered {
    pub resources: bool,
    pub prompts: bool,
    pub tasks: bool,
    pub logging: bool,
}

/// As `initialize` and `server/discover` say it.
pub fn server(offered: Offered) -> Value {
    let mut all = Map::new();
    let mut add = |name: &str, value: Value| all.insert(name.to_owned(), value);
    add("tools", json!({ "listChanged": true }));
    if offered.resources {
        add("resources", json!({ "subscribe": true, "listChanged": true }));
    }
    if offered.prompts {
        add("prompts", json!({ "listChanged": true }));
        add("completions", json!({}));
    }
    if offered.logging {
        add("logging", json!({}));
    }
    if offered.tasks {
        add("extensions", json!({ TASKS: {} }));
    }
    Value::Object(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_client_can_do_what_it_declares() {
        let read = |value: Value| ClientCapabilities::read(&value);
        assert_eq!(read(json!({})), ClientCapabilities::default());
        assert!(read(json!({"elicitation": {}})).serves(ClientKind::Elicit));
        assert!(read(json!({"elicitation": {"form": {}, "url": {}}})).elicitation);
        assert!(!read(json!({"elicitation": {"url": {}}})).elicitation);
        assert!(!read(json!({"sampling": true})).sampling);
        assert!(read(json!({"extensions": {TASKS: {}}})).tasks);
    }

    #[test]
    fn what_is_kept_of_a_declaration_says_the_same_in_less() {
        let said = json!({"elicitation": {"form": {}}, "roots": {"listChanged": true}, "experimental": {"x": "y"},
            "extensions": {TASKS: {}}});
        let read = ClientCapabilities::read(&said);
        assert_eq!(ClientCapabilities::read(&read.declared()), read);
        assert_eq!(read.declared(), json!({"elicitation": {}, "roots": {}, "extensions": {TASKS: {}}}));
    }

    #[test]
    fn what_is_required_has_the_shape_of_what_is_declared() {
        let needed = required([ClientKind::Sample, ClientKind::Roots]);
        assert_eq!(needed, json!({"sampling": {}, "roots": {}}));
        assert!(ClientCapabilities::read(&needed).sampling);
        assert!(ClientCapabilities::read(&required_tasks()).tasks);
    }
}

//! The fields of a 1.0 card, as one table: what is checked, what is kept, and which absences mean the same.
//!
//! The schema is closed: a field that is not in the table is a fault of the card, and no part of what is signed.

use serde_json::{Map, Value};

/// Something that a card of 1.0 may not have, or must.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// JSON pointer into the card.
    pub pointer: String,
    pub message: String,
}

struct Message {
    fields: &'static [Field],
    /// Exactly one of the fields is there.
    choice: bool,
}

struct Field {
    name: &'static str,
    kind: Kind,
    presence: Presence,
}

enum Kind {
    Text,
    Flag,
    Texts,
    TextMap,
    /// Any JSON object: nobody looks inside.
    Open,
    One(&'static Message),
    Many(&'static Message),
    Map(&'static Message),
}

#[derive(PartialEq, Eq)]
enum Presence {
    Required,
    /// Told from absent even with its default (`optional` in the definition).
    Explicit,
    /// With its default it is as good as absent.
    Implicit,
}

const fn field(name: &'static str, kind: Kind, presence: Presence) -> Field {
    Field { name, kind, presence }
}

const fn message(fields: &'static [Field]) -> Message {
    Message { fields, choice: false }
}

use Kind::{Flag, Many, One, Open, Text, TextMap, Texts};
use Presence::{Explicit, Implicit, Required};

static CARD: Message = message(&[
    field("name", Text, Required),
    field("description", Text, Required),
    field("supportedInterfaces", Many(&INTERFACE), Required),
    field("provider", One(&PROVIDER), Implicit),
    field("version", Text, Required),
    field("documentationUrl", Text, Explicit),
    field("capabilities", One(&CAPABILITIES), Required),
    field("securitySchemes", Kind::Map(&SCHEME), Implicit),
    field("securityRequirements", Many(&REQUIREMENT), Implicit),
    field("defaultInputModes", Texts, Required),
    field("defaultOutputModes", Texts, Required),
    field("skills", Many(&SKILL), Required),
    field("signatures", Many(&SIGNATURE), Implicit),
    field("iconUrl", Text, Explicit),
]);
static INTERFACE: Message = message(&[
    field("url", Text, Required),
    field("protocolBinding", Text, Required),
    field("tenant", Text, Implicit),
    field("protocolVersion", Text, Required),
]);
static PROVIDER: Message = message(&[field("url", Text, Required), field("organization", Text, Required)]);
static CAPABILITIES: Message = message(&[
    field("streaming", Flag, Explicit),
    field("pushNotifications", Flag, Explicit),
    field("extensions", Many(&EXTENSION), Implicit),
    field("extendedAgentCard", Flag, Explicit),
]);
static EXTENSION: Message = message(&[
    field("uri", Text, Implicit),
    field("description", Text, Implicit),
    field("required", Flag, Implicit),
    field("params", Open, Implicit),
]);
static SKILL: Message = message(&[
    field("id", Text, Required),
    field("name", Text, Required),
    field("description", Text, Required),
    field("tags", Texts, Required),
    field("examples", Texts, Implicit),
    field("inputModes", Texts, Implicit),
    field("outputModes", Texts, Implicit),
    field("securityRequirements", Many(&REQUIREMENT), Implicit),
]);
static SIGNATURE: Message =
    message(&[field("protected", Text, Required), field("signature", Text, Required), field("header", Open, Implicit)]);
static REQUIREMENT: Message = message(&[field("schemes", Kind::Map(&SCOPES), Implicit)]);
static SCOPES: Message = message(&[field("list", Texts, Implicit)]);
static SCHEME: Message = Message {
    choice: true,
    fields: &[
        field("apiKeySecurityScheme", One(&API_KEY), Implicit),
        field("httpAuthSecurityScheme", One(&HTTP), Implicit),
        field("oauth2SecurityScheme", One(&OAUTH), Implicit),
        field("openIdConnectSecurityScheme", One(&OPEN_ID), Implicit),
        field("mtlsSecurityScheme", One(&MUTUAL_TLS), Implicit),
    ],
};
static API_KEY: Message =
    message(&[field("description", Text, Implicit), field("location", Text, Required), field("name", Text, Required)]);
static HTTP: Message = message(&[
    field("description", Text, Implicit),
    field("scheme", Text, Required),
    field("bearerFormat", Text, Implicit),
]);
static OAUTH: Message = message(&[
    field("description", Text, Implicit),
    field("flows", One(&FLOWS), Required),
    field("oauth2MetadataUrl", Text, Implicit),
]);
static OPEN_ID: Message = message(&[field("description", Text, Implicit), field("openIdConnectUrl", Text, Required)]);
static MUTUAL_TLS: Message = message(&[field("description", Text, Implicit)]);
static FLOWS: Message = Message {
    choice: true,
    fields: &[
        field("authorizationCode", One(&FLOW), Implicit),
        field("clientCredentials", One(&FLOW), Implicit),
        field("implicit", One(&FLOW), Implicit),
        field("password", One(&FLOW), Implicit),
        field("deviceCode", One(&FLOW), Implicit),
    ],
};
/// The fields of all flows: which flow needs which is the authorization server's to say.
static FLOW: Message = message(&[
    field("authorizationUrl", Text, Implicit),
    field("deviceAuthorizationUrl", Text, Implicit),
    field("tokenUrl", Text, Implicit),
    field("refreshUrl", Text, Implicit),
    field("scopes", TextMap, Implicit),
    field("pkceRequired", Flag, Implicit),
]);

/// Everything that keeps this from being a card of 1.0; nothing if it is one.
pub fn check(card: &Value) -> Vec<Fault> {
    let mut faults = Vec::new();
    CARD.check(card, "", &mut faults);
    faults
}

/// What 1.0 sees of a card: its own fields, without those that say nothing. Signatures are left out.
pub fn project(card: &Map<String, Value>) -> Map<String, Value> {
    let mut seen = CARD.project(card);
    seen.remove("signatures");
    seen
}

impl Message {
    fn check(&self, value: &Value, pointer: &str, faults: &mut Vec<Fault>) {
        let Value::Object(fields) = value else {
            return fault(faults, pointer, "must be an object");
        };
        for (name, value) in fields {
            let place = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
            match self.fields.iter().find(|field| field.name == name) {
                Some(field) => field.check(value, &place, faults),
                None => fault(faults, &place, "is no field of A2A 1.0"),
            }
        }
        let missing = |field: &&Field| field.presence == Required && !fields.contains_key(field.name);
        for field in self.fields.iter().filter(missing) {
            fault(faults, pointer, &format!("must have `{}`", field.name));
        }
        let known = self.fields.iter().filter(|field| fields.contains_key(field.name)).count();
        if self.choice && known != 1 {
            let names: Vec<&str> = self.fields.iter().map(|field| field.name).collect();
            fault(faults, pointer, &format!("must have exactly one of {}", names.join(", ")));
        }
    }

    fn project(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let seen = |(name, value): (&String, &Value)| {
            let field = self.fields.iter().find(|field| field.name == name)?;
            let value = field.project(value);
            let silent = field.presence == Implicit && field.is_default(&value);
            (!silent).then(|| (name.clone(), value))
        };
        fields.iter().filter_map(seen).collect()
    }
}

impl Field {
    fn check(&self, value: &Value, pointer: &str, faults: &mut Vec<Fault>) {
        let each = |value: &Value, faults: &mut Vec<Fault>, message: &Message| match value {
            Value::Array(items) => {
                for (place, item) in items.iter().enumerate() {
                    message.check(item, &format!("{pointer}/{place}"), faults);
                }
            }
            _ => fault(faults, pointer, "must be an array"),
        };
        match (&self.kind, value) {
            (Text, Value::String(_)) | (Flag, Value::Bool(_)) | (Open, Value::Object(_)) => {}
            (Text, _) => fault(faults, pointer, "must be a string"),
            (Flag, _) => fault(faults, pointer, "must be true or false"),
            (Texts, Value::Array(items)) if items.iter().all(Value::is_string) => {}
            (Texts, _) => fault(faults, pointer, "must be an array of strings"),
            (TextMap, Value::Object(fields)) if fields.values().all(Value::is_string) => {}
            (TextMap, _) => fault(faults, pointer, "must be an object of strings"),
            (Open, _) => fault(faults, pointer, "must be an object"),
            (One(message), value) => message.check(value, pointer, faults),
            (Many(message), value) => each(value, faults, message),
            (Kind::Map(message), Value::Object(fields)) => {
                for (name, value) in fields {
                    message.check(value, &format!("{pointer}/{name}"), faults);
                }
            }
            (Kind::Map(_), _) => fault(faults, pointer, "must be an object"),
        }
    }

    fn project(&self, value: &Value) -> Value {
        match (&self.kind, value) {
            (One(message), Value::Object(fields)) => Value::Object(message.project(fields)),
            (Many(message), Value::Array(items)) => items.iter().map(|item| within(message, item)).collect(),
            (Kind::Map(message), Value::Object(fields)) => {
                Value::Object(fields.iter().map(|(name, value)| (name.clone(), within(message, value))).collect())
            }
            _ => value.clone(),
        }
    }

    /// A message that is there is no default, however empty.
    fn is_default(&self, value: &Value) -> bool {
        match (&self.kind, value) {
            (Text, Value::String(text)) => text.is_empty(),
            (Flag, Value::Bool(flag)) => !flag,
            (Texts | Many(_), Value::Array(items)) => items.is_empty(),
            (TextMap | Kind::Map(_), Value::Object(fields)) => fields.is_empty(),
            (_, Value::Null) => true,
            _ => false,
        }
    }
}

fn within(message: &Message, value: &Value) -> Value {
    match value {
        Value::Object(fields) => Value::Object(message.project(fields)),
        other => other.clone(),
    }
}

fn fault(faults: &mut Vec<Fault>, pointer: &str, message: &str) {
    faults.push(Fault { pointer: pointer.to_owned(), message: message.to_owned() });
}

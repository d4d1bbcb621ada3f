//! The HTTP+JSON binding of A2A 1.0: paths and queries become the parameters that a JSON-RPC request would have had.
//!
//! Every path may begin with the tenant, which must then be the one whose address this is.

use axum::body::Body;
use axum::extract::{Query, State};
use axum::response::Response;
use bytes::Bytes;
use http::{HeaderMap, Method, Uri};
use pleat_a2a::messages::{Call, Dialect};
use pleat_a2a::method::{Operation, UnknownVersion, Version};
use pleat_domain::json::{self, Raw};
use serde_json::{Map, Value};

use super::answer::Wire;
use super::{messages, version};
use crate::app::App;
use crate::body;
use crate::extract::{Named, Visitor};
use crate::problem::Problem;

/// The paths of the binding, for the test that wants an isolation row for each.
pub(crate) const ROUTES: &[(&str, &str)] = &[
    ("POST", "/_a2a/rest/message:send"),
    ("POST", "/_a2a/rest/message:stream"),
    ("GET", "/_a2a/rest/tasks"),
    ("GET", "/_a2a/rest/tasks/{id}"),
    ("POST", "/_a2a/rest/tasks/{id}:cancel"),
    ("GET", "/_a2a/rest/tasks/{id}:subscribe"),
    ("POST", "/_a2a/rest/tasks/{id}:subscribe"),
    ("POST", "/_a2a/rest/tasks/{id}/pushNotificationConfigs"),
    ("GET", "/_a2a/rest/tasks/{id}/pushNotificationConfigs"),
    ("GET", "/_a2a/rest/tasks/{id}/pushNotificationConfigs/{config}"),
    ("DELETE", "/_a2a/rest/tasks/{id}/pushNotificationConfigs/{config}"),
    ("GET", "/_a2a/rest/extendedAgentCard"),
    ("POST", "/_a2a/rest/{tenant}/message:send"),
    ("POST", "/_a2a/rest/{tenant}/message:stream"),
    ("GET", "/_a2a/rest/{tenant}/tasks"),
    ("GET", "/_a2a/rest/{tenant}/tasks/{id}"),
    ("POST", "/_a2a/rest/{tenant}/tasks/{id}:cancel"),
    ("GET", "/_a2a/rest/{tenant}/tasks/{id}:subscribe"),
    ("POST", "/_a2a/rest/{tenant}/tasks/{id}:subscribe"),
    ("POST", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs"),
    ("GET", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs"),
    ("GET", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs/{config}"),
    ("DELETE", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs/{config}"),
    ("GET", "/_a2a/rest/{tenant}/extendedAgentCard"),
];

pub(crate) async fn serve(
    State(app): State<App>,
    visitor: Result<Visitor, Problem>,
    path: Result<Named, Problem>,
    method: Method,
    uri: Uri,
    headers: HeaderMap,
    sent: Body,
) -> Response {
    let wire = Wire::rest(&headers);
    let request = Request { method: &method, uri: &uri, headers: &headers };
    let served = async {
        let (visitor, Named(path)) = (visitor?, path?);
        let place = Place::of(&path).ok_or_else(Problem::not_found)?;
        if place.tenant.is_some_and(|named| named != visitor.site.tenant.slug.as_str()) {
            return Err(Problem::other_tenant());
        }
        let call = request.read(&app, &place, sent).await?;
        messages::perform(&app, visitor, &headers, call, wire).await
    };
    let mut response = served.await.unwrap_or_else(Problem::into_status);
    version::mark_extensions(&headers, &mut response);
    response
}

struct Request<'a> {
    method: &'a Method,
    uri: &'a Uri,
    headers: &'a HeaderMap,
}

impl Request<'_> {
    async fn read(&self, app: &App, place: &Place<'_>, sent: Body) -> Result<Call, Problem> {
        match version::asked(self.headers, self.uri)? {
            None | Some(Version::V1) => {}
            Some(Version::V03) => return Err(UnknownVersion { requested: "0.3".to_owned(), supported: "1.0" }.into()),
            Some(Version::V01) => return Err(UnknownVersion { requested: "0.1".to_owned(), supported: "1.0" }.into()),
        }
        let operation = place.operation(self.method).ok_or_else(Problem::wrong_method)?;
        let most = app.config.request_body;
        let params = match operation {
            Operation::Send | Operation::Stream => checked(self.json(sent, most).await?)?,
            Operation::SetPush => place.filled(object(&checked(self.json(sent, most).await?)?)?)?,
            Operation::Cancel => match body::read(sent, most).await? {
                bytes if bytes.is_empty() => place.filled(Map::new())?,
                bytes => place.filled(object(&checked(bytes)?)?)?,
            },
            _ => place.filled(self.query()?)?,
        };
        Ok(Call::read(Dialect::V1, operation, Some(&params))?)
    }

    async fn json(&self, sent: Body, most: usize) -> Result<Bytes, Problem> {
        body::read_json(self.headers, sent, most).await.map_err(Problem::into_content_type)
    }

    /// The query, with numbers and truth values as JSON has them.
    fn query(&self) -> Result<Map<String, Value>, Problem> {
        let Query(pairs) = Query::<Vec<(String, String)>>::try_from_uri(self.uri)
            .map_err(|_| Problem::invalid("the query cannot be read"))?;
        let mut params = Map::new();
        for (name, text) in pairs {
            let value = match (name.as_str(), text.as_str()) {
                ("historyLength" | "history_length" | "pageSize" | "page_size", text) => {
                    text.parse::<i64>().map_or_else(|_| Value::from(text), Value::from)
                }
                ("includeArtifacts" | "include_artifacts", "true") => Value::Bool(true),
                ("includeArtifacts" | "include_artifacts", "false") => Value::Bool(false),
                (_, text) => Value::from(text),
            };
            if params.insert(name.clone(), value).is_some() {
                let shown: String = name.chars().take(80).collect();
                return Err(Problem::invalid(format!("`{shown}` is in the query twice; send it once")));
            }
        }
        Ok(params)
    }
}

fn checked(bytes: Bytes) -> Result<Raw, Problem> {
    let text = String::from_utf8(bytes.into()).map_err(|_| Problem::invalid("the body is not UTF-8"))?;
    let raw = json::checked(text).map_err(|fault| Problem::invalid(format!("the body cannot be taken: {fault}")))?;
    if raw.get().trim_start().starts_with('{') {
        Ok(raw)
    } else {
        Err(Problem::invalid("the body must be a JSON object"))
    }
}

fn object(raw: &Raw) -> Result<Map<String, Value>, Problem> {
    serde_json::from_str(raw.get()).map_err(|_| Problem::invalid("the body must be a JSON object"))
}

/// What a path names.
struct Place<'a> {
    tenant: Option<&'a str>,
    what: What<'a>,
}

enum What<'a> {
    Send,
    Stream,
    Tasks,
    Task(&'a str),
    Cancel(&'a str),
    Subscribe(&'a str),
    Pushes(&'a str),
    Push(&'a str, &'a str),
    ExtendedCard,
}

impl<'a> Place<'a> {
    fn of(path: &'a str) -> Option<Self> {
        let steps: Vec<&str> = path.split('/').collect();
        if let Some(what) = What::of(&steps) {
            return Some(Self { tenant: None, what });
        }
        let (tenant, rest) = steps.split_first()?;
        Some(Self { tenant: Some(tenant), what: What::of(rest)? })
    }

    fn operation(&self, method: &Method) -> Option<Operation> {
        Some(match (method.as_str(), &self.what) {
            ("POST", What::Send) => Operation::Send,
            ("POST", What::Stream) => Operation::Stream,
            ("GET", What::Tasks) => Operation::List,
            ("GET", What::Task(_)) => Operation::Get,
            ("POST", What::Cancel(_)) => Operation::Cancel,
            ("GET" | "POST", What::Subscribe(_)) => Operation::Subscribe,
            ("POST", What::Pushes(_)) => Operation::SetPush,
            ("GET", What::Pushes(_)) => Operation::ListPushes,
            ("GET", What::Push(..)) => Operation::GetPush,
            ("DELETE", What::Push(..)) => Operation::DeletePush,
            ("GET", What::ExtendedCard) => Operation::ExtendedCard,
            _ => return None,
        })
    }

    /// What the path says goes into the parameters; they may say it too, but nothing else.
    fn filled(&self, mut params: Map<String, Value>) -> Result<Raw, Problem> {
        let mut put = |name: &str, text: &str| match params.insert(name.to_owned(), Value::from(text)) {
            Some(Value::String(earlier)) if !earlier.is_empty() && earlier != text => {
                Err(Problem::invalid(format!("`{name}` is another one in the path")))
            }
            _ => Ok(()),
        };
        match self.what {
            What::Task(id) | What::Cancel(id) | What::Subscribe(id) => put("id", id)?,
            What::Pushes(task) => put("taskId", task)?,
            What::Push(task, id) => {
                put("taskId", task)?;
                put("id", id)?;
            }
            What::Send | What::Stream | What::Tasks | What::ExtendedCard => {}
        }
        Ok(json::raw(&params))
    }
}

impl<'a> What<'a> {
    fn of(steps: &[&'a str]) -> Option<Self> {
        Some(match steps {
            ["message:send"] => Self::Send,
            ["message:stream"] => Self::Stream,
            ["extendedAgentCard"] => Self::ExtendedCard,
            ["tasks"] => Self::Tasks,
            ["tasks", id] => match id.rsplit_once(':') {
                Some((id, "cancel")) => Self::Cancel(id),
                Some((id, "subscribe")) => Self::Subscribe(id),
                _ => Self::Task(id),
            },
            ["tasks", task, "pushNotificationConfigs"] => Self::Pushes(task),
            ["tasks", task, "pushNotificationConfigs", id] => Self::Push(task, id),
            _ => return None,
        })
    }
}

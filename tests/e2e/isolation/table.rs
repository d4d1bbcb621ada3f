//! One row and more for each route: who is refused, with which answer, and who is not.
//!
//! An answer is its status and, where there is one, the code of its error.

/// What is sent along.
pub enum Sent {
    Nothing,
    /// `{task}` stands for the finished task.
    Json(&'static str),
    File,
}

pub struct Row {
    pub site: &'static str,
    pub method: &'static str,
    /// As the router has it.
    pub path: &'static str,
    pub query: &'static str,
    pub sent: Sent,
    pub nobody: &'static str,
    /// The other tenant's key with every scope; the operator's key gets the same, unless it is the right one.
    pub wrong_tenant: &'static str,
    /// A key of this tenant, and what it gets.
    pub wrong_scope: (&'static str, &'static str),
    /// What another caller's key gets, where a task is named.
    pub wrong_caller: Option<&'static str>,
    /// The key that may, and what it gets: without this a row could not fail.
    pub right: (&'static str, &'static str),
}

const OK: &str = "200";
const NO_KEY: &str = "401 unauthenticated";
const FORBIDDEN: &str = "403 forbidden";

/// Open to all: there is nothing of anybody's in it.
const fn open(site: &'static str, path: &'static str) -> Row {
    let (wrong_scope, right) = (("read", OK), ("invoke", OK));
    let (method, query, sent) = ("GET", "", Sent::Nothing);
    Row { site, method, path, query, sent, nobody: OK, wrong_tenant: OK, wrong_scope, wrong_caller: None, right }
}

const fn control(
    method: &'static str,
    path: &'static str,
    sent: Sent,
    wrong_scope: &'static str,
    right: (&'static str, &'static str),
) -> Row {
    Row {
        site: "control",
        method,
        path,
        query: "",
        sent,
        nobody: NO_KEY,
        wrong_tenant: NO_KEY,
        wrong_scope: (wrong_scope, FORBIDDEN),
        wrong_caller: None,
        right,
    }
}

/// A route of the control API that names a task: callers have no business there, with their own tasks or others'.
const fn task(method: &'static str, path: &'static str, wrong_scope: &'static str, right: &'static str) -> Row {
    Row { wrong_caller: Some(FORBIDDEN), ..control(method, path, Sent::Nothing, wrong_scope, (right, OK)) }
}

/// A tenant's admin is nobody special on the platform's own routes.
const fn platform(method: &'static str, path: &'static str, sent: Sent, right: &'static str) -> Row {
    Row { wrong_tenant: FORBIDDEN, ..control(method, path, sent, "admin", ("operator", right)) }
}

const fn function(method: &'static str, sent: Sent) -> Row {
    Row { site: "tenant", ..control(method, "/{function}", sent, "deploy", ("invoke", OK)) }
}

const fn a2a_get(path: &'static str) -> Row {
    let body = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/get","params":{"id":"{task}"}}"#;
    a2a_task(path, body)
}

/// A request about a task.
const fn a2a_task(path: &'static str, body: &'static str) -> Row {
    Row { wrong_caller: Some("200 -32001"), ..a2a_send(path, body) }
}

const fn a2a_send(path: &'static str, body: &'static str) -> Row {
    Row {
        site: "tenant",
        method: "POST",
        path,
        query: "",
        sent: Sent::Json(body),
        nobody: "401 -32052",
        wrong_tenant: "401 -32052",
        wrong_scope: ("deploy", "403 -32053"),
        wrong_caller: None,
        right: ("invoke", OK),
    }
}

/// The Model Context Protocol: before anything else it is seen who asks.
const fn mcp(method: &'static str, sent: Sent, right: &'static str) -> Row {
    Row { method, path: "/mcp", sent, right: ("invoke", right), ..a2a_send("", "") }
}

/// The operators' door, for the tenant that the key belongs to: naming another is a mistake.
const fn operators(method: &'static str, sent: Sent, right: &'static str) -> Row {
    let (query, wrong_scope) = ("?tenant=acme", ("invoke", "403 -32053"));
    Row { site: "control", query, wrong_scope, right: ("deploy", right), ..mcp(method, sent, right) }
}

const INITIALIZE: Sent = Sent::Json(
    r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{}}}"#,
);

const SEND: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/send",
    "params":{"skill":"private","message":{"do":"echo","value":2}}}"#;

const SET_PUSH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotification/set",
    "params":{"id":"{task}","pushNotificationConfig":{"url":"https://receiver.invalid/"}}}"#;
const GET_PUSH: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tasks/pushNotification/get","params":{"id":"{task}"}}"#;
const MESSAGE: Sent = Sent::Json(
    r#"{"message":{"messageId":"m","role":"ROLE_USER","parts":[{"data":{"do":"echo","value":2}}],
    "metadata":{"skill":"private"}}}"#,
);
/// Over HTTP+JSON, the code of an error is its status.
const NO_KEY_STATUS: &str = "401 401";
const NOT_FOUND_STATUS: &str = "404 404";
/// Refused for what the task is, not for who asks.
const OVER: &str = "400 400";

/// A path of the HTTP+JSON binding.
const fn rest(method: &'static str, path: &'static str, sent: Sent, right: &'static str) -> Row {
    Row {
        site: "tenant",
        method,
        path,
        query: "",
        sent,
        nobody: NO_KEY_STATUS,
        wrong_tenant: NO_KEY_STATUS,
        wrong_scope: ("deploy", "403 403"),
        wrong_caller: None,
        right: ("invoke", right),
    }
}

const PUSH: Sent = Sent::Json(r#"{"id":"default","url":"https://receiver.invalid/"}"#);

/// One that names a task.
const fn rest_task(method: &'static str, path: &'static str, sent: Sent, right: &'static str) -> Row {
    Row { wrong_caller: Some(NOT_FOUND_STATUS), ..rest(method, path, sent, right) }
}

const fn rest_card(path: &'static str) -> Row {
    rest("GET", path, Sent::Nothing, OK)
}

const PIPELINE: Sent = Sent::Json(r#"{"name":"private","steps":[{"id":"one","tool_name":"private"}]}"#);
const ECHO: Sent = Sent::Json(r#"{"do":"echo","value":3}"#);
const VALUE: Sent = Sent::Json(r#"{"value":"x"}"#);
const POLICY: Sent = Sent::Json(r#"{"checks":[]}"#);
const ISSUER: &str = r#"{"issuer":"https://id.example","scopes":["invoke"],"jwks":{"keys":[
    {"kty":"OKP","crv":"Ed25519","kid":"one","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}}"#;
const KEYS: &str = r#"{"jwks":{"keys":[
    {"kty":"OKP","crv":"Ed25519","kid":"two","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}}"#;

/// In this order: what takes things away comes last.
pub const ROWS: &[Row] = &[
    open("tenant", "/"),
    open("tenant", "/.well-known/agent.json"),
    open("tenant", "/.well-known/agent-card.json"),
    open("tenant", "/.well-known/jwks.json"),
    a2a_get("/"),
    a2a_get("/_a2a"),
    a2a_get("/_a2a/"),
    a2a_task("/", SET_PUSH),
    a2a_task("/_a2a", GET_PUSH),
    a2a_task("/_a2a/", SET_PUSH),
    a2a_task("/_a2a/", GET_PUSH),
    a2a_send("/", SEND),
    a2a_send("/_a2a", SEND),
    a2a_send("/_a2a/", SEND),
    open("tenant", "/.well-known/oauth-protected-resource"),
    open("tenant", "/.well-known/oauth-protected-resource/mcp"),
    mcp("POST", INITIALIZE, OK),
    mcp("GET", Sent::Nothing, "405 -32600"),
    mcp("DELETE", Sent::Nothing, "405 -32600"),
    open("control", "/.well-known/oauth-protected-resource"),
    open("control", "/.well-known/oauth-protected-resource/mcp"),
    open("control", "/.well-known/oauth-protected-resource/t/{tenant}/mcp"),
    operators("POST", INITIALIZE, OK),
    operators("GET", Sent::Nothing, "405 -32600"),
    operators("DELETE", Sent::Nothing, "405 -32600"),
    rest("POST", "/_a2a/rest/message:send", MESSAGE, OK),
    rest("POST", "/_a2a/rest/message:stream", MESSAGE, OK),
    rest("GET", "/_a2a/rest/tasks", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/tasks/{id}", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/tasks/{id}:subscribe", Sent::Nothing, OVER),
    rest_task("POST", "/_a2a/rest/tasks/{id}:subscribe", Sent::Nothing, OVER),
    rest_task("POST", "/_a2a/rest/tasks/{id}:cancel", Sent::Nothing, OK),
    rest("POST", "/_a2a/rest/{tenant}/message:send", MESSAGE, OK),
    rest("POST", "/_a2a/rest/{tenant}/message:stream", MESSAGE, OK),
    rest("GET", "/_a2a/rest/{tenant}/tasks", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/{tenant}/tasks/{id}", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/{tenant}/tasks/{id}:subscribe", Sent::Nothing, OVER),
    rest_task("POST", "/_a2a/rest/{tenant}/tasks/{id}:subscribe", Sent::Nothing, OVER),
    rest_task("POST", "/_a2a/rest/{tenant}/tasks/{id}:cancel", Sent::Nothing, OVER),
    rest_task("POST", "/_a2a/rest/tasks/{id}/pushNotificationConfigs", PUSH, OK),
    rest_task("GET", "/_a2a/rest/tasks/{id}/pushNotificationConfigs", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/tasks/{id}/pushNotificationConfigs/{config}", Sent::Nothing, OK),
    rest_task("DELETE", "/_a2a/rest/tasks/{id}/pushNotificationConfigs/{config}", Sent::Nothing, OK),
    rest_card("/_a2a/rest/extendedAgentCard"),
    rest_task("POST", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs", PUSH, OK),
    rest_task("GET", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs", Sent::Nothing, OK),
    rest_task("GET", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs/{config}", Sent::Nothing, OK),
    rest_task("DELETE", "/_a2a/rest/{tenant}/tasks/{id}/pushNotificationConfigs/{config}", Sent::Nothing, OK),
    rest_card("/_a2a/rest/{tenant}/extendedAgentCard"),
    function("GET", Sent::Nothing),
    function("POST", ECHO),
    open("control", "/"),
    open("control", "/healthz"),
    open("control", "/readyz"),
    platform("GET", "/metrics", Sent::Nothing, OK),
    open("control", "/.well-known/jwks.json"),
    open("control", "/api/v1/openapi.json"),
    // Every key may ask whose it is.
    Row { nobody: NO_KEY, ..open("control", "/api/v1/whoami") },
    platform("GET", "/api/v1/tenants", Sent::Nothing, OK),
    platform("POST", "/api/v1/tenants", Sent::Json(r#"{"slug":"fresh"}"#), "201"),
    control("GET", "/api/v1/tenants/{tenant}", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/audit", Sent::Nothing, "deploy", ("admin", OK)),
    platform("GET", "/api/v1/audit", Sent::Nothing, OK),
    platform("GET", "/api/v1/operator-keys", Sent::Nothing, OK),
    platform("POST", "/api/v1/operator-keys", Sent::Json(r#"{"label":"ada"}"#), "201"),
    platform("POST", "/api/v1/operator-keys/{id}/rotate", Sent::Nothing, "201"),
    platform("DELETE", "/api/v1/operator-keys/{id}", Sent::Nothing, "204"),
    platform("POST", "/api/v1/tenants/{tenant}/recovery-key", Sent::Nothing, "201"),
    control("GET", "/api/v1/tenants/{tenant}/keys", Sent::Nothing, "deploy", ("admin", OK)),
    control("POST", "/api/v1/tenants/{tenant}/keys", Sent::Json(r#"{"scopes":["read"]}"#), "deploy", ("admin", "201")),
    control("GET", "/api/v1/tenants/{tenant}/issuers", Sent::Nothing, "deploy", ("admin", OK)),
    control("POST", "/api/v1/tenants/{tenant}/issuers", Sent::Json(ISSUER), "deploy", ("admin", "201")),
    control("PUT", "/api/v1/tenants/{tenant}/issuers/{id}/jwks", Sent::Json(KEYS), "deploy", ("admin", "204")),
    Row {
        query: "?fileName=minimal.wat&name=fresh",
        ..control("POST", "/api/v1/tenants/{tenant}/functions", Sent::File, "read", ("deploy", "201"))
    },
    control("GET", "/api/v1/tenants/{tenant}/functions", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/functions/{name}", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/functions/{name}/versions", Sent::Nothing, "invoke", ("read", OK)),
    Row {
        query: "?activate=true",
        ..control("POST", "/api/v1/tenants/{tenant}/pipelines", PIPELINE, "read", ("deploy", "201"))
    },
    control("GET", "/api/v1/tenants/{tenant}/pipelines", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pipelines/{name}", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pipelines/{name}/versions", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pipelines/{name}/graph", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pipelines/{name}/explain", Sent::Nothing, "invoke", ("read", OK)),
    control("POST", "/api/v1/tenants/{tenant}/pipelines/{name}/activate", Sent::Nothing, "read", ("deploy", OK)),
    control("POST", "/api/v1/tenants/{tenant}/pipelines/{name}/runs", ECHO, "read", ("invoke", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pipelines/{name}/runs", Sent::Nothing, "invoke", ("read", OK)),
    control("POST", "/api/v1/tenants/{tenant}/pipelines/{name}/archive", Sent::Nothing, "read", ("deploy", OK)),
    control("DELETE", "/api/v1/tenants/{tenant}/pipelines/{name}", Sent::Nothing, "read", ("deploy", "204")),
    control("GET", "/api/v1/tenants/{tenant}/secrets", Sent::Nothing, "read", ("deploy", OK)),
    control("PUT", "/api/v1/tenants/{tenant}/secrets/{name}", VALUE, "read", ("deploy", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/secrets/{name}", Sent::Nothing, "read", ("deploy", "204")),
    control("GET", "/api/v1/tenants/{tenant}/settings", Sent::Nothing, "invoke", ("read", OK)),
    control("PUT", "/api/v1/tenants/{tenant}/settings/{name}", VALUE, "read", ("deploy", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/settings/{name}", Sent::Nothing, "read", ("deploy", "204")),
    control("GET", "/api/v1/tenants/{tenant}/guard", Sent::Nothing, "invoke", ("read", OK)),
    control("PUT", "/api/v1/tenants/{tenant}/guard", POLICY, "read", ("deploy", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/guard", Sent::Nothing, "read", ("deploy", "204")),
    control("GET", "/api/v1/tenants/{tenant}/guard/skills/{name}", Sent::Nothing, "invoke", ("read", OK)),
    control("PUT", "/api/v1/tenants/{tenant}/guard/skills/{name}", POLICY, "read", ("deploy", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/guard/skills/{name}", Sent::Nothing, "read", ("deploy", "204")),
    control("GET", "/api/v1/tenants/{tenant}/guard/violations", Sent::Nothing, "invoke", ("read", OK)),
    control("POST", "/api/v1/tenants/{tenant}/guard/replay", POLICY, "read", ("deploy", OK)),
    control("GET", "/api/v1/tenants/{tenant}/tasks", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/logs", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/pushes", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/deliveries", Sent::Nothing, "invoke", ("read", OK)),
    control("GET", "/api/v1/tenants/{tenant}/push-key", Sent::Nothing, "read", ("deploy", OK)),
    control("GET", "/api/v1/tenants/{tenant}/usage", Sent::Nothing, "invoke", ("read", OK)),
    platform("GET", "/api/v1/usage", Sent::Nothing, OK),
    platform("PUT", "/api/v1/tenants/{tenant}/plan", Sent::Json(r#"{"plan":"unlimited"}"#), OK),
    platform("PUT", "/api/v1/tenants/{tenant}/card", Sent::Json(r#"{"card":"all"}"#), OK),
    platform("GET", "/api/v1/card-keys", Sent::Nothing, OK),
    platform("POST", "/api/v1/card-keys", Sent::Nothing, "201"),
    platform("DELETE", "/api/v1/card-keys/{id}", Sent::Nothing, "204"),
    task("GET", "/api/v1/tenants/{tenant}/tasks/{id}", "invoke", "read"),
    task("GET", "/api/v1/tenants/{tenant}/tasks/{id}/events", "invoke", "read"),
    task("GET", "/api/v1/tenants/{tenant}/tasks/{id}/trace", "invoke", "read"),
    task("POST", "/api/v1/tenants/{tenant}/tasks/{id}/cancel", "read", "deploy"),
    // The task is no run of a pipeline.
    Row {
        sent: Sent::Json(r#"{"from":"one"}"#),
        right: ("deploy", "400 invalid"),
        ..task("POST", "/api/v1/tenants/{tenant}/tasks/{id}/replay", "read", "deploy")
    },
    Row {
        right: ("deploy", "202"),
        ..task("POST", "/api/v1/tenants/{tenant}/tasks/{id}/pushes/{push}/retry", "read", "deploy")
    },
    control("POST", "/api/v1/tenants/{tenant}/functions/{name}/rollback", Sent::Nothing, "read", ("deploy", OK)),
    control("DELETE", "/api/v1/tenants/{tenant}/functions/{name}", Sent::Nothing, "read", ("deploy", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/issuers/{id}", Sent::Nothing, "deploy", ("admin", "204")),
    control("DELETE", "/api/v1/tenants/{tenant}/keys/{id}", Sent::Nothing, "deploy", ("admin", "204")),
    platform("DELETE", "/api/v1/tenants/{tenant}", Sent::Nothing, "204"),
];

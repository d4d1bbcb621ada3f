//! What guardrails warn of, in a header: for clients that do not look into the answer.

use axum::response::Response;
use http::{HeaderName, HeaderValue};
use pleat_domain::Task;

const WARNINGS: HeaderName = HeaderName::from_static("x-guardrail-warnings");

/// The names of the rules, with commas between them.
pub(crate) fn warned(mut response: Response, task: &Task) -> Response {
    if !task.warnings().is_empty()
        && let Ok(rules) = HeaderValue::from_str(&task.warnings().join(", "))
    {
        response.headers_mut().insert(WARNINGS, rules);
    }
    response
}

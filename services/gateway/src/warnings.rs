//! What guardrails warn of, in a header: for clients that do not look into the answer.

use axum::response::Response;
use http::{HeaderName, HeaderValue};
use pleat_domain::Task;

pub(crate) const WARNINGS: HeaderName = HeaderName::from_static("x-guardrail-warnings");

pub(crate) fn warned(mut response: Response, task: &Task) -> Response {
    if let Some(rules) = rules(task) {
        response.headers_mut().insert(WARNINGS, rules);
    }
    response
}

/// The names of the rules, with commas between them: names have none. `None`: nothing is warned of.
pub(crate) fn rules(task: &Task) -> Option<HeaderValue> {
    if task.warnings().is_empty() { None } else { HeaderValue::from_str(&task.warnings().join(", ")).ok() }
}

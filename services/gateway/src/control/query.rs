//! Query strings and JSON bodies of the control API, read strictly.

use axum::body::{Body, HttpBody};
use axum::extract::Query;
use http::{HeaderMap, Uri};
use pleat_domain::limits;
use serde::de::DeserializeOwned;
use time::OffsetDateTime;

use crate::body;
use crate::problem::Problem;

/// Bodies of the control API are small.
const MOST: usize = 64 * 1024;
/// Every character of a value may be written as an escape of six.
const SETTING: usize = 6 * limits::SETTING_VALUE + 1024;

pub(crate) fn parse<T: DeserializeOwned>(uri: &Uri) -> Result<T, Problem> {
    let Query(value) = Query::try_from_uri(uri).map_err(|fault| Problem::invalid(fault.body_text()))?;
    Ok(value)
}

pub(crate) async fn json<T: DeserializeOwned>(headers: &HeaderMap, sent: Body) -> Result<T, Problem> {
    json_within(headers, sent, MOST).await
}

/// The body that carries the value of a secret or a setting. What does not fit is not quoted: it may be a secret.
pub(crate) async fn setting<T: DeserializeOwned>(headers: &HeaderMap, sent: Body) -> Result<T, Problem> {
    json_within(headers, sent, SETTING)
        .await
        .map_err(|problem| problem.without_quotes("the body must be `{\"value\": \"…\"}` and nothing else"))
}

async fn json_within<T: DeserializeOwned>(headers: &HeaderMap, sent: Body, most: usize) -> Result<T, Problem> {
    let bytes = body::read_json(headers, sent, most).await?;
    pleat_domain::json::check(&bytes)
        .map_err(|fault| Problem::invalid(format!("the body cannot be taken: {fault}")))?;
    // A derived struct would also read from an array, field by field.
    if !bytes.trim_ascii_start().starts_with(b"{") {
        return Err(Problem::invalid("the body must be a JSON object"));
    }
    serde_json::from_slice(&bytes).map_err(|error| Problem::invalid(format!("the body does not fit: {error}")))
}

/// The same, where a missing body means the defaults.
pub(crate) async fn optional_json<T: DeserializeOwned + Default>(
    headers: &HeaderMap,
    sent: Body,
) -> Result<T, Problem> {
    let missing = !headers.contains_key(http::header::CONTENT_TYPE) && sent.is_end_stream();
    if missing { Ok(T::default()) } else { json(headers, sent).await }
}

/// The moment in a cursor: microseconds since 1970, so that no arithmetic and no database can trip over it.
pub(crate) fn time_of(micros: &str) -> Option<OffsetDateTime> {
    let nanos = i128::from(micros.parse::<u64>().ok()?) * 1_000;
    OffsetDateTime::from_unix_timestamp_nanos(nanos).ok()
}

/// A moment in a query: `since`.
pub(crate) fn moment(text: &str) -> Result<OffsetDateTime, Problem> {
    let time = OffsetDateTime::parse(text, &time::format_description::well_known::Rfc3339);
    time.map_err(|_| Problem::invalid("`since` must be a time such as 2026-11-16T10:00:00Z"))
}

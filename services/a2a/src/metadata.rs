//! What every version says about a status beside its words.

use pleat_domain::task::Ask;
use pleat_domain::{Failure, Reason};
use serde::Serialize;
use serde_json::value::RawValue;

/// Machine-readable company of a status. `Failure::detail` is the owner's and has no field here.
#[derive(Debug, Default, Serialize)]
pub(crate) struct MetadataView<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    failure: Option<FailureView<'a>>,
    /// JSON Schema of the answer that is waited for.
    #[serde(skip_serializing_if = "Option::is_none")]
    schema: Option<&'a RawValue>,
    /// The rules of guardrails that found something.
    #[serde(rename = "guardrailWarnings", skip_serializing_if = "<[_]>::is_empty")]
    warnings: &'a [String],
}

impl<'a> MetadataView<'a> {
    pub(crate) fn new(failure: Option<&'a Failure>, ask: Option<&'a Ask>, warnings: &'a [String]) -> Option<Self> {
        let failure = failure.map(FailureView::new);
        let schema = ask.and_then(|ask| ask.schema.as_deref());
        (failure.is_some() || schema.is_some() || !warnings.is_empty()).then_some(Self { failure, schema, warnings })
    }
}

#[derive(Debug, Serialize)]
struct FailureView<'a> {
    reason: Reason,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<&'a str>,
    retryable: bool,
}

impl<'a> FailureView<'a> {
    fn new(failure: &'a Failure) -> Self {
        Self { reason: failure.reason, code: failure.code.as_deref(), retryable: failure.retryable }
    }
}

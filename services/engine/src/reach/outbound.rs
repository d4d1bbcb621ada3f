//! Requests and responses between the contract's words and those of the way out.

use std::time::Duration;

use pleat_egress::{EgressError, OutboundRequest, OutboundResponse};
use pleat_runtime::{Header, HttpError, HttpRequest, HttpResponse};

pub(super) fn request(request: HttpRequest) -> OutboundRequest {
    OutboundRequest {
        method: request.method,
        url: request.url,
        headers: request.headers.into_iter().map(|header| (header.name, header.value)).collect(),
        body: request.body.map(Into::into),
        timeout: request.timeout_ms.map(|milliseconds| Duration::from_millis(milliseconds.into())),
        follow_redirects: request.follow_redirects,
        head_only: false,
    }
}

pub(super) fn response(response: OutboundResponse) -> HttpResponse {
    HttpResponse {
        status: response.status,
        url: response.url,
        headers: response.headers.into_iter().map(|(name, value)| Header { name, value }).collect(),
        body: response.body.into(),
    }
}

pub(super) fn refusal(error: EgressError) -> HttpError {
    match error {
        EgressError::NotGranted(host) => HttpError::NotGranted(host),
        EgressError::InvalidRequest(fault) => HttpError::InvalidRequest(fault),
        EgressError::DeniedAddress => HttpError::DeniedAddress,
        EgressError::Timeout => HttpError::Timeout,
        EgressError::TooLarge => HttpError::TooLarge,
        EgressError::Failed(cause) => HttpError::Failed(cause),
        EgressError::Busy => HttpError::Failed(EgressError::Busy.to_string()),
    }
}

//! Why a request was not sent or not answered, in words that may be shown to whoever wrote the function.

use std::error::Error;
use std::io;

/// No variant tells what is inside the operator's network: a refused address is refused before it is dialled.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum EgressError {
    #[error("the host `{0}` is not granted; deploy with `--grant host:{0}`")]
    NotGranted(String),
    #[error("{0}")]
    InvalidRequest(String),
    #[error("the address is not a public one; only the operator can allow it")]
    DeniedAddress,
    #[error("there was no complete answer in time")]
    Timeout,
    #[error("the answer is larger than allowed")]
    TooLarge,
    #[error("{0}")]
    Failed(String),
    #[error("too many requests of this tenant are under way; wait for some of them")]
    Busy,
}

/// The operator's settings cannot be used.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum BadConfig {
    #[error(transparent)]
    Host(#[from] crate::host::BadHost),
    #[error("an extra root is not a certificate in PEM form")]
    Root,
    #[error("TLS cannot be set up")]
    Tls(#[from] rustls::Error),
}

impl EgressError {
    /// What lies behind an error of the HTTP client: our own refusal, one of the limits, TLS, or a broken connection.
    pub(crate) fn behind(error: &(dyn Error + 'static)) -> Self {
        let mut next = Some(error);
        while let Some(cause) = next {
            if let Some(own) = known(cause) {
                return own;
            }
            next = cause.source();
        }
        Self::Failed("the connection ended before the answer was complete".to_owned())
    }
}

fn known(cause: &(dyn Error + 'static)) -> Option<EgressError> {
    if let Some(own) = cause.downcast_ref::<EgressError>() {
        return Some(own.clone());
    }
    if let Some(error) = cause.downcast_ref::<hyper::Error>() {
        let unreadable = || EgressError::Failed("the answer is not HTTP".to_owned());
        return match (error.is_parse_too_large(), error.is_parse()) {
            (true, _) => Some(EgressError::TooLarge),
            (false, true) => Some(unreadable()),
            (false, false) => None,
        };
    }
    if let Some(tls) = cause.downcast_ref::<rustls::Error>() {
        return Some(EgressError::Failed(format!("TLS failed: {tls}")));
    }
    // The cause inside of an `io::Error` is not its source, and there may be one in another.
    known(cause.downcast_ref::<io::Error>()?.get_ref()?)
}

//! Other skills of the same tenant, called as the same caller.

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::bindings::pleat::function::call::{self, CallError};
use crate::bindings::wasi::io::poll::Pollable;
use crate::{Context, Error, Pending};

/// A call that was started.
pub struct PendingCall {
    skill: String,
    handle: call::PendingCall,
}

impl Context {
    /// Calls a skill and waits for its result. Needs `skills` in the manifest, and the grant.
    pub fn call<T: DeserializeOwned>(&self, skill: &str, input: &(impl Serialize + ?Sized)) -> Result<T, Error> {
        Ok(serde_json::from_value(self.start_call(skill, input)?.wait()?)?)
    }

    /// Starts a call; several can be under way at once.
    pub fn start_call(&self, skill: &str, input: &(impl Serialize + ?Sized)) -> Result<PendingCall, Error> {
        let input = serde_json::to_string(input)?;
        let handle = call::start(skill, &input).map_err(|error| refusal(skill, error))?;
        Ok(PendingCall { skill: skill.to_owned(), handle })
    }
}

impl Pending for PendingCall {
    type Output = Result<Value, Error>;

    fn pollable(&self) -> Pollable {
        self.handle.subscribe()
    }

    fn take(&self) -> Option<Self::Output> {
        let result = self.handle.take()?;
        Some(result.map_err(|error| refusal(&self.skill, error)).and_then(|text| Ok(serde_json::from_str(&text)?)))
    }
}

fn refusal(skill: &str, error: CallError) -> Error {
    match error {
        CallError::Failed(error) => Error::reported(error),
        CallError::NotGranted => {
            Error::new("not_granted", format!("calling `{skill}` was not granted; deploy with --grant skill:{skill}"))
        }
        CallError::UnknownSkill => Error::new("unknown_skill", format!("there is no skill `{skill}`")),
        CallError::TooDeep => Error::new("too_deep", format!("`{skill}` is too many calls away from the first caller")),
        CallError::Unavailable => {
            Error::new("unavailable", format!("`{skill}` cannot be called now; try again shortly")).retryable()
        }
    }
}

//! From what the sandbox reports to how the task ends.

use pleat_domain::task::Ask;
use pleat_domain::{Artifact, ClientAsk, ClientKind, Door, Failure, Raw, Reason, TaskState};
use pleat_runtime::{Outcome, Stop};

use crate::catalog::Skill;
use crate::hub::Interrupt;
use crate::run::Run;
use crate::sink::Emitted;

/// How a turn of a task ends.
#[derive(Debug)]
pub(crate) struct Ending {
    pub(crate) state: TaskState,
    pub(crate) failure: Option<Failure>,
    pub(crate) ask: Option<Ask>,
    pub(crate) result: Option<Artifact>,
}

impl Ending {
    pub(crate) fn failed(failure: Failure) -> Self {
        Self { state: TaskState::Failed, failure: Some(failure), ask: None, result: None }
    }

    pub(crate) fn plain(state: TaskState) -> Self {
        Self { state, failure: None, ask: None, result: None }
    }

    fn asking(state: TaskState, ask: Ask) -> Self {
        Self { state, failure: None, ask: Some(ask), result: None }
    }

    /// A step has its own time, which may be less than its skill's.
    pub(crate) fn out_of_time(skill: &str) -> Self {
        Self::failed(Failure::new(Reason::WallLimit, format!("`{skill}` took longer than its step may")))
    }

    /// A step has nobody who could answer it.
    fn unheard(state: TaskState, ask: &Ask) -> Self {
        let text = format!("it asks, and nobody can answer: {}", ask.prompt);
        let code = Some(state.as_str().to_owned());
        Self::failed(Failure { code, ..Failure::new(Reason::FunctionError, text) })
    }

    /// `emitted`: what the caller has of the answer already.
    pub(crate) fn of(
        result: Result<Outcome, Stop>,
        interrupt: Option<Interrupt>,
        skill: &Skill,
        door: Door,
        emitted: Emitted,
    ) -> Self {
        match result {
            Ok(outcome) => Self::of_outcome(outcome, skill, door, emitted),
            Err(Stop::Failed(failure)) => Self::failed(failure),
            Err(Stop::Canceled) => Self::of_interrupt(interrupt, skill),
        }
    }

    fn of_outcome(outcome: Outcome, skill: &Skill, door: Door, emitted: Emitted) -> Self {
        let name = || format!("{}-result", skill.name);
        match outcome {
            Outcome::Value(value) | Outcome::Text(value) => {
                let silent = match emitted {
                    Emitted::Nothing => false,
                    Emitted::Some => value.get() == "null",
                    Emitted::All => true,
                };
                let result = (!silent).then(|| Artifact::of_value(name(), value));
                Self { result, ..Self::plain(TaskState::Completed) }
            }
            Outcome::Content { blocks, structured } => {
                let mut artifact = Artifact::of_blocks(name(), blocks);
                artifact.value = structured;
                Self { result: Some(artifact), ..Self::plain(TaskState::Completed) }
            }
            Outcome::NeedInput(ask) if door == Door::Pipeline => Self::unheard(TaskState::InputRequired, &ask),
            Outcome::NeedAuth(ask) if door == Door::Pipeline => Self::unheard(TaskState::AuthRequired, &ask),
            Outcome::NeedInput(ask) => Self::asking(TaskState::InputRequired, ask),
            Outcome::NeedAuth(ask) => Self::asking(TaskState::AuthRequired, ask),
            // Whether this very client can serve it is seen at the door.
            Outcome::NeedClient { ask, state } if door == Door::Mcp => {
                Self::asking(TaskState::InputRequired, client_ask(skill, ask, state))
            }
            Outcome::NeedClient { ask, .. } => {
                let kinds: Vec<&str> = ask.requests.iter().map(|request| request.kind.as_str()).collect();
                let text = format!("`{}` needs a caller that can serve `{}` requests", skill.name, kinds.join("`, `"));
                Self::failed(Failure::new(Reason::FunctionError, text))
            }
            Outcome::Reject(reason) => {
                let failure = Failure::new(Reason::FunctionError, reason);
                Self { failure: Some(failure), ..Self::plain(TaskState::Rejected) }
            }
        }
    }

    fn of_interrupt(interrupt: Option<Interrupt>, skill: &Skill) -> Self {
        match interrupt {
            Some(Interrupt::OutputOverflow) => {
                let text = format!("`{}` put out more than {} bytes", skill.name, skill.limits().output_bytes);
                Self::failed(Failure::new(Reason::OutputLimit, text))
            }
            Some(Interrupt::Shutdown | Interrupt::HandedBack | Interrupt::Fenced | Interrupt::NotRecorded) => {
                let text = "the node that ran this task was stopped; send it again";
                Self::failed(Failure::new(Reason::NodeLost, text))
            }
            Some(Interrupt::TimedOut) => Self::out_of_time(skill.name.as_str()),
            Some(Interrupt::Canceled) | None => Self::plain(TaskState::Canceled),
        }
    }
}

/// A request to the client in the words of a question, for whoever looks at the task. A lone question to the user has
/// words of its own.
fn client_ask(skill: &Skill, client: ClientAsk, state: Option<Raw>) -> Ask {
    let lone = match client.requests.as_slice() {
        [one] if one.kind == ClientKind::Elicit => serde_json::from_str(one.params.get()).ok(),
        _ => None,
    };
    let question = |value: serde_json::Value| value.get("message").and_then(|text| text.as_str()).map(str::to_owned);
    let prompt = lone.and_then(question).unwrap_or_else(|| format!("`{}` waits for its caller's client", skill.name));
    Ask { state, client: Some(client), ..Ask::new(prompt) }
}

impl Run {
    /// A declared output schema is a promise to callers: what breaks it does not leave.
    pub(crate) async fn kept(&mut self, result: Result<Outcome, Stop>) -> Result<Outcome, Stop> {
        let value = match &result {
            Ok(Outcome::Value(value) | Outcome::Text(value)) => Some(value),
            Ok(Outcome::Content { structured, .. }) => structured.as_ref(),
            _ => None,
        };
        let Some(value) = value else { return result };
        let violations = match self.engine.violations(self.tenant.id, &self.skill.output, value).await {
            Ok(violations) => violations,
            Err(error) => return Err(Stop::Failed(Failure::new(Reason::Busy, error.to_string()))),
        };
        let Some(first) = violations.first() else { return result };
        let text = format!("`{}` returned what its own `output` schema does not allow", self.skill.name);
        let place = if first.pointer.is_empty() { "the result" } else { first.pointer.as_str() };
        let failure = Failure::new(Reason::BadOutput, text).with_detail(format!("at {place}: {}", first.message));
        Err(Stop::Failed(failure))
    }
}

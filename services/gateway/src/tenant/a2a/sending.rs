//! What a message asks for, in the engine's words: a new task, the next turn of one, or the question which skill is meant.

use std::sync::Arc;

use http::HeaderMap;
use pleat_a2a::value::{NoInput, input_from_message};
use pleat_a2a::{Input, InvalidParams, media, skill};
use pleat_domain::push::NewPush;
use pleat_domain::{Block, ContextId, Door, Message, Principal, Raw, Role, Task, TaskId, Tenant};
use pleat_engine::{EngineError, IdempotencyKey, Invocation, Question, Turn};

use crate::app::App;
use crate::extract::{self, Visitor};
use crate::problem::Problem;

/// A message of any family, read.
pub(super) struct Sending {
    pub(super) skill: Option<String>,
    pub(super) input: Input,
    pub(super) task: Option<Named>,
    pub(super) context: Option<ContextId>,
    pub(super) push: Option<NewPush>,
    pub(super) door: Door,
}

/// The id of a task in a message.
pub(super) enum Named {
    /// 0.1: the client's own. It continues the task of that name, or begins one.
    Chosen(String),
    /// That of a task that exists.
    Existing(String),
}

pub(super) enum Sent {
    New(Box<Invocation>),
    Later(Box<Turn>),
    Unclear(Box<Question>),
}

pub(super) async fn translate(
    app: &App,
    visitor: Visitor,
    headers: &HeaderMap,
    sending: Box<Sending>,
) -> Result<Sent, Problem> {
    if let Input::Message { message, .. } = &sending.input
        && let Some(kind) = media::unknown(message)
    {
        return Err(Problem::unknown_media_type(kind));
    }
    let Visitor { site, principal } = visitor;
    let task = match &sending.task {
        Some(_) => Box::pin(continued(app, &site.tenant, &principal, &sending)).await?,
        None => None,
    };
    match task {
        Some(task) => Box::pin(later(app, site.tenant, principal, task, headers, sending)).await,
        None => begin(app, site.tenant, principal, headers, sending).await,
    }
}

/// The task that the message continues, if it continues one.
async fn continued(
    app: &App,
    tenant: &Tenant,
    principal: &Principal,
    sending: &Sending,
) -> Result<Option<Task>, Problem> {
    match &sending.task {
        None => Ok(None),
        Some(Named::Chosen(id)) => match app.engine.task_by_alias(tenant, principal, id).await? {
            None if id.parse::<TaskId>().is_ok() => Err(EngineError::TaskNotFound.into()),
            task => Ok(task),
        },
        Some(Named::Existing(id)) => {
            let task = app.engine.task(tenant, principal, id).await?;
            if sending.context.as_ref().is_some_and(|context| *context != task.context) {
                let text = "`contextId` is not that of the task; leave it out, or send the task's";
                return Err(InvalidParams::new(text, "/message/contextId").into());
            }
            Ok(Some(task))
        }
    }
}

async fn begin(
    app: &App,
    tenant: Arc<Tenant>,
    principal: Principal,
    headers: &HeaderMap,
    sending: Box<Sending>,
) -> Result<Sent, Problem> {
    let Sending { skill, input, task, context, push, door } = *sending;
    let id = match task {
        Some(Named::Chosen(id)) => Some(id),
        _ => None,
    };
    // An id that the client chose makes the send happen once by itself: sent again, it continues the task.
    let once = if id.is_some() { None } else { once(headers, &input)? };
    // Whoever has no key reaches a task by an id that nobody can guess, which is ours.
    let alias = id.filter(|_| principal != Principal::Anonymous);
    let catalog = app.engine.catalog(&tenant).await?;
    let skill = match (catalog.choose(&principal, skill.as_deref()), input) {
        (Err(EngineError::SkillNeeded(_)), Input::Message { message, .. }) if catalog.choices(&principal).len() > 1 => {
            return Ok(Sent::Unclear(Box::new(Question {
                tenant,
                principal,
                message,
                context,
                alias,
                once,
                push,
                door,
            })));
        }
        (chosen, input) => (chosen?, input),
    };
    let (skill, input) = skill;
    let (input, message) = input.into_call(skill.skill().manifest.input.as_ref()).map_err(|fault| no_input(&fault))?;
    Ok(Sent::New(Box::new(Invocation { tenant, principal, skill, input, message, context, alias, once, push, door })))
}

async fn later(
    app: &App,
    tenant: Arc<Tenant>,
    principal: Principal,
    task: Task,
    headers: &HeaderMap,
    sending: Box<Sending>,
) -> Result<Sent, Problem> {
    let once = once(headers, &sending.input)?;
    if task.skill.is_none() && task.state.is_interrupted() {
        return chosen(app, tenant, principal, task, once, sending).await;
    }
    let schema =
        task.ask.as_ref().and_then(|ask| ask.schema.as_ref()).and_then(|raw| serde_json::from_str(raw.get()).ok());
    let (input, message) = sending.input.into_answer(schema.as_ref()).map_err(|fault| no_input(&fault))?;
    let message = message.unwrap_or_else(|| plain_message(&task, &input));
    Ok(Sent::Later(Box::new(Turn {
        tenant,
        principal,
        task,
        skill: None,
        input,
        message,
        reply: None,
        once,
        push: sending.push,
    })))
}

/// The answer to the question which skill is meant. What was asked first is the input, unless the answer brings one.
async fn chosen(
    app: &App,
    tenant: Arc<Tenant>,
    principal: Principal,
    task: Task,
    once: Option<IdempotencyKey>,
    sending: Box<Sending>,
) -> Result<Sent, Problem> {
    let catalog = app.engine.catalog(&tenant).await?;
    let name = skill::answered(sending.skill.as_deref(), &sending.input);
    let choices = || catalog.choices(&principal).iter().map(|skill| skill.name.to_string()).collect();
    let name = name.ok_or_else(|| EngineError::SkillNeeded(choices()))?;
    let skill = catalog.choose(&principal, Some(&name))?;
    let (brought, message) = match sending.input {
        Input::Value(value) => (None, plain_message(&task, &value)),
        Input::Message { message, named, .. } => (named.filter(|value| value.get() != "{}"), message),
    };
    let schema = skill.skill().manifest.input.as_ref();
    let asked = task.history.iter().find(|message| message.role == Role::User);
    let input = match (brought, asked) {
        (Some(input), _) => input,
        (None, Some(asked)) => input_from_message(asked, schema).map_err(|fault| no_input(&fault))?,
        (None, None) => task.input.clone(),
    };
    Ok(Sent::Later(Box::new(Turn {
        tenant,
        principal,
        task,
        skill: Some(skill),
        input,
        message,
        reply: None,
        once,
        push: sending.push,
    })))
}

fn once(headers: &HeaderMap, input: &Input) -> Result<Option<IdempotencyKey>, Problem> {
    let message = match input {
        Input::Message { message, .. } => Some(message),
        Input::Value(_) => None,
    };
    extract::once(headers, message)
}

fn no_input(fault: &NoInput) -> Problem {
    Problem::invalid(fault.to_string())
}

fn plain_message(task: &Task, input: &Raw) -> Message {
    Message::user(format!("{}-{}", task.id, task.history.len() + 1), vec![Block::of_input(input)])
}

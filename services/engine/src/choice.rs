//! Which skill is meant: a message that names none, where its caller may call several, becomes a task that asks.
//!
//! Such a task waits like any other that asks. It belongs to no skill, has had no turn of a function, and the answer that
//! names the skill is its first.

use std::sync::Arc;

use pleat_domain::task::Ask;
use pleat_domain::{Block, ContextId, Door, Message, NewPush, Principal, Task, TaskId, TaskState, Tenant, json};
use pleat_policy::Action;
use pleat_store::{Change, Commit};
use serde_json::json;
use time::OffsetDateTime;

use crate::catalog::Skill;
use crate::engine::{Engine, authorize};
use crate::error::EngineError;
use crate::findings::Circumstances;
use crate::hub::lock;
use crate::once::{IdempotencyKey, Repeat};

/// What is shown of a skill's description.
const DESCRIPTION: usize = 200;

/// A message that names no skill.
#[derive(Debug)]
pub struct Question {
    pub tenant: Arc<Tenant>,
    pub principal: Principal,
    pub message: Message,
    pub context: Option<ContextId>,
    /// The id that a client chose for the task.
    pub alias: Option<String>,
    /// Sending again under the same key is sending once. An alias does that by itself.
    pub once: Option<IdempotencyKey>,
    /// Who is told of the task.
    pub push: Option<NewPush>,
    pub door: Door,
}

impl Engine {
    /// Records the task that asks. Where there is nothing to choose from, nothing is asked.
    pub async fn ask_for_skill(&self, question: Question) -> Result<Arc<Task>, EngineError> {
        self.open_for_work()?;
        let repeat = Repeat::of_question(&question);
        let Question { tenant, principal, mut message, context, alias, push, door, .. } = question;
        authorize(&principal, Action::UseDoor, EngineError::TaskNotFound)?;
        if let Some(earlier) = self.turn_before(tenant.id, repeat.as_ref()).await? {
            return self.settled(tenant.id, earlier.task).await;
        }
        self.may_store(&tenant, &principal)?;
        let catalog = self.catalog(&tenant).await?;
        let choices = catalog.choices(&principal);
        if choices.is_empty() {
            return Err(EngineError::SkillNeeded(Vec::new()));
        }
        let of = Circumstances { tenant: &tenant, task: None, skill: "", caller: &principal.caller(), door };
        let watch = self.watch(&tenant, catalog.policies.usual(), None);
        let watch = self.look_at_input(watch, &of, |watch| watch.message(&mut message))?;
        let mut task = asking(&principal, ask(&choices), message, Place { context, alias, door });
        let id = task.id;
        if let Some(watch) = watch {
            task.guard = lock(&watch).notes();
            self.inner.findings.add(&Circumstances { task: Some(id), ..of }, lock(&watch).take_noted());
        }
        let push = match push {
            Some(push) => Some(self.push_entry(&tenant, &principal, id, &push, 0).await?),
            None => None,
        };
        let (task, told) = (Arc::new(task), push.is_some());
        let commit = Commit {
            tenant: tenant.id,
            task: Arc::clone(&task),
            change: Change::Insert,
            held: None,
            events: Vec::new(),
            logs: Vec::new(),
            log_seq: 0,
            once: repeat.as_ref().map(|repeat| repeat.once.clone()),
            push,
        };
        match self.inner.store.writer().commit(commit).await.map_err(EngineError::from) {
            Err(EngineError::Repeated) => {
                return self.settled(tenant.id, self.first_send(tenant.id, repeat).await?.task).await;
            }
            written => written?,
        };
        if told {
            self.inner.pushes.look();
        }
        self.inner.measures.change(task.state);
        Ok(task)
    }
}

/// Where the message came from and where it belongs.
struct Place {
    context: Option<ContextId>,
    alias: Option<String>,
    door: Door,
}

/// A task of no skill yet, which waits for one.
fn asking(principal: &Principal, ask: Ask, message: Message, place: Place) -> Task {
    let (id, now) = (TaskId::new(), OffsetDateTime::now_utc());
    let asked = Message::agent(format!("{id}-2"), vec![Block::text(ask.prompt.clone())]);
    Task {
        id,
        skill: None,
        version: 0,
        context: place.context.unwrap_or_else(|| ContextId::of_task(id)),
        parent: None,
        step: None,
        run: None,
        caller: principal.caller(),
        door: place.door,
        alias: place.alias,
        state: TaskState::InputRequired,
        failure: None,
        ask: Some(ask),
        input: json::raw(&()),
        history: vec![message, asked],
        artifacts: Vec::new(),
        guard: None,
        attempt: 1,
        turn: 0,
        last_seq: 0,
        cpu_us: 0,
        wall_us: 0,
        created_at: now,
        updated_at: now,
    }
}

fn ask(choices: &[Arc<Skill>]) -> Ask {
    let names: Vec<&str> = choices.iter().map(|skill| skill.name.as_str()).collect();
    let lines = choices.iter().map(|skill| match skill.manifest.description.lines().next().unwrap_or_default() {
        "" => format!("- {}", skill.name),
        description => format!("- {}: {}", skill.name, description.chars().take(DESCRIPTION).collect::<String>()),
    });
    let lines: Vec<String> = lines.collect();
    let schema = json!({
        "type": "object",
        "properties": { "skill": { "type": "string", "enum": names }, "input": {} },
        "required": ["skill"],
    });
    let prompt = format!("Which skill is this for? Answer with its name.\n{}", lines.join("\n"));
    Ask { prompt, schema: Some(json::raw(&schema)), state: None, client: None }
}

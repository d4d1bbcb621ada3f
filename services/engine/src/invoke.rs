//! The one operation behind every door: an invocation becomes a task and its events.

use std::sync::Arc;

use pleat_domain::{Block, ContextId, Door, Message, NewPush, Principal, Raw, Task, TaskId, TaskState, Tenant};
use pleat_guardrails::SharedNumbering;
use pleat_policy::Action;
use pleat_store::Sent;
use time::OffsetDateTime;
use tokio::sync::oneshot;
use tracing::{Instrument, Span};

use crate::admission::Permit;
use crate::catalog::{Callable, Skill};
use crate::engine::{Engine, authorize};
use crate::error::{EngineError, Violation};
use crate::findings::Circumstances;
use crate::hooks::VerbEvent;
use crate::lasting::Lasting;
use crate::once::{IdempotencyKey, Repeat};
use crate::pipeline::Pins;
use crate::reach::Standing;
use crate::run::{Admitted, Recorded, Run};
use crate::schema::{Later, Quick};
use crate::sink::Sink;
use crate::subscribe::EventStream;

/// A call that a door has translated and whose skill the policy allows. Boxed wherever it goes: it is large, and every
/// future on its way would have room for it.
#[derive(Debug)]
pub struct Invocation {
    pub tenant: Arc<Tenant>,
    pub principal: Principal,
    pub skill: Callable,
    pub input: Raw,
    /// The message it came in, where the door has messages.
    pub message: Option<Message>,
    pub context: Option<ContextId>,
    /// The id that a client chose for the task.
    pub alias: Option<String>,
    /// Sending again under the same key is sending once. An alias does that by itself.
    pub once: Option<IdempotencyKey>,
    /// Who is told of the task, from its first event on.
    pub push: Option<NewPush>,
    pub door: Door,
}

/// The task that makes a call, where a function or a pipeline makes it.
pub(crate) struct Origin {
    pub(crate) parent: TaskId,
    /// How many calls the new task is away from the door.
    pub(crate) depth: u32,
    /// Which attempt at which step it is, or is called by.
    pub(crate) label: Option<String>,
    pub(crate) step: Option<StepOrigin>,
}

/// The step of a run that a call is.
pub(crate) struct StepOrigin {
    /// Of the task that it will be, also if it is refused: what is found in its input is found under this id.
    pub(crate) id: TaskId,
    /// The versions that the run is bound to; an inner run is bound to them too.
    pub(crate) pins: Arc<Pins>,
    /// What guardrails number, in all that belongs to the run.
    pub(crate) numbers: SharedNumbering,
    /// Where its stream goes on, if that is the run's.
    pub(crate) onward: Option<Arc<Sink>>,
}

/// A later message to a task that waits for one.
#[derive(Debug)]
pub struct Turn {
    pub tenant: Arc<Tenant>,
    pub principal: Principal,
    pub task: Task,
    /// The one that the message names, for a task that asked which.
    pub skill: Option<Callable>,
    pub input: Raw,
    pub message: Message,
    /// What the caller's client answered.
    pub reply: Option<Raw>,
    /// Sending again under the same key is sending once.
    pub once: Option<IdempotencyKey>,
    /// Who is told of this turn and of those after it.
    pub push: Option<NewPush>,
}

/// A turn that goes on, or is over: begun now, or by an equal message before.
pub struct Begun {
    /// As it is recorded.
    pub task: Arc<Task>,
    /// The last event of the turn before.
    pub after: u32,
    /// Those of this turn.
    pub events: EventStream,
}

/// What became of a later message.
enum Resumed {
    Now {
        recorded: Recorded,
        /// The last event of the turn before.
        after: u32,
    },
    /// It was sent before.
    Before(Sent),
}

impl Engine {
    /// Runs to the end of the turn. The task goes on if the caller goes away.
    pub async fn send(&self, invocation: Box<Invocation>) -> Result<Arc<Task>, EngineError> {
        if invocation.once.is_some()
            && let Some(earlier) = Box::pin(self.sent_before(&invocation)).await?
        {
            return Box::pin(self.settled(invocation.tenant.id, earlier.task)).await;
        }
        let early = invocation.alias.is_some() || invocation.once.is_some() || invocation.push.is_some();
        let (tenant, once) = (invocation.tenant.id, Repeat::of(&invocation));
        let run = self.admit(invocation, None).await?;
        let told = run.push.is_some();
        if !early {
            let span = run.span();
            return self.spawn_for(|done| run.blocking(done).instrument(span)).await;
        }
        let recorded = async {
            match self.spawn(run.span(), Run::start(run)).await {
                Err(EngineError::Repeated) => self.settled(tenant, self.first_send(tenant, once).await?.task).await,
                recorded => self.telling(told, recorded?).finished(self).await,
            }
        };
        Box::pin(recorded).await
    }

    /// Starts, records, and hands back the recorded task with its events from the first.
    pub async fn start(&self, invocation: Box<Invocation>) -> Result<(Arc<Task>, EventStream), EngineError> {
        if let Some(earlier) = self.sent_before(&invocation).await? {
            let Begun { task, events, .. } = self.rejoin(invocation.tenant.id, earlier).await?;
            return Ok((task, events));
        }
        let (tenant, once) = (invocation.tenant.id, Repeat::of(&invocation));
        let run = self.admit(invocation, None).await?;
        let told = run.push.is_some();
        match self.spawn(run.span(), Run::start(run)).await {
            Err(EngineError::Repeated) => {
                let Begun { task, events, .. } = self.rejoin(tenant, self.first_send(tenant, once).await?).await?;
                Ok((task, events))
            }
            recorded => Ok(self.telling(told, recorded?).into_stream(self, 0)),
        }
    }

    /// Continues a waiting task and runs to the end of the turn.
    pub async fn send_turn(&self, turn: Turn) -> Result<Arc<Task>, EngineError> {
        let tenant = turn.tenant.id;
        match self.resume(turn).await? {
            Resumed::Now { recorded, .. } => recorded.finished(self).await,
            Resumed::Before(sent) => self.settled(tenant, sent.task).await,
        }
    }

    /// Continues a waiting task and streams what follows.
    pub async fn start_turn(&self, turn: Turn) -> Result<Begun, EngineError> {
        let tenant = turn.tenant.id;
        match self.resume(turn).await? {
            Resumed::Now { recorded, after } => {
                let (task, events) = recorded.into_stream(self, after);
                Ok(Begun { task, after, events })
            }
            Resumed::Before(sent) => self.rejoin(tenant, sent).await,
        }
    }

    async fn resume(&self, turn: Turn) -> Result<Resumed, EngineError> {
        let (tenant, id, repeat) = (turn.tenant.id, turn.task.id, Repeat::of_turn(&turn));
        if let Some(earlier) = self.turn_before(tenant, repeat.as_ref()).await? {
            return Ok(Resumed::Before(earlier));
        }
        let resumed = async {
            let run = self.readmit(turn).await?;
            let after = run.task().last_seq;
            let recorded = self.spawn(run.span(), Run::resume(run)).await?;
            Ok::<_, EngineError>(Resumed::Now { recorded, after })
        };
        match resumed.await {
            // Somebody was first, and it may have been this very message.
            Err(EngineError::NotContinuable(state)) => match self.turn_before(tenant, repeat.as_ref()).await? {
                Some(earlier) => Ok(Resumed::Before(earlier)),
                None => Err(EngineError::NotContinuable(state)),
            },
            Err(error) => Err(error),
            Ok(resumed) => {
                self.wake_pushes(tenant, id).await;
                Ok(resumed)
            }
        }
    }

    /// A task that is recorded with a receiver has somebody to tell.
    fn telling(&self, told: bool, recorded: Recorded) -> Recorded {
        if told {
            self.inner.pushes.look();
        }
        recorded
    }

    /// Everything that can refuse a call before it costs anything.
    pub(crate) async fn admit(
        &self,
        mut invocation: Box<Invocation>,
        origin: Option<Origin>,
    ) -> Result<Box<Run>, EngineError> {
        self.open_for_work()?;
        let once = Repeat::of(&invocation);
        let unchecked = check_input(&invocation.skill.0, &invocation.input)?;
        let watch = self.look_at_call(&mut invocation, origin.as_ref().and_then(|origin| origin.step.as_ref()))?;
        let Invocation {
            tenant, principal, skill: Callable(skill), input, message, context, alias, door, push, ..
        } = *invocation;
        let push = match push {
            Some(push) => Some((Box::pin(self.push_destination(&principal, &push)).await?, push)),
            None => None,
        };
        let depth = origin.as_ref().map_or(0, |origin| origin.depth);
        let (origin, label, step) = match origin {
            Some(Origin { parent, label, step, .. }) => (Some(parent), label, step),
            None => (None, None, None),
        };
        let record = self.run_record(&tenant, &skill, step.as_ref()).await?;
        let permit = self.enter_checked(&tenant, &principal, &skill, &input, unchecked).await?;
        // Not before: what waited for its turn begins now.
        let (id, now) = (step.as_ref().map_or_else(TaskId::new, |step| step.id), OffsetDateTime::now_utc());
        let push = push
            .map(|(destination, push)| self.sealed_push(&tenant, &principal, id, &push, destination, 0))
            .transpose()?;
        let task = Task {
            id,
            skill: Some(skill.name.clone()),
            version: skill.version,
            context: context.unwrap_or_else(|| ContextId::of_task(id)),
            parent: origin,
            step: label,
            run: record.map(Box::new),
            caller: principal.caller(),
            door,
            alias,
            state: TaskState::Working,
            failure: None,
            ask: None,
            input,
            history: message.into_iter().collect(),
            artifacts: Vec::new(),
            guard: None,
            attempt: 1,
            turn: 1,
            last_seq: 0,
            cpu_us: 0,
            wall_us: 0,
            created_at: now,
            updated_at: now,
        };
        let admitted = Admitted { permit, standing: Standing { principal, depth }, watch };
        let mut run = Run::new(self.clone(), tenant, skill, admitted, task, None, Vec::new());
        run.once = once.map(|repeat| repeat.once);
        run.push = push;
        if let Some(step) = step {
            run.belong_to(step);
        }
        self.keep_findings(run.watch.as_ref(), &run.circumstances());
        self.ask_hooks(&run.verb())?;
        Ok(run)
    }

    /// The same for a later turn: on the version the task began with.
    pub(crate) async fn readmit(&self, turn: Turn) -> Result<Box<Run>, EngineError> {
        self.open_for_work()?;
        let once = Repeat::of_turn(&turn);
        let Turn { tenant, principal, mut task, skill: named, mut input, mut message, mut reply, push, .. } = turn;
        authorize(&principal, Action::ContinueTask(&task.caller), EngineError::TaskNotFound)?;
        if !task.state.is_interrupted() {
            return Err(EngineError::NotContinuable(task.state.as_str()));
        }
        let mut unchecked = None;
        let skill = match (&task.skill, named) {
            (Some(name), _) => self.skill_version(&tenant, name, task.version).await?,
            (None, Some(Callable(skill))) => {
                unchecked = check_input(&skill, &input)?;
                skill
            }
            (None, None) => return Err(EngineError::SkillNeeded(Vec::new())),
        };
        let of = Circumstances {
            tenant: &tenant,
            task: Some(task.id),
            skill: skill.name.as_str(),
            caller: &task.caller,
            door: task.door,
        };
        let watch = self.look_at_input(self.watch(&tenant, &skill.guard, task.guard.as_ref()), &of, |watch| {
            // What came before a skill was known has been looked at by the tenant's default only.
            let earlier = if task.skill.is_none() { task.history.as_mut_slice() } else { &mut [] };
            earlier.iter_mut().try_for_each(|message| watch.message(message))?;
            watch.input(&mut input, Some(&mut message))?;
            reply.as_mut().map_or(Ok(()), |reply| watch.reply(reply))
        })?;
        if let Some(push) = push {
            self.set_push_of_turn(&tenant, &principal, &task, &push).await?;
        }
        let permit = self.enter_checked(&tenant, &principal, &skill, &input, unchecked).await?;
        // A quick first turn stored no event rows; what follows needs them to count on.
        let backlog = if task.last_seq == 0 { task.derived_events() } else { Vec::new() };
        let kept = task.ask.take().and_then(|ask| ask.state);
        if task.history.is_empty() {
            task.history.push(first_message(task.id, &task.input));
        }
        task.history.push(message);
        task.skill = Some(skill.name.clone());
        task.version = skill.version;
        task.input = input;
        task.state = TaskState::Working;
        task.turn = task.turn.saturating_add(1);
        task.updated_at = OffsetDateTime::now_utc();
        let standing = Standing { principal, depth: 0 };
        let admitted = Admitted { permit, standing, watch };
        let mut run = Run::new(self.clone(), tenant, skill, admitted, task, kept, backlog);
        run.reply = reply;
        run.once = once.map(|repeat| repeat.once);
        self.keep_findings(run.watch.as_ref(), &run.circumstances());
        self.ask_hooks(&run.verb())?;
        Ok(run)
    }

    /// Lets a call in and makes the rest of the check of its input.
    async fn enter_checked(
        &self,
        tenant: &Arc<Tenant>,
        principal: &Principal,
        skill: &Skill,
        input: &Raw,
        unchecked: Option<Later>,
    ) -> Result<Permit, EngineError> {
        let permit = self.enter(tenant, principal, skill, input).await?;
        if let Some(later) = unchecked {
            refuse(Box::pin(self.check_later(tenant.id, later)).await?)?;
        }
        Ok(permit)
    }

    pub(crate) fn ask_hooks(&self, event: &VerbEvent<'_>) -> Result<(), EngineError> {
        self.inner.hooks.before(event).map_err(|denied| EngineError::Blocked(denied.0))
    }

    /// Runs apart from the caller, whose leaving must not stop it, and waits for its first answer.
    pub(crate) async fn spawn(
        &self,
        span: Span,
        work: impl Future<Output = Result<(Recorded, crate::run::Rest), EngineError>> + Send + 'static,
    ) -> Result<Recorded, EngineError> {
        self.spawn_for(|done| {
            let all = async move {
                match work.await {
                    Ok((recorded, rest)) => {
                        let _ = done.send(Ok(recorded));
                        rest.await;
                    }
                    Err(error) => drop(done.send(Err(error))),
                }
            };
            all.instrument(span)
        })
        .await
    }

    pub(crate) fn spawn_for<T, W>(&self, work: impl FnOnce(oneshot::Sender<Result<T, EngineError>>) -> W) -> Lasting<T>
    where
        W: Future<Output = ()> + Send + 'static,
    {
        let (done, answer) = oneshot::channel();
        Lasting::new(Box::pin(self.inner.tracker.track_future(work(done))), answer)
    }
}

impl Run {
    /// For traces: under the request that it came with.
    pub(crate) fn span(&self) -> Span {
        tracing::info_span!(
            target: "pleat_trace",
            "invocation",
            tenant.id = self.tenant.slug.as_str(),
            skill.id = self.skill.name.as_str(),
            task.id = %self.task().id,
            door = self.task().door.as_str(),
        )
    }

    /// What the hook bus is told of this call.
    pub(crate) fn verb(&self) -> VerbEvent<'_> {
        VerbEvent::of(&self.tenant, &self.skill.name, self.task())
    }
}

/// Checks an input as far as a moment is enough for; the rest is for callers that quotas have let in.
fn check_input(skill: &Skill, input: &Raw) -> Result<Option<Later>, EngineError> {
    match skill.input.quick(input) {
        Quick::Decided(violations) => refuse(violations).map(|()| None),
        Quick::Later(later) => Ok(Some(later)),
    }
}

fn refuse(violations: Vec<Violation>) -> Result<(), EngineError> {
    if violations.is_empty() { Ok(()) } else { Err(EngineError::InvalidInput(violations)) }
}

/// The message that a call without one amounts to.
pub(crate) fn first_message(task: TaskId, input: &Raw) -> Message {
    Message::user(format!("{task}-1"), vec![Block::of_input(input)])
}

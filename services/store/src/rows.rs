//! Rows of tasks and events, and what they mean.

use pleat_domain::task::{Ask, GuardNotes};
use pleat_domain::{
    Artifact, Caller, ContextId, Door, Event, EventBody, Failure, Message, Raw, RunRecord, SkillName, Task, TaskId,
    TaskState,
};
use serde::Deserialize;
use sqlx::error::BoxDynError;
use sqlx::postgres::{PgTypeInfo, PgValueRef};
use sqlx::types::Json;
use sqlx::{Decode, FromRow, Postgres, Type};
use time::OffsetDateTime;
use uuid::Uuid;

use crate::error::StoreError;

/// Named one by one: a column that a later migration adds must not disturb a running node.
pub(crate) const TASK_COLUMNS: &str = "id, skill, version, context_id, parent_id, caller, door, alias, state, failure, ask, input, \
     history, artifacts, attempt, turn, last_seq, cpu_us, wall_us, created_at, updated_at, step, run, guard";

#[derive(FromRow)]
pub(crate) struct TaskRow {
    id: Uuid,
    skill: Option<String>,
    version: i32,
    context_id: Option<String>,
    parent_id: Option<Uuid>,
    caller: String,
    door: String,
    alias: Option<String>,
    state: i16,
    failure: Option<Json<Failure>>,
    ask: Option<Json<Ask>>,
    input: Text<Raw>,
    history: Option<Text<Vec<Message>>>,
    artifacts: Option<Text<Vec<Artifact>>>,
    attempt: i16,
    turn: i16,
    last_seq: i32,
    cpu_us: i64,
    wall_us: i64,
    created_at: OffsetDateTime,
    updated_at: OffsetDateTime,
    step: Option<String>,
    run: Option<Json<Box<RunRecord>>>,
    guard: Option<Json<GuardNotes>>,
}

impl TaskRow {
    /// What the function kept when it last asked: the row has it until the turn that followed is over.
    pub(crate) fn kept(&self) -> Option<Raw> {
        self.ask.as_ref().and_then(|ask| ask.0.state.clone())
    }

    pub(crate) fn task(self) -> Result<Task, StoreError> {
        let corrupt = |what| StoreError::Corrupt { what };
        let id = TaskId::from_uuid(self.id);
        let state = TaskState::from_code(self.state).ok_or_else(|| corrupt("task state"))?;
        let context = match self.context_id {
            Some(text) => ContextId::try_from(text).map_err(|_| corrupt("context id"))?,
            None => ContextId::of_task(id),
        };
        Ok(Task {
            id,
            skill: self.skill.as_deref().map(SkillName::parse_skill).transpose().map_err(|_| corrupt("skill name"))?,
            version: self.version,
            context,
            parent: self.parent_id.map(TaskId::from_uuid),
            step: self.step,
            run: self.run.map(|run| run.0),
            guard: self.guard.map(|guard| guard.0),
            caller: Caller::from_stored(self.caller),
            door: Door::from_stored(&self.door).ok_or_else(|| corrupt("door"))?,
            alias: self.alias,
            state,
            failure: self.failure.map(|failure| failure.0),
            // Nothing is asked of anybody while it runs.
            ask: self.ask.map(|ask| ask.0).filter(|_| state.is_interrupted()),
            input: self.input.0,
            history: self.history.map(|history| history.0).unwrap_or_default(),
            artifacts: self.artifacts.map(|artifacts| artifacts.0).unwrap_or_default(),
            attempt: self.attempt,
            turn: self.turn,
            last_seq: self.last_seq.unsigned_abs(),
            cpu_us: self.cpu_us,
            wall_us: self.wall_us,
            created_at: self.created_at,
            updated_at: self.updated_at,
        })
    }
}

#[derive(FromRow)]
pub(crate) struct EventRow {
    seq: i32,
    at: OffsetDateTime,
    body: Json<EventBody>,
}

impl EventRow {
    pub(crate) fn event(self) -> Event {
        Event { seq: self.seq.unsigned_abs(), at: self.at, body: self.body.0 }
    }
}

/// JSON that is kept as text: the database need not check again what the platform wrote.
struct Text<T>(T);

impl<T> Type<Postgres> for Text<T> {
    fn type_info() -> PgTypeInfo {
        <str as Type<Postgres>>::type_info()
    }

    fn compatible(stored: &PgTypeInfo) -> bool {
        <str as Type<Postgres>>::compatible(stored)
    }
}

impl<'r, T: Deserialize<'r>> Decode<'r, Postgres> for Text<T> {
    fn decode(value: PgValueRef<'r>) -> Result<Self, BoxDynError> {
        Ok(Self(serde_json::from_str(<&str as Decode<Postgres>>::decode(value)?)?))
    }
}

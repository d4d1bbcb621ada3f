//! Telling receivers: this node follows the events of tasks for those that it looks after, and sends each event, in
//! order, until the receiver has it or was tried too often.
//!
//! How far each receiver is stands in the database after every attempt. A node that ends in between leaves it to
//! another, which may send one event again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::{Duration, Instant};

use futures::StreamExt;
use pleat_domain::push::Receiver;
use pleat_domain::{Caller, Dialect, Event, EventBody, Raw, Task, TaskId, Tenant, TenantId, TenantSlug};
use pleat_egress::{BadConfig, Egress, EgressConfig, EgressError, HostGrants};
use pleat_policy::Action;
use pleat_store::{HeldPush, PushAttempt, PushBecame};
use tokio::sync::Notify;
use tokio::time::MissedTickBehavior;

use super::answer::Heard;
use super::destinations::{Admission, Destinations};
use super::letter::{Letter, Notice, message_id};
use crate::engine::{Engine, Inner, authorize};
use crate::error::EngineError;
use crate::hub::lock;
use crate::keyring::{MasterKey, Signer};
use crate::subscribe::Until;

/// How often every node looks for receivers that nobody looks after.
const LOOK: Duration = Duration::from_secs(1);
/// How often the receivers of a task that waits for its caller are looked at, should nobody have woken them.
const IDLE: Duration = Duration::from_secs(30);
/// How long a notification may wait for its destination before its place is given to another.
const PATIENCE: Duration = Duration::from_secs(30);
/// Why a configuration ends without an attempt.
const NOT_ALLOWED: &str = "the key or token that set it is revoked, expired or may not use the tenant any more";
const UNVERIFIED: &str = "the destination has not accepted any notification within an hour of attempts";
/// Receivers that one node follows tasks for, those of one tenant among them, and how many it takes at once.
const FOLLOWED: usize = 4_000;
const SHARE: usize = 1_000;
const PORTION: usize = 100;
/// Bytes that a shortened notification may take beyond the cap.
const CAP_SLACK: usize = 64 << 10;

/// An event that is to be written for a receiver.
pub struct ToTell<'a> {
    pub dialect: Dialect,
    pub tenant: &'a TenantSlug,
    /// As of the event.
    pub task: &'a Task,
    pub event: &'a Event,
    /// What is larger goes without its large parts, and says where they are.
    pub most_bytes: usize,
}

/// Writes an event for a receiver; `None`: there is nothing in it that a caller may see.
pub type Encode = Box<dyn Fn(&ToTell<'_>) -> Option<Notice> + Send + Sync>;

/// How patiently receivers are told.
#[derive(Debug, Clone, Copy)]
pub struct PushTimes {
    /// How often one event is tried.
    pub attempts: u32,
    /// After the first attempt; each further pause is four times as long, an hour at most.
    pub first_pause: Duration,
    /// For one attempt.
    pub timeout: Duration,
    /// To one destination, from one node.
    pub at_once: usize,
    pub per_second: u32,
    /// The largest body.
    pub body_bytes: usize,
    /// To one destination, and of one tenant to all of them.
    pub bytes_per_second: usize,
    pub tenant_bytes_per_second: usize,
    /// In an hour, to a destination that has not accepted any notification yet.
    pub unverified_attempts: u32,
    pub unverified_bytes: usize,
}

impl Default for PushTimes {
    fn default() -> Self {
        Self {
            attempts: 8,
            first_pause: Duration::from_secs(1),
            timeout: Duration::from_secs(15),
            at_once: 8,
            per_second: 50,
            body_bytes: 256 << 10,
            bytes_per_second: 1 << 20,
            tenant_bytes_per_second: 4 << 20,
            unverified_attempts: 64,
            unverified_bytes: 1 << 20,
        }
    }
}

pub(crate) struct Pushes {
    pub(super) egress: Egress,
    pub(super) signer: Signer,
    times: PushTimes,
    destinations: Destinations,
    encode: OnceLock<Encode>,
    /// By tenant, how many this node follows.
    followed: Mutex<HashMap<TenantId, usize>>,
    due: Arc<Notify>,
}

impl Pushes {
    pub(crate) fn new(master: &MasterKey, egress: &EgressConfig, times: PushTimes) -> Result<Self, BadConfig> {
        let request_bytes = times.body_bytes.saturating_add(CAP_SLACK);
        let config = EgressConfig { redirects: 0, request_bytes, total_timeout: times.timeout, ..egress.clone() };
        Ok(Self {
            egress: Egress::new(config)?,
            signer: Signer::new(master),
            times,
            destinations: Destinations::new(times),
            encode: OnceLock::new(),
            followed: Mutex::default(),
            due: Arc::default(),
        })
    }

    /// There may be somebody to tell something.
    pub(crate) fn look(&self) {
        self.due.notify_one();
    }

    pub(crate) fn followed(&self) -> usize {
        lock(&self.followed).values().sum()
    }
}

/// What is left to do when a receiver is laid down.
enum Left {
    /// Its row says it already, or is another's.
    Nothing,
    /// To be looked after again after this time, or never.
    Rest(Option<Duration>),
}

impl Engine {
    /// Begins to tell receivers, in the words of the edge that knows the wires. The first one counts.
    pub fn tell_receivers(&self, encode: Encode) {
        if self.inner.pushes.encode.set(encode).is_ok() {
            let chore = keep_telling(Arc::downgrade(&self.inner));
            self.inner.chores.spawn(self.inner.closed.clone().run_until_cancelled_owned(chore));
        }
    }

    /// A task that nobody follows for its receivers has gone on.
    pub(crate) async fn wake_pushes(&self, tenant: TenantId, task: TaskId) {
        match self.inner.store.tenant(tenant).wake_pushes(task).await {
            Ok(true) => self.inner.pushes.look(),
            Ok(false) => {}
            // They are looked at again by and by.
            Err(error) => tracing::debug!(error = &error as &dyn std::error::Error, "receivers were not woken"),
        }
    }

    async fn take_pushes(&self) -> Result<(), EngineError> {
        while self.open_for_work().is_ok() {
            let (room, full) = self.inner.pushes.room();
            let held = self.inner.store.claim_pushes(&full, room.min(PORTION)).await?;
            if held.is_empty() {
                return Ok(());
            }
            for held in held {
                let (engine, place) = (self.clone(), Place::take(&self.inner, held.tenant));
                let work = async move {
                    engine.look_after(held).await;
                    drop(place);
                };
                self.inner.chores.spawn(self.inner.closed.clone().run_until_cancelled_owned(work));
            }
        }
        Ok(())
    }

    async fn look_after(&self, held: HeldPush) {
        let mut through = held.delivered;
        let pause = match self.carry(&held, &mut through).await {
            Ok(Left::Nothing) => return,
            Ok(Left::Rest(pause)) => pause,
            Err(error) => {
                tracing::debug!(task.id = %held.task, error = &error as &dyn std::error::Error, "a receiver has to wait");
                Some(LOOK)
            }
        };
        while let Err(error) = self.inner.store.rest_push(&held, through, pause).await {
            // A node that ends gives everything back at once.
            if !error.is_transient() || self.inner.stopping.is_cancelled() {
                tracing::warn!(task.id = %held.task, error = &error as &dyn std::error::Error, "a receiver was not laid down");
                return;
            }
            tokio::time::sleep(LOOK).await;
        }
    }

    /// Sends what the receiver lacks, to the end of the turn. `through` follows.
    async fn carry(&self, held: &HeldPush, through: &mut u32) -> Result<Left, EngineError> {
        let Some(tenant) = self.inner.store.key_tenant(held.tenant).await? else { return Ok(Left::Rest(None)) };
        let receiver = self.receiver(held.tenant, held.task, &held.id, &held.sealed)?;
        let mut round = Round { held, receiver, tenant, tries: held.attempts, header: None };
        let mut events = self.follow(held.tenant, held.task, held.delivered, None, Until::TurnEnds);
        while let Some(event) = events.next().await {
            let event = match event {
                Err(EngineError::TaskNotFound) => return Ok(Left::Rest(None)),
                event => event?,
            };
            if held.dialect.tells(&event) {
                match self.tell(&mut round, &event).await? {
                    Told::Yes => round.tries = 0,
                    Told::No(left) => return Ok(left),
                }
            }
            *through = event.seq;
        }
        let now = self.inner.store.tenant(held.tenant).task(held.task, None).await?.map(|task| task.state);
        Ok(Left::Rest(match now {
            Some(state) if state.is_interrupted() => Some(IDLE),
            // It has gone on meanwhile.
            Some(state) if !state.is_terminal() => Some(Duration::ZERO),
            _ => None,
        }))
    }

    /// One attempt at one event. Nothing large is held before it is its turn.
    async fn tell(&self, round: &mut Round<'_>, event: &Event) -> Result<Told, EngineError> {
        let (pushes, held) = (&self.inner.pushes, round.held);
        let Some(berth) = pushes.destinations.enter(&held.destination, held.tenant.as_uuid(), PATIENCE).await else {
            return Ok(Told::No(Left::Rest(Some(LOOK))));
        };
        // It may have waited long.
        if !self.may_have_told(&round.tenant, &held.caller).await? {
            return self.end_push(round, event, NOT_ALLOWED).await;
        }
        let task = self.task_at(round, event).await?;
        let to_tell = ToTell {
            dialect: held.dialect,
            tenant: &round.tenant.slug,
            task: &task,
            event,
            most_bytes: pushes.times.body_bytes,
        };
        let Some(notice) = pushes.encode.get().and_then(|encode| encode(&to_tell)) else {
            return Ok(Told::Yes);
        };
        drop(task);
        let letter = Letter::new(held.task, &held.id, event.seq, notice);
        match berth.admit(letter.bytes()) {
            Admission::Send => {}
            Admission::Later(pause) => return Ok(Told::No(Left::Rest(Some(pause)))),
            Admission::Refused => return self.end_push(round, event, UNVERIFIED).await,
        }
        let request = letter.request(&round.receiver, &pushes.signer, held.tenant, pushes.times.timeout);
        let began = Instant::now();
        let answer = pushes.egress.send(request, &HostGrants::any(), round.tenant.slug.as_str()).await;
        if matches!(answer, Err(EgressError::Busy)) {
            return Ok(Told::No(Left::Rest(Some(LOOK))));
        }
        let heard = Heard::of(answer);
        if heard.is_accepted() {
            berth.accepted();
        }
        drop(berth);
        self.record(round, &letter, heard, began.elapsed()).await
    }

    /// Ends a configuration without an attempt at its next event.
    async fn end_push(&self, round: &Round<'_>, event: &Event, why: &str) -> Result<Told, EngineError> {
        let held = round.held;
        let attempt = PushAttempt {
            message: message_id(held.task, &held.id, event.seq),
            seq: event.seq,
            number: round.tries,
            became: PushBecame::Dead,
            status: None,
            fault: Some(why.to_owned()),
            took: Duration::ZERO,
        };
        metrics::counter!("pleat_push_deliveries_total", "outcome" => attempt.became.as_str()).increment(1);
        tracing::info!(tenant.id = %round.tenant.slug, task.id = %held.task, why, "a push configuration has ended");
        self.inner.store.push_tried(held, &attempt).await?;
        Ok(Told::No(Left::Nothing))
    }

    /// Whether a caller who set a configuration still may: its key is not revoked or expired, its issuer of tokens is
    /// still configured.
    async fn may_have_told(&self, tenant: &Tenant, caller: &Caller) -> Result<bool, EngineError> {
        let principal = self.principal_behind(tenant, caller).await?;
        Ok(principal.is_some_and(|principal| authorize(&principal, Action::UsePush, EngineError::TaskNotFound).is_ok()))
    }

    async fn record(
        &self,
        round: &Round<'_>,
        letter: &Letter,
        heard: Heard,
        took: Duration,
    ) -> Result<Told, EngineError> {
        let number = round.tries + 1;
        let became = heard.becomes(number, &self.inner.pushes.times);
        metrics::counter!("pleat_push_deliveries_total", "outcome" => became.as_str()).increment(1);
        metrics::histogram!("pleat_push_seconds").record(took.as_secs_f64());
        let held = round.held;
        if became == PushBecame::Dead {
            tracing::warn!(tenant.id = %round.tenant.slug, task.id = %held.task, attempts = number, "a receiver is given up");
        }
        let Heard { status, fault, .. } = heard;
        let attempt = PushAttempt { message: letter.id, seq: letter.seq, number, became, status, fault, took };
        let still_ours = self.inner.store.push_tried(held, &attempt).await?;
        match (still_ours, became) {
            (true, PushBecame::Delivered) => Ok(Told::Yes),
            _ => Ok(Told::No(Left::Nothing)),
        }
    }

    /// The task as it was at this event. Of one that only says more of it, what all events have in common is enough.
    async fn task_at(&self, round: &mut Round<'_>, event: &Event) -> Result<Task, EngineError> {
        if let (None, Some(header)) = (event.state(), &round.header) {
            return Ok(header.clone());
        }
        let (tenant, id) = (round.held.tenant, round.held.task);
        let task = self.inner.store.tenant(tenant).task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
        if event.state().is_some() {
            return Ok(as_of(task, event));
        }
        let header = Task { input: Raw::default(), history: Vec::new(), artifacts: Vec::new(), ..task };
        round.header = Some(header.clone());
        Ok(header)
    }
}

/// What is known while a node looks after a receiver.
struct Round<'a> {
    held: &'a HeldPush,
    receiver: Receiver,
    tenant: Tenant,
    /// In vain, of the event at hand.
    tries: u32,
    header: Option<Task>,
}

enum Told {
    Yes,
    No(Left),
}

/// The task as it was when this happened, as far as its receiver is concerned: artifacts come with the end of a turn.
fn as_of(mut task: Task, event: &Event) -> Task {
    if let EventBody::Status(change) = &event.body {
        if !event.ends_turn() {
            task.artifacts.clear();
        }
        task.state = change.state;
        task.failure.clone_from(&change.failure);
        task.ask.clone_from(&change.ask);
        task.updated_at = event.at;
    }
    task
}

impl Pushes {
    /// How many more may be followed here, and whose share is used up.
    fn room(&self) -> (usize, Vec<TenantId>) {
        let followed = lock(&self.followed);
        let full = followed.iter().filter(|(_, count)| **count >= SHARE).map(|(tenant, _)| *tenant).collect();
        (FOLLOWED.saturating_sub(followed.values().sum()), full)
    }
}

/// One receiver that is followed for; free again when it is dropped.
struct Place {
    inner: Weak<Inner>,
    tenant: TenantId,
}

impl Place {
    fn take(inner: &Arc<Inner>, tenant: TenantId) -> Self {
        *lock(&inner.pushes.followed).entry(tenant).or_default() += 1;
        Self { inner: Arc::downgrade(inner), tenant }
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let Some(inner) = self.inner.upgrade() else { return };
        let mut followed = lock(&inner.pushes.followed);
        if let Some(count) = followed.get_mut(&self.tenant) {
            *count = count.saturating_sub(1);
            if *count == 0 {
                followed.remove(&self.tenant);
            }
        }
    }
}

async fn keep_telling(weak: Weak<Inner>) {
    let mut ticks = tokio::time::interval(LOOK);
    ticks.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        let Some(due) = weak.upgrade().map(|inner| Arc::clone(&inner.pushes.due)) else { return };
        tokio::select! {
            _ = ticks.tick() => {}
            () = due.notified() => {}
        }
        let Some(inner) = weak.upgrade() else { return };
        if let Err(error) = (Engine { inner }).take_pushes().await {
            tracing::debug!(error = &error as &dyn std::error::Error, "receivers could not be looked for");
        }
    }
}

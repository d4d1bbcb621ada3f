//! What each tenant uses on this node now, held against its plan, and what it has used, until that is written down.
//!
//! The limits are a platform's, the counts a node's: with several nodes each has its equal part of what is counted by
//! the minute or at once. What is counted by the day is known to all of them through the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use pleat_domain::plan::Amount;
use pleat_domain::quota::{Bucket, Rate, Window};
use pleat_domain::{KeyLimits, Limit, Plan, Principal, SkillName, TenantId, Usage};
use time::{Date, OffsetDateTime, Time};

use crate::error::{EngineError, Reached};
use crate::hub::lock;

/// After what time who has too many tasks running should look again.
const SOON: Duration = Duration::from_secs(1);

/// Counts that the database does not have yet.
pub(crate) type Unwritten = HashMap<(Date, SkillName), Usage>;

/// All tenants' books.
pub(crate) struct Books {
    all: RwLock<HashMap<TenantId, Arc<Book>>>,
    born: Instant,
    nodes: AtomicU32,
    minute: Duration,
}

impl Books {
    /// `minute`: how long the windows are in which CPU time by the minute is counted.
    pub(crate) fn new(minute: Duration) -> Self {
        Self { all: RwLock::default(), born: Instant::now(), nodes: AtomicU32::new(1), minute }
    }

    pub(crate) fn set_nodes(&self, nodes: u32) {
        self.nodes.store(nodes, Relaxed);
    }

    pub(crate) fn of(&self, tenant: TenantId) -> Arc<Book> {
        let known = self.all.read().ok().and_then(|all| all.get(&tenant).cloned());
        known.unwrap_or_else(|| match self.all.write() {
            Ok(mut all) => Arc::clone(all.entry(tenant).or_default()),
            Err(poisoned) => Arc::clone(poisoned.into_inner().entry(tenant).or_default()),
        })
    }

    pub(crate) fn all(&self) -> Vec<(TenantId, Arc<Book>)> {
        let copy = |all: &HashMap<TenantId, Arc<Book>>| all.iter().map(|(id, book)| (*id, Arc::clone(book))).collect();
        self.all.read().map_or_else(|poisoned| copy(&poisoned.into_inner()), |all| copy(&all))
    }

    /// A request of a caller: refused when it comes too soon.
    pub(crate) fn request(&self, tenant: TenantId, principal: &Principal, plan: &Plan) -> Result<(), EngineError> {
        let (now, parts) = (self.born.elapsed(), self.nodes.load(Relaxed));
        let book = self.of(tenant);
        let mut state = book.state();
        // The narrower bucket first: what it refuses does not count against the wider one.
        match principal {
            Principal::Anonymous => {
                let burst = plan.request_burst;
                draw(
                    &mut state.anonymous,
                    Limit::AnonymousRequests,
                    plan.anonymous_requests_per_minute,
                    burst,
                    now,
                    parts,
                )?;
            }
            Principal::Key { id, limits: KeyLimits { requests_per_minute: Some(most), .. }, .. } => {
                let bucket = &mut state.keys.entry(id.clone()).or_default().requests;
                draw(bucket, Limit::KeyRequests, Amount::Most(u64::from(*most)), None, now, parts)?;
            }
            Principal::Key { .. } | Principal::Token { .. } | Principal::Operator { .. } => {}
        }
        draw(&mut state.requests, Limit::Requests, plan.requests_per_minute, plan.request_burst, now, parts)
    }

    /// A task that is to run: refused when too many do, or when too much was used already.
    pub(crate) fn begin(&self, tenant: TenantId, principal: &Principal, plan: &Plan) -> Result<Entry, EngineError> {
        let parts = u64::from(self.nodes.load(Relaxed).max(1));
        let part = |amount: Amount| amount.most().map(|most| (most / parts).max(1));
        let book = self.of(tenant);
        let mut state = book.state();
        state.spent(plan, part(plan.cpu_ms_per_minute), self.minute)?;
        let reached =
            |limit, amount: Amount| Reached { limit, most: amount.most().unwrap_or(0), retry_after: Some(SOON) };
        if part(plan.concurrent_tasks).is_some_and(|most| state.running >= most) {
            return Err(reached(Limit::ConcurrentTasks, plan.concurrent_tasks).into());
        }
        let key = match principal {
            Principal::Key { id, limits: KeyLimits { concurrent_tasks: Some(most), .. }, .. } => {
                let most = Amount::Most(u64::from(*most));
                let running = &mut state.keys.entry(id.clone()).or_default().running;
                if part(most).is_some_and(|part| *running >= part) {
                    return Err(reached(Limit::KeyConcurrentTasks, most).into());
                }
                *running += 1;
                Some(id.clone())
            }
            _ => None,
        };
        state.running += 1;
        drop(state);
        Ok(Entry { book, key })
    }

    /// What a turn has used.
    pub(crate) fn record(&self, tenant: TenantId, skill: &SkillName, usage: Usage) {
        let book = self.of(tenant);
        let mut state = book.state();
        state.cpu.add(since_epoch(), self.minute, usage.cpu_us);
        state.add(OffsetDateTime::now_utc().date(), skill, usage);
    }
}

fn draw(
    bucket: &mut Bucket,
    limit: Limit,
    amount: Amount,
    burst: Option<u64>,
    now: Duration,
    parts: u32,
) -> Result<(), EngineError> {
    let Some(most) = amount.most() else { return Ok(()) };
    let taken = bucket.take(now, Rate::per_minute(most, burst, parts));
    taken.map_err(|wait| Reached { limit, most, retry_after: Some(wait) }.into())
}

/// One tenant's book.
#[derive(Default)]
pub(crate) struct Book {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    requests: Bucket,
    anonymous: Bucket,
    running: u64,
    /// Microseconds.
    cpu: Window,
    today: Option<(Date, Usage)>,
    /// Whether the database was asked what was used today before this node knew the tenant.
    is_read: bool,
    unwritten: Unwritten,
    keys: HashMap<String, KeyState>,
}

#[derive(Default)]
struct KeyState {
    requests: Bucket,
    running: u64,
}

impl Book {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
    }

    pub(crate) fn add(&self, skill: &SkillName, usage: Usage) {
        self.state().add(OffsetDateTime::now_utc().date(), skill, usage);
    }

    /// Whether what may be stored in a day is not yet used up.
    pub(crate) fn may_store(&self, plan: &Plan) -> Result<(), EngineError> {
        self.state().day_spent(Limit::StoredBytesPerDay, plan.stored_bytes_per_day, Usage::stored_bytes)
    }

    /// What is to be written now. `None`: nothing has changed since the last time.
    pub(crate) fn take_unwritten(&self) -> Option<Unwritten> {
        let mut state = self.state();
        let changed = !state.unwritten.is_empty() || !state.is_read;
        changed.then(|| std::mem::take(&mut state.unwritten))
    }

    /// It could not be written: the next try takes it along.
    pub(crate) fn put_back(&self, unwritten: Unwritten) {
        let mut state = self.state();
        for (key, usage) in unwritten {
            *state.unwritten.entry(key).or_default() += usage;
        }
    }

    /// What the database has for today, other nodes' counts included.
    pub(crate) fn set_today(&self, today: Date, mut written: Usage) {
        let mut state = self.state();
        let since = state.unwritten.iter().filter(|((day, _), _)| *day == today);
        since.for_each(|(_, usage)| written += *usage);
        state.today = Some((today, written));
        state.is_read = true;
    }
}

impl State {
    fn add(&mut self, day: Date, skill: &SkillName, usage: Usage) {
        let today = match self.today {
            Some((known, _)) if known == day => self.today.get_or_insert((day, Usage::default())),
            _ => self.today.insert((day, Usage::default())),
        };
        today.1 += usage;
        *self.unwritten.entry((day, skill.clone())).or_default() += usage;
    }

    /// Whether CPU time or storage is used up.
    fn spent(&self, plan: &Plan, cpu_ms: Option<u64>, minute: Duration) -> Result<(), EngineError> {
        let now = since_epoch();
        let wait = cpu_ms.and_then(|most| self.cpu.exhausted(now, minute, most.saturating_mul(1_000)));
        if let Some(wait) = wait {
            let most = plan.cpu_ms_per_minute.most().unwrap_or(0);
            return Err(Reached { limit: Limit::CpuPerMinute, most, retry_after: Some(wait) }.into());
        }
        self.day_spent(Limit::CpuPerDay, plan.cpu_ms_per_day, |usage| usage.cpu_us / 1_000)?;
        self.day_spent(Limit::StoredBytesPerDay, plan.stored_bytes_per_day, Usage::stored_bytes)
    }

    fn day_spent(&self, limit: Limit, amount: Amount, of: impl Fn(&Usage) -> u64) -> Result<(), EngineError> {
        let now = OffsetDateTime::now_utc();
        let Some(most) = amount.most() else { return Ok(()) };
        match &self.today {
            Some((day, usage)) if *day == now.date() && of(usage) >= most => {
                let rest = now.date().next_day().map(|next| next.with_time(Time::MIDNIGHT).assume_utc() - now);
                let rest = rest.and_then(|rest| Duration::try_from(rest).ok()).unwrap_or(SOON);
                Err(Reached { limit, most, retry_after: Some(rest) }.into())
            }
            _ => Ok(()),
        }
    }
}

/// One task that is counted as running until this is dropped.
pub(crate) struct Entry {
    book: Arc<Book>,
    key: Option<String>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.book.state();
        state.running = state.running.saturating_sub(1);
        if let Some(key) = self.key.as_ref().and_then(|key| state.keys.get_mut(key)) {
            key.running = key.running.saturating_sub(1);
        }
    }
}

/// Windows begin and end on all nodes at the same time.
fn since_epoch() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

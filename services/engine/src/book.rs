//! What each tenant uses on this node now, held against its plan, and what it has used, until that is written down.
//!
//! The limits are a platform's, the counts a node's: with several nodes each has its equal part of what is counted by
//! the minute or at once. What is counted by the day is known to all of them through the database.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, RwLock};
use std::time::{Duration, Instant};

use pleat_domain::caller_count::{CallerCount, Denied, Moment, Shares};
use pleat_domain::plan::Amount;
use pleat_domain::quota::{Bucket, Rate, Window};
use pleat_domain::{Caller, CallerUsage, KeyLimits, Limit, Plan, Principal, SkillName, TenantId, Usage};
use time::{Date, OffsetDateTime};

use crate::error::{EngineError, Reached};
use crate::hub::lock;

/// After what time who has too many tasks running should look again.
const SOON: Duration = Duration::from_secs(1);

/// Counts that the database does not have yet.
pub(crate) type Unwritten = HashMap<(Date, SkillName), Usage>;

/// The same of callers that have limits by the day.
pub(crate) type UnwrittenCallers = Vec<(Caller, Date, CallerUsage)>;

/// All tenants' books.
pub(crate) struct Books {
    all: RwLock<HashMap<TenantId, Arc<Book>>>,
    born: Instant,
    nodes: AtomicU32,
    minute: Duration,
    /// Of the platform's own routes.
    unproven: Mutex<Bucket>,
}

impl Books {
    /// `minute`: how long the windows are in which CPU time by the minute is counted.
    pub(crate) fn new(minute: Duration) -> Self {
        Self {
            all: RwLock::default(),
            born: Instant::now(),
            nodes: AtomicU32::new(1),
            minute,
            unproven: Mutex::default(),
        }
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
        let (now, shares) = (self.now(), self.shares());
        let book = self.of(tenant);
        let mut state = book.state();
        // The narrower bucket first: what it refuses does not count against the wider one.
        if matches!(principal, Principal::Anonymous) {
            let (amount, burst) = (plan.anonymous_requests_per_minute, plan.request_burst);
            draw(&mut state.anonymous, Limit::AnonymousRequests, amount, burst, now, shares)?;
        }
        let limits = principal.limits();
        if limits.requests_per_minute.is_some() {
            state.callers.entry(principal.caller()).or_default().request(&limits, shares, now)?;
        }
        draw(&mut state.requests, Limit::Requests, plan.requests_per_minute, plan.request_burst, now, shares)
    }

    /// A request whose caller is not known to be any: with a key that has to be looked up, or a token that was refused.
    /// `None`: on the platform's own routes.
    pub(crate) fn unproven(&self, of: Option<(TenantId, &Plan)>) -> Result<(), EngineError> {
        let (now, shares) = (self.now(), self.shares());
        let Some((tenant, plan)) = of else {
            let amount = Plan::STANDARD.anonymous_requests_per_minute;
            return draw(&mut lock(&self.unproven), Limit::Unproven, amount, None, now, shares);
        };
        let book = self.of(tenant);
        let bucket = &mut book.state().unproven;
        draw(bucket, Limit::Unproven, plan.anonymous_requests_per_minute, plan.request_burst, now, shares)
    }

    /// A task that is to run: refused when too many do, or when too much was used already.
    pub(crate) fn begin(&self, tenant: TenantId, principal: &Principal, plan: &Plan) -> Result<Entry, EngineError> {
        let (now, shares) = (self.now(), self.shares());
        let book = self.of(tenant);
        let mut state = book.state();
        state.spent(plan, shares, now)?;
        if let Some(most) = plan.concurrent_tasks.most()
            && state.running >= shares.part(most)
        {
            return Err(Reached { limit: Limit::ConcurrentTasks, most, retry_after: Some(SOON) }.into());
        }
        let limits = principal.limits();
        let caller = (!limits.is_none()).then(|| principal.caller());
        if let Some(caller) = &caller {
            state.callers.entry(caller.clone()).or_default().begin(&limits, shares, now, SOON)?;
        }
        state.running += 1;
        drop(state);
        Ok(Entry { book, caller })
    }

    /// Whether CPU time and bytes are left, for who deploys.
    pub(crate) fn may_spend(&self, tenant: TenantId, principal: &Principal, plan: &Plan) -> Result<(), EngineError> {
        let (now, shares) = (self.now(), self.shares());
        let book = self.of(tenant);
        let mut state = book.state();
        state.spent(plan, shares, now)?;
        state.caller_may_spend(principal, principal.limits(), shares, now)
    }

    /// Whether what may be stored in a day is not yet used up.
    pub(crate) fn may_store(&self, tenant: TenantId, principal: &Principal, plan: &Plan) -> Result<(), EngineError> {
        let (now, shares) = (self.now(), self.shares());
        let book = self.of(tenant);
        let mut state = book.state();
        state.day_spent(Limit::StoredBytesPerDay, plan.stored_bytes_per_day, now, Usage::stored_bytes)?;
        let KeyLimits { stored_bytes_per_day, .. } = principal.limits();
        state.caller_may_spend(principal, KeyLimits { stored_bytes_per_day, ..KeyLimits::NONE }, shares, now)
    }

    /// What was used, in a turn or outside of a task. `None`: by nobody in particular.
    pub(crate) fn spend(&self, tenant: TenantId, caller: Option<&str>, skill: &SkillName, usage: Usage) {
        self.of(tenant).state().add(self.now(), self.shares(), caller, skill, usage);
    }

    /// What callers with limits by the day have used since the last time; and forgets who has used nothing for long.
    pub(crate) fn take_callers(&self, book: &Book) -> UnwrittenCallers {
        let now = self.now();
        let mut state = book.state();
        state.callers.retain(|_, count| !count.is_idle(now));
        let taken = state.callers.iter_mut().map(|(caller, count)| (caller.clone(), count.take_unwritten(now)));
        taken.flat_map(|(caller, days)| days.into_iter().map(move |(day, used)| (caller.clone(), day, used))).collect()
    }

    /// What the database has of a caller for a day, other nodes' counts included.
    pub(crate) fn set_caller(&self, tenant: TenantId, caller: &Caller, day: Date, written: CallerUsage) {
        if let Some(count) = self.of(tenant).state().callers.get_mut(caller) {
            count.set_written(day, written, self.now());
        }
    }

    /// This node's part of what the platform allows at once.
    pub(crate) fn part(&self, most: u64) -> u64 {
        self.shares().part(most)
    }

    fn now(&self) -> Moment {
        Moment { since_start: self.born.elapsed(), utc: OffsetDateTime::now_utc() }
    }

    fn shares(&self) -> Shares {
        Shares { nodes: self.nodes.load(Relaxed), minute: self.minute }
    }
}

impl From<Denied> for EngineError {
    fn from(denied: Denied) -> Self {
        Reached { limit: denied.limit, most: denied.most, retry_after: Some(denied.wait) }.into()
    }
}

fn draw(
    bucket: &mut Bucket,
    limit: Limit,
    amount: Amount,
    burst: Option<u64>,
    now: Moment,
    shares: Shares,
) -> Result<(), EngineError> {
    let Some(most) = amount.most() else { return Ok(()) };
    let taken = bucket.take(now.since_start, Rate::per_minute(most, burst, shares.nodes));
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
    unproven: Bucket,
    running: u64,
    /// Microseconds.
    cpu: Window,
    today: Option<(Date, Usage)>,
    /// Whether the database was asked what was used today before this node knew the tenant.
    is_read: bool,
    unwritten: Unwritten,
    /// Those that have limits of their own.
    callers: HashMap<Caller, CallerCount>,
}

impl Book {
    fn state(&self) -> MutexGuard<'_, State> {
        lock(&self.state)
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

    pub(crate) fn put_back_callers(&self, unwritten: UnwrittenCallers) {
        let mut state = self.state();
        for (caller, day, used) in unwritten {
            state.callers.entry(caller).or_default().put_back(day, used);
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
    fn add(&mut self, now: Moment, shares: Shares, caller: Option<&str>, skill: &SkillName, usage: Usage) {
        self.cpu.add(now.since_epoch(), shares.minute, usage.cpu_us);
        if let Some(count) = caller.and_then(|caller| self.callers.get_mut(caller)) {
            count.add(usage.into(), shares, now);
        }
        let day = now.day();
        let today = match self.today {
            Some((known, _)) if known == day => self.today.get_or_insert((day, Usage::default())),
            _ => self.today.insert((day, Usage::default())),
        };
        today.1 += usage;
        *self.unwritten.entry((day, skill.clone())).or_default() += usage;
    }

    fn caller_may_spend(
        &mut self,
        principal: &Principal,
        limits: KeyLimits,
        shares: Shares,
        now: Moment,
    ) -> Result<(), EngineError> {
        if limits.is_none() {
            return Ok(());
        }
        Ok(self.callers.entry(principal.caller()).or_default().may_spend(&limits, shares, now)?)
    }

    /// Whether CPU time or storage is used up.
    fn spent(&self, plan: &Plan, shares: Shares, now: Moment) -> Result<(), EngineError> {
        if let Some(most) = plan.cpu_ms_per_minute.most() {
            let micros = shares.part(most).saturating_mul(1_000);
            if let Some(wait) = self.cpu.exhausted(now.since_epoch(), shares.minute, micros) {
                return Err(Reached { limit: Limit::CpuPerMinute, most, retry_after: Some(wait) }.into());
            }
        }
        self.day_spent(Limit::CpuPerDay, plan.cpu_ms_per_day, now, |usage| usage.cpu_us / 1_000)?;
        self.day_spent(Limit::StoredBytesPerDay, plan.stored_bytes_per_day, now, Usage::stored_bytes)
    }

    fn day_spent(
        &self,
        limit: Limit,
        amount: Amount,
        now: Moment,
        of: impl Fn(&Usage) -> u64,
    ) -> Result<(), EngineError> {
        match (amount.most(), &self.today) {
            (Some(most), Some((day, usage))) if *day == now.day() && of(usage) >= most => {
                Err(Reached { limit, most, retry_after: Some(now.until_tomorrow()) }.into())
            }
            _ => Ok(()),
        }
    }
}

/// One task that is counted as running until this is dropped.
pub(crate) struct Entry {
    book: Arc<Book>,
    /// Where it has limits of its own.
    caller: Option<Caller>,
}

impl Drop for Entry {
    fn drop(&mut self) {
        let mut state = self.book.state();
        state.running = state.running.saturating_sub(1);
        if let Some(count) = self.caller.as_ref().and_then(|caller| state.callers.get_mut(caller)) {
            count.end();
        }
    }
}

//! What compiling costs, by who has it done: whoever deploys bombs pays for them, also when they do not wait for the end.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::process::Child;

use crate::gate::Party;

/// Clock ticks in a second, as Linux tells processes of them on every machine that this runs on.
const TICKS: u64 = 100;

/// CPU time that nobody has been charged for yet.
#[derive(Default)]
pub(super) struct Spent(Mutex<HashMap<Party, Duration>>);

impl Spent {
    pub(super) fn take(&self) -> HashMap<Party, Duration> {
        std::mem::take(&mut *self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn add(&self, party: Party, time: Duration) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner).entry(party).or_default() += time;
    }
}

/// A child whose time is noted once: when it has ended, or when nobody waits for it any more.
pub(super) struct Metered<'a> {
    pub(super) child: Child,
    payer: Option<(&'a Spent, Party)>,
}

impl<'a> Metered<'a> {
    pub(super) fn new(child: Child, payer: Option<(&'a Spent, Party)>) -> Self {
        Self { child, payer }
    }

    /// To be called before the child is waited for: what has been waited for is forgotten.
    pub(super) fn note(&mut self) {
        let Some((spent, party)) = self.payer.take() else { return };
        if let Some(time) = self.child.id().and_then(cpu_time) {
            spent.add(party, time);
        }
    }
}

impl Metered<'_> {
    /// Dropping the child would kill it too; waiting makes sure that nothing of it is left.
    pub(super) async fn kill(&mut self) {
        self.note();
        let _ = self.child.kill().await;
    }
}

impl Drop for Metered<'_> {
    fn drop(&mut self) {
        self.note();
    }
}

/// Of all its threads, also of those that have ended. `None`: where there is no `/proc`.
fn cpu_time(process: u32) -> Option<Duration> {
    let stat = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
    ticks(&stat).map(|ticks| Duration::from_millis(ticks.saturating_mul(1_000 / TICKS)))
}

/// Fields 14 and 15. The name in the second may have spaces and brackets in it.
fn ticks(stat: &str) -> Option<u64> {
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace().skip(11);
    let (user, system): (u64, u64) = (fields.next()?.parse().ok()?, fields.next()?.parse().ok()?);
    Some(user.saturating_add(system))
}

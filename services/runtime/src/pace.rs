//! Who may use the processor, and when: the quick lane for calls that need little of it, the slow lane for the rest.
//!
//! Every call begins in the quick lane, and nearly all end there. One that has used its part moves to the slow lane
//! for the rest of its life, onto threads that the system runs only where nobody else wants to run. In both lanes as
//! many calls go at once as there are threads, one party after the other, and each gives way at every tick: neither
//! a hundred spinning guests nor a flood of short calls of one party is felt by another.

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::{Poll, ready};
use std::time::Duration;

use crate::gate::{Gate, Party, Turn};
use crate::guests::all_but_one;
use crate::meter::Meter;

/// CPU time that a call has in the quick lane: a hundred times what a small one needs.
const QUICK: Duration = Duration::from_millis(2);

/// The gates of the two lanes.
pub(crate) struct Lanes {
    quick: Arc<Gate>,
    slow: Arc<Gate>,
    busy: Arc<AtomicBool>,
}

impl Lanes {
    /// As many at once as there are threads: who waits at the gate waits in turn, who waits for a thread does not.
    pub(crate) fn new(workers: usize) -> Self {
        let gate = |threads| Gate::new(u32::try_from(threads).unwrap_or(u32::MAX));
        Self { quick: gate(workers), slow: gate(all_but_one(workers)), busy: Arc::default() }
    }

    /// Set whenever a call has been interrupted that wants to go on.
    pub(crate) fn busy(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.busy)
    }

    pub(crate) fn pace(&self, party: Party) -> Pace {
        let (slow, busy) = (Arc::clone(&self.slow), Arc::clone(&self.busy));
        Pace { turn: Turn::new(&self.quick, party), slow, busy, is_slow: Arc::default() }
    }
}

/// One call's way through the lanes.
pub(crate) struct Pace {
    turn: Turn,
    slow: Arc<Gate>,
    busy: Arc<AtomicBool>,
    is_slow: Arc<AtomicBool>,
}

impl Pace {
    /// Tells when the call has to change lanes.
    pub(crate) fn signal(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.is_slow)
    }

    /// Runs `work` whenever it is its turn. The ticket of the last poll is kept, for what is still to be cleared up.
    pub(crate) async fn keep<F: Future>(&mut self, meter: &Meter, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            ready!(self.turn.poll_ready(context));
            let polled = work.as_mut().poll(context);
            if polled.is_pending() {
                if meter.used() > QUICK && !self.is_slow.load(Relaxed) {
                    self.turn.change_to(&self.slow);
                    self.is_slow.store(true, Relaxed);
                } else if meter.wants_more() {
                    self.busy.store(true, Relaxed);
                    self.turn.take_turns(context);
                    // Other threads may wait for this processor, and a system that does not interrupt programs for them
                    // looks only at its own ticks, which may be 10 ms apart, or when it is called.
                    std::thread::yield_now();
                } else {
                    self.turn.give_way();
                }
            }
            polled
        })
        .await
    }
}

/// A call's future, which can go from one lane's threads to the other's.
pub(crate) type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What came of a call in the quick lane.
pub(crate) enum Quick<T> {
    Done(T),
    /// The rest of it is for the slow lane, where it must be polled at once: it may have been woken already.
    Slow(Work<T>),
}

/// Polls until the work is done or has to change lanes.
pub(crate) async fn quickly<T>(work: Work<T>, is_slow: Arc<AtomicBool>) -> Quick<T> {
    let mut work = Some(work);
    poll_fn(|context| {
        let polled = work.as_mut().map_or(Poll::Pending, |work| work.as_mut().poll(context));
        match polled {
            Poll::Ready(done) => Poll::Ready(Quick::Done(done)),
            Poll::Pending if is_slow.load(Relaxed) => {
                work.take().map_or(Poll::Pending, |w| Poll::Ready(Quick::Slow(w)))
            }
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

//! Who may use the processor, and when: the quick lane for calls that need little of it, the slow lane for the rest.
//!
//! Every call begins in the quick lane, and nearly all end there. One that has used its part moves to the slow lane
//! for the rest of its life, onto threads that the system runs only where nobody else wants to run. Should that be
//! nowhere, it moves on to the steady lane, whose threads have a low priority and are run a little everywhere. In each lane as
//! many calls go at once as there are threads, one party after the other, and each gives way at every tick: neither
//! a hundred spinning guests nor a flood of short calls of one party is felt by another.

mod starved;

use std::future::{Future, poll_fn};
use std::pin::{Pin, pin};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering::Relaxed};
use std::task::Poll;
use std::time::{Duration, Instant};

use self::starved::Starved;
use crate::gate::{Gate, Party, Turn};
use crate::guests::all_but_one;
use crate::meter::Meter;

/// CPU time that a call has in the quick lane: a hundred times what a small one needs.
const QUICK: Duration = Duration::from_millis(2);

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Lane {
    Quick,
    Slow,
    Steady,
}

impl Lane {
    const fn of(code: u8) -> Self {
        match code {
            0 => Self::Quick,
            1 => Self::Slow,
            _ => Self::Steady,
        }
    }
}

/// The gates of the lanes.
pub(crate) struct Lanes {
    quick: Arc<Gate>,
    slow: Arc<Slow>,
    busy: Arc<AtomicBool>,
}

/// Where calls go that need more than a moment.
struct Slow {
    idle: Arc<Gate>,
    steady: Arc<Gate>,
    starved: Starved,
}

impl Lanes {
    /// As many at once as there are threads: who waits at the gate waits in turn, who waits for a thread does not.
    pub(crate) fn new(workers: usize) -> Self {
        let gate = |threads| Gate::new(u32::try_from(threads).unwrap_or(u32::MAX));
        let long = || gate(all_but_one(workers));
        let slow = Slow { idle: long(), steady: long(), starved: Starved::new() };
        Self { quick: gate(workers), slow: Arc::new(slow), busy: Arc::default() }
    }

    /// Set whenever a call has been interrupted that wants to go on.
    pub(crate) fn busy(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.busy)
    }

    pub(crate) fn pace(&self, party: Party) -> Pace {
        let (slow, busy) = (Arc::clone(&self.slow), Arc::clone(&self.busy));
        Pace { turn: Turn::new(&self.quick, party), slow, busy, signal: Signal::default() }
    }
}

/// The lane that a call belongs to, for who runs it there.
#[derive(Clone, Default)]
pub(crate) struct Signal(Arc<AtomicU8>);

impl Signal {
    fn lane(&self) -> Lane {
        Lane::of(self.0.load(Relaxed))
    }
}

/// One call's way through the lanes.
pub(crate) struct Pace {
    turn: Turn,
    slow: Arc<Slow>,
    busy: Arc<AtomicBool>,
    signal: Signal,
}

impl Pace {
    /// Tells when the call has to change lanes.
    pub(crate) fn signal(&self) -> Signal {
        self.signal.clone()
    }

    /// Runs `work` whenever it is its turn. The ticket of the last poll is kept, for what is still to be cleared up.
    pub(crate) async fn keep<F: Future>(&mut self, meter: &Meter, work: F) -> F::Output {
        let mut work = pin!(work);
        poll_fn(|context| {
            if self.turn.poll_ready(context).is_pending() || self.has_moved_on() {
                return Poll::Pending;
            }
            let (lane, before) = (self.signal.lane(), meter.used());
            let began = (lane == Lane::Slow).then(Instant::now);
            let polled = work.as_mut().poll(context);
            if let Some(began) = began {
                self.slow.starved.ran(began.elapsed(), meter.used() - before);
            }
            if polled.is_pending() {
                if meter.used() > QUICK && lane == Lane::Quick {
                    self.change_to(Lane::Slow);
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

    /// Whether the slow lane gets nowhere, so that this call has left it.
    fn has_moved_on(&mut self) -> bool {
        let moves = self.signal.lane() == Lane::Slow && self.slow.starved.is_so();
        if moves {
            self.change_to(Lane::Steady);
        }
        moves
    }

    fn change_to(&mut self, lane: Lane) {
        let gate = if lane == Lane::Steady { &self.slow.steady } else { &self.slow.idle };
        self.turn.change_to(gate);
        self.signal.0.store(lane as u8, Relaxed);
    }
}

/// A call's future, which can go from one lane's threads to the other's.
pub(crate) type Work<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What came of a call in one lane.
pub(crate) enum Left<T> {
    Done(T),
    /// The rest of it is for another lane, where it must be polled at once: it may have been woken already.
    For(Lane, Work<T>),
}

/// Polls until the work is done or has to change lanes.
pub(crate) async fn within<T>(lane: Lane, work: Work<T>, signal: Signal) -> Left<T> {
    let mut work = Some(work);
    poll_fn(|context| {
        let polled = work.as_mut().map_or(Poll::Pending, |work| work.as_mut().poll(context));
        match polled {
            Poll::Ready(done) => Poll::Ready(Left::Done(done)),
            Poll::Pending if signal.lane() != lane => {
                work.take().map_or(Poll::Pending, |rest| Poll::Ready(Left::For(signal.lane(), rest)))
            }
            Poll::Pending => Poll::Pending,
        }
    })
    .await
}

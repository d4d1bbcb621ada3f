//! Things that go on elsewhere while the function does something else: calls of other skills, HTTP requests.
//!
//! They run from the moment they are started. Start several, then wait: the time is that of the slowest, not the sum.
//! What is dropped, or still pending when the function returns, is stopped.

use crate::bindings::wasi::io::poll::{Pollable, poll};

/// Something that was started.
pub trait Pending {
    type Output;

    #[doc(hidden)]
    fn pollable(&self) -> Pollable;

    /// The result, once; nothing while it is pending or after it was taken.
    fn take(&self) -> Option<Self::Output>;

    /// Waits for the result.
    fn wait(self) -> Self::Output
    where
        Self: Sized,
    {
        loop {
            self.pollable().block();
            if let Some(output) = self.take() {
                return output;
            }
        }
    }
}

/// The results of all, in the order in which they are given.
pub fn join<P: Pending>(pending: impl IntoIterator<Item = P>) -> Vec<P::Output> {
    let started: Vec<P> = pending.into_iter().collect();
    started.into_iter().map(Pending::wait).collect()
}

/// Waits until one of them is ready and says which; `None` when there are none.
pub fn first<P: Pending>(pending: &[P]) -> Option<usize> {
    if pending.is_empty() {
        return None;
    }
    let pollables: Vec<Pollable> = pending.iter().map(Pending::pollable).collect();
    let references: Vec<&Pollable> = pollables.iter().collect();
    poll(&references).first().and_then(|index| usize::try_from(*index).ok())
}

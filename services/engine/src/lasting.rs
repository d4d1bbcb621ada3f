//! Work that its caller waits for and that does not end with the caller.
//!
//! It is polled by who waits, so that nothing is handed from task to task as long as somebody does. When its answer is
//! there, or whoever waits leaves, the rest of it goes on in a task of its own.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::task::{Context, Poll};

use tokio::runtime::Handle;
use tokio::sync::oneshot;

use crate::error::EngineError;

type Work = Pin<Box<dyn Future<Output = ()> + Send>>;

pub(crate) struct Lasting<T> {
    /// `None`: it is over.
    work: Option<Work>,
    answer: oneshot::Receiver<Result<T, EngineError>>,
}

impl<T> Lasting<T> {
    /// `work` sends the answer, and may go on after that.
    pub(crate) const fn new(work: Work, answer: oneshot::Receiver<Result<T, EngineError>>) -> Self {
        Self { work: Some(work), answer }
    }

    fn poll_work(&mut self, context: &mut Context<'_>) {
        let Some(work) = &mut self.work else { return };
        let polled = catch_unwind(AssertUnwindSafe(|| work.as_mut().poll(context)));
        // As in a task of its own, a panic ends the work and nothing beside it. It has been reported where it happened.
        if !matches!(polled, Ok(Poll::Pending)) {
            self.work = None;
        }
    }
}

impl<T> Future for Lasting<T> {
    type Output = Result<T, EngineError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        self.poll_work(context);
        let silent = |_| EngineError::Internal("the call ended without an answer".into());
        Pin::new(&mut self.answer).poll(context).map(|answer| answer.map_err(silent)?)
    }
}

impl<T> Drop for Lasting<T> {
    fn drop(&mut self) {
        // Without a runtime there are no tasks any more, of whichever kind.
        if let (Some(work), Ok(runtime)) = (self.work.take(), Handle::try_current()) {
            runtime.spawn(work);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::sync::atomic::{AtomicBool, Ordering};

    use super::*;

    fn working(
        gate: Arc<tokio::sync::Notify>,
        over: Arc<AtomicBool>,
        done: oneshot::Sender<Result<u8, EngineError>>,
        first: bool,
    ) -> Work {
        Box::pin(async move {
            if !first {
                gate.notified().await;
            }
            let _ = done.send(Ok(7));
            if first {
                gate.notified().await;
            }
            over.store(true, Ordering::SeqCst);
        })
    }

    async fn until_over(over: &AtomicBool) {
        while !over.load(Ordering::SeqCst) {
            tokio::task::yield_now().await;
        }
    }

    #[tokio::test]
    async fn the_answer_does_not_wait_for_what_goes_on_after_it() {
        let (gate, over) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicBool::new(false)));
        let (done, answer) = oneshot::channel();
        let answered = Lasting::new(working(gate.clone(), over.clone(), done, true), answer).await;
        assert_eq!(answered.ok(), Some(7));
        assert!(!over.load(Ordering::SeqCst));
        gate.notify_one();
        until_over(&over).await;
    }

    #[tokio::test]
    async fn who_leaves_stops_nothing() {
        let (gate, over) = (Arc::new(tokio::sync::Notify::new()), Arc::new(AtomicBool::new(false)));
        let (done, answer) = oneshot::channel();
        let mut lasting = Box::pin(Lasting::new(working(gate.clone(), over.clone(), done, false), answer));
        assert!(futures::poll!(&mut lasting).is_pending());
        drop(lasting);
        gate.notify_one();
        until_over(&over).await;
    }

    #[tokio::test]
    async fn a_panic_is_an_answer_that_is_missing() {
        let (done, answer) = oneshot::channel::<Result<u8, EngineError>>();
        let work: Work = Box::pin(async move {
            let _done = done;
            panic!("on purpose");
        });
        let answered = Lasting::new(work, answer).await;
        assert!(matches!(answered, Err(EngineError::Internal(_))));
    }
}

//! A run whose caller does not wait for its end.

use pleat_store::Change;
use tokio::sync::oneshot;

use super::Run;
use crate::answer::Prompt;
use crate::error::EngineError;
use crate::hub::Interrupt;

impl Run {
    /// A call whose caller waits for a moment only: what is not over by then is recorded and goes on. A caller that has
    /// left by then has cancelled it, where `leaving_cancels`.
    pub(crate) async fn prompt(
        mut self: Box<Self>,
        leaving_cancels: bool,
        done: oneshot::Sender<Result<Prompt, EngineError>>,
    ) {
        let mut call = Box::pin(self.call());
        if let Some(report) = self.early(&mut call).await {
            let _ = done.send(self.finish(report, Change::Insert).await.map(Prompt::Ended));
            return;
        }
        match self.record(Change::Insert).await {
            Ok(recorded) => {
                if done.send(Ok(Prompt::Going(recorded))).is_err() && leaving_cancels {
                    self.live.interrupt(Interrupt::Canceled);
                }
                let _ = self.follow_through(call).await;
            }
            Err(error) => {
                self.abandon(call).await;
                let _ = done.send(Err(error));
            }
        }
    }
}

//! The way onto the guests' threads, which the runtime keeps to itself: a call's host is dropped there.

use std::sync::mpsc;

use anyhow::Context as _;
use futures::future::BoxFuture;
use pleat_domain::LogLevel;
use pleat_domain::event::Progress;
use pleat_runtime::{Chunk, HostCalls, Silent};
use tokio::runtime::Handle;

use super::Subject;

/// The executor that the subject's calls run on.
pub(super) async fn handle(subject: &Subject) -> anyhow::Result<Handle> {
    let (sender, receiver) = mpsc::channel();
    subject.call(Box::new(Messenger(sender))).await;
    receiver.try_recv().context("the call's host was not dropped on a guest's thread")
}

struct Messenger(mpsc::Sender<Handle>);

impl Drop for Messenger {
    fn drop(&mut self) {
        if let Ok(handle) = Handle::try_current() {
            // Who asked is waiting for it.
            let _ = self.0.send(handle);
        }
    }
}

impl HostCalls for Messenger {
    fn log(&mut self, level: LogLevel, message: String) {
        Silent.log(level, message);
    }

    fn emit(&mut self, _: Chunk) -> BoxFuture<'_, ()> {
        Box::pin(std::future::ready(()))
    }

    fn progress(&mut self, progress: Progress) {
        Silent.progress(progress);
    }

    fn message(&mut self) -> String {
        Silent.message()
    }

    fn history(&mut self) -> Vec<String> {
        Silent.history()
    }

    fn state(&mut self) -> Option<String> {
        Silent.state()
    }

    fn reply(&mut self) -> Option<String> {
        Silent.reply()
    }
}

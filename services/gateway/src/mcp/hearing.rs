//! What a client hears while its call runs: as it is said on this node, and as it is recorded by another.

use futures::StreamExt;
use pleat_domain::EventBody;
use pleat_domain::event::Progress;
use pleat_engine::{Ear, EventStream, Said};
use tokio::sync::mpsc;

use super::exchange::Exchange;

/// Hears what is said during a call.
pub(super) struct Hearing {
    pub(super) ear: Ear,
    pub(super) said: mpsc::Receiver<Said>,
    /// For a stream that was lost: what is recorded of the task, wherever it runs. What is heard twice is told once.
    pub(super) recorded: Option<EventStream>,
    /// The progress that the client knows of.
    pub(super) told: Option<f64>,
}

impl Hearing {
    /// Somebody listens where there is something to hear and a stream to say it on.
    pub(super) fn of(exchange: &Exchange) -> Option<Self> {
        let logs = exchange.listed.as_ref().is_some_and(|skill| exchange.may_hear(skill));
        let wanted = exchange.streams && (logs || exchange.progress_token.is_some());
        wanted.then(|| {
            let (ear, said) = Ear::new();
            Self { ear, said, recorded: None, told: None }
        })
    }

    pub(super) async fn next(&mut self) -> Option<Said> {
        tokio::select! {
            biased;
            said = self.said.recv() => said,
            progress = recorded(&mut self.recorded) => Some(Said::Progress(progress)),
        }
    }
}

async fn recorded(events: &mut Option<EventStream>) -> Progress {
    while let Some(stream) = events {
        match stream.next().await {
            Some(Ok(event)) => {
                if let EventBody::Progress(progress) = &event.body {
                    return progress.clone();
                }
            }
            Some(Err(_)) | None => *events = None,
        }
    }
    std::future::pending().await
}

//! Being told to stop, from the first moment on: a signal that comes while the platform starts must not leave its
//! database behind.

use std::future::Future;

use tokio::signal::unix::{Signal, SignalKind, signal};

pub struct Signals {
    terminate: Signal,
    interrupt: Signal,
    told: bool,
}

impl Signals {
    /// From here on signals are noted and no longer end the process by themselves.
    pub fn listen() -> std::io::Result<Self> {
        let (terminate, interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        Ok(Self { terminate, interrupt, told: false })
    }

    /// Returns when a signal has come, also one that came earlier.
    pub async fn told_to_stop(&mut self) {
        if !self.told {
            self.next().await;
            self.told = true;
        }
    }

    /// Lets `work` go on to its end after a first signal, since half of it would leave things behind. `None`: a
    /// second signal came, from somebody who cannot wait.
    pub async fn bear<T>(&mut self, work: impl Future<Output = T>) -> Option<T> {
        let mut work = std::pin::pin!(work);
        loop {
            tokio::select! {
                done = &mut work => return Some(done),
                () = self.next() => {
                    if std::mem::replace(&mut self.told, true) {
                        return None;
                    }
                    tracing::info!("stopping as soon as the database has started; once more to stop at once");
                }
            }
        }
    }

    async fn next(&mut self) {
        tokio::select! {
            _ = self.terminate.recv() => {}
            _ = self.interrupt.recv() => {}
        }
    }
}

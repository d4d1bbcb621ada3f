//! The engine's side of the way back out of the sandbox.

use std::sync::Arc;

use futures::FutureExt;
use futures::future::BoxFuture;
use pleat_domain::event::Progress;
use pleat_domain::{LogLevel, LogLine, Raw, Task};
use pleat_runtime::{
    CallError, Chunk, HostCalls, HttpError, HttpRequest, HttpResponse, KeyPage, KvError, SecretError, Unavailable, Work,
};
use time::OffsetDateTime;

use crate::guarding::SharedWatch;
use crate::hub::{Interrupt, Live, lock};
use crate::invoke::first_message;
use crate::reach::Reach;
use crate::sink::Sink;

pub(crate) struct GuestHost {
    pub(crate) sink: Arc<Sink>,
    pub(crate) live: Arc<Live>,
    /// As it began. Its messages end with this turn's; none: the input says it all.
    pub(crate) task: Arc<Task>,
    pub(crate) state: Option<Raw>,
    /// What the caller's client answered.
    pub(crate) reply: Option<Raw>,
    pub(crate) watch: Option<SharedWatch>,
    pub(crate) reach: Reach,
}

impl HostCalls for GuestHost {
    fn log(&mut self, level: LogLevel, message: String) {
        let line = LogLine { at: OffsetDateTime::now_utc(), level, message };
        self.live.say(|ear| match &self.watch {
            Some(watch) => {
                let mut heard = line.clone();
                lock(watch).line(&mut heard.message);
                ear.log(&heard);
            }
            None => ear.log(&line),
        });
        self.sink.log(line);
    }

    fn emit(&mut self, chunk: Chunk) -> BoxFuture<'_, ()> {
        if !self.sink.emit(chunk) {
            self.live.interrupt(Interrupt::OutputOverflow);
        }
        let sink = Arc::clone(&self.sink);
        async move { sink.room().await }.boxed()
    }

    fn progress(&mut self, mut progress: Progress) {
        if let Some(watch) = &self.watch {
            lock(watch).progress(&mut progress);
        }
        self.live.say(|ear| ear.progress(&progress));
        self.sink.progress(progress);
    }

    /// Made when it is asked for: most functions look at their input only.
    fn message(&mut self) -> String {
        match self.task.history.last() {
            Some(message) => serde_json::to_string(message),
            None => serde_json::to_string(&first_message(self.task.id, &self.task.input)),
        }
        .unwrap_or_default()
    }

    fn history(&mut self) -> Vec<String> {
        let earlier = self.task.history.split_last().map_or(&[][..], |(_, earlier)| earlier);
        earlier.iter().filter_map(|message| serde_json::to_string(message).ok()).collect()
    }

    fn state(&mut self) -> Option<String> {
        self.state.as_ref().map(|state| state.get().to_owned())
    }

    fn reply(&mut self) -> Option<String> {
        self.reply.as_ref().map(|reply| reply.get().to_owned())
    }

    fn config(&mut self, name: String) -> Work<Result<Option<String>, Unavailable>> {
        self.reach.config(name)
    }

    fn secret(&mut self, name: String) -> Work<Result<String, SecretError>> {
        self.reach.secret(name)
    }

    fn value(&mut self, key: String) -> Work<Result<Option<Vec<u8>>, KvError>> {
        self.reach.value(key)
    }

    fn set_value(&mut self, key: String, value: Vec<u8>, ttl_seconds: Option<u32>) -> Work<Result<(), KvError>> {
        self.reach.set_value(key, value, ttl_seconds)
    }

    fn delete_value(&mut self, key: String) -> Work<Result<bool, KvError>> {
        self.reach.delete_value(key)
    }

    fn increment(&mut self, key: String, delta: i64) -> Work<Result<i64, KvError>> {
        self.reach.increment(key, delta)
    }

    fn list_keys(&mut self, prefix: String, cursor: Option<String>, limit: u32) -> Work<Result<KeyPage, KvError>> {
        self.reach.list_keys(prefix, cursor.as_deref(), limit)
    }

    fn call(&mut self, skill: String, input: Raw) -> Result<Work<Result<Raw, CallError>>, CallError> {
        self.reach.call(skill, input)
    }

    fn http(&mut self, request: HttpRequest) -> Result<Work<Result<HttpResponse, HttpError>>, HttpError> {
        Ok(self.reach.http(request))
    }
}

//! Guardrails at work on one task: what goes into its function and what comes out of it.
//!
//! One [`Watch`] goes with a task through all of it, so that the same value has the same placeholder everywhere. What it
//! finds is noted here and handed to [`crate::findings`]; what it blocks goes no further.

mod file_text;
mod files;
mod names;
mod noted;
mod patch;
#[cfg(test)]
mod tests;
mod texts;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use pleat_domain::event::Progress;
use pleat_domain::json::{self, Raw};
use pleat_domain::task::{Ask, GuardNotes};
use pleat_domain::{Artifact, Block, Failure, Message, Reason, Tenant};
use pleat_guardrails::{Action, Finding, Guard, Session, SharedNumbering, Side, Stream, Verdict};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::catalog::Callable;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::findings::Circumstances;
use crate::hub::lock;
use crate::invoke::{Invocation, StepOrigin};
use names::Names;
use noted::Noted;

/// The check that does not let something pass. All that a caller is told.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct BlockedBy(pub(crate) &'static str);

impl BlockedBy {
    pub(crate) fn failure(self) -> Failure {
        let text = format!("the guardrail `{}` does not let this output pass", self.0);
        Failure { code: Some(self.0.to_owned()), ..Failure::new(Reason::Blocked, text) }
    }
}

/// Shared by the run and by what its function puts out.
pub(crate) type SharedWatch = Arc<Mutex<Watch>>;

pub(crate) struct Watch {
    guard: Arc<Guard>,
    session: Session,
    /// Texts on their way, by artifact.
    streams: HashMap<String, Stream>,
    /// What artifacts are called.
    names: Names,
    noted: Noted,
    warnings: Vec<String>,
    blocked: Option<BlockedBy>,
}

impl Watch {
    fn new(guard: &Arc<Guard>, key: &[u8], notes: Option<&GuardNotes>) -> Self {
        let numbering = notes.and_then(|notes| notes.numbering.as_ref());
        let numbering = numbering.and_then(|kept| serde_json::from_str(kept.get()).ok()).unwrap_or_default();
        Self {
            guard: Arc::clone(guard),
            session: Session::resume(key, numbering),
            streams: HashMap::new(),
            names: Names::default(),
            noted: Noted::default(),
            warnings: notes.map(|notes| notes.warnings.clone()).unwrap_or_default(),
            blocked: None,
        }
    }

    pub(crate) fn shared(self) -> SharedWatch {
        Arc::new(Mutex::new(self))
    }

    /// It belongs to a run: what it numbers is numbered with the run's other tasks.
    pub(crate) fn number_with(&mut self, numbers: &SharedNumbering) {
        self.session.share(numbers);
    }

    /// What a function is called with. The message says the same as the input in another form, and more.
    pub(crate) fn input(&mut self, input: &mut Raw, message: Option<&mut Message>) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Input) {
            return Ok(());
        }
        match message {
            Some(message) => match texts::joined_in(input, message) {
                Some(place) => self.joined(input, &place, message),
                None => {
                    self.raw(Side::Input, input, "", false)?;
                    self.message(message)
                }
            },
            None => self.raw(Side::Input, input, "", false),
        }
    }

    pub(crate) fn message(&mut self, message: &mut Message) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Input) {
            return Ok(());
        }
        self.blocks(Side::Input, &mut message.content, "/message/content")?;
        self.readable(Side::Input, &mut message.metadata, "/message/metadata")?;
        match &mut message.request {
            Some(request) => self.readable(Side::Input, request, "/message/request"),
            None => Ok(()),
        }
    }

    /// The address of something that is to be read.
    pub(crate) fn uri(&mut self, uri: &mut String) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Input) { Ok(()) } else { self.readable(Side::Input, uri, "/uri") }
    }

    /// What a client answered.
    pub(crate) fn reply(&mut self, reply: &mut Raw) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Input) { Ok(()) } else { self.readable(Side::Input, reply, "/reply") }
    }

    /// A finished artifact.
    pub(crate) fn artifact(&mut self, artifact: &mut Artifact) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Output) {
            return Ok(());
        }
        let at = self.place_of(&artifact.name);
        match &mut artifact.value {
            Some(value) => self.raw(Side::Output, value, &at, false)?,
            None => self.measure(&artifact.blocks, &at)?,
        }
        self.blocks(Side::Output, &mut artifact.blocks, &at)
    }

    /// Words that go with a state: a question, or why it failed.
    pub(crate) fn words(&mut self, ask: Option<&mut Ask>, failure: Option<&mut Failure>) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Output) {
            return Ok(());
        }
        if let Some(ask) = ask {
            self.readable(Side::Output, &mut ask.prompt, "/status/message")?;
            self.readable(Side::Output, &mut ask.schema, "/status/schema")?;
            for request in ask.client.iter_mut().flat_map(|client| &mut client.requests) {
                self.readable(Side::Output, &mut request.params, "/status/request")?;
            }
        }
        if let Some(failure) = failure {
            self.readable(Side::Output, &mut failure.code, "/status/code")?;
            self.readable(Side::Output, &mut failure.message, "/status/message")?;
            self.readable(Side::Output, &mut failure.details, "/status/details")?;
            self.readable(Side::Output, &mut failure.detail, "/status/detail")?;
        }
        Ok(())
    }

    /// A note on the way. One that is blocked does not leave, and neither does anything after it.
    pub(crate) fn progress(&mut self, progress: &mut Progress) {
        if let Some(note) = &mut progress.note
            && self.passing(note, "/progress").is_err()
        {
            progress.note = None;
        }
    }

    /// A line of the log, for a caller who sees it.
    pub(crate) fn line(&mut self, line: &mut String) {
        if self.passing(line, "/log").is_err() {
            line.clear();
        }
    }

    fn passing(&mut self, text: &mut String, at: &str) -> Result<(), BlockedBy> {
        if self.guard.is_idle(Side::Output) { Ok(()) } else { self.readable(Side::Output, text, at) }
    }

    /// Whether output is kept to its end.
    pub(crate) fn holds(&self) -> bool {
        self.guard.holds(Side::Output)
    }

    /// What may leave now of a chunk of an artifact. Behind what is blocked nothing does.
    pub(crate) fn chunk(&mut self, name: &str, blocks: Vec<Block>, last: bool) -> Vec<Block> {
        if self.guard.is_idle(Side::Output) {
            return blocks;
        }
        if self.blocked.is_some() {
            return Vec::new();
        }
        let mut leaving = Vec::new();
        for block in blocks {
            match block {
                Block::Text { text, mut extra } => {
                    if !extra.is_empty() && self.readable(Side::Output, &mut extra, &self.place_of(name)).is_err() {
                        continue;
                    }
                    let stream = self.streams.entry(name.to_owned());
                    let stream = stream.or_insert_with(|| self.guard.stream(Side::Output));
                    let text = stream.push(&text, &mut self.session);
                    if !text.is_empty() || !extra.is_empty() {
                        leaving.push(Block::Text { text, extra });
                    }
                }
                // In its place: what is held back of the text before it goes first.
                other => {
                    let held = self.streams.get_mut(name).map(|stream| stream.interrupt(&mut self.session));
                    leaving.extend(held.filter(|text| !text.is_empty()).map(Block::text));
                    let mut one = vec![other];
                    if self.blocks(Side::Output, &mut one, &self.place_of(name)).is_ok() {
                        leaving.append(&mut one);
                    }
                }
            }
        }
        if last {
            leaving.extend(self.end_of(name));
        }
        leaving
    }

    /// What is left of the texts that have not ended.
    pub(crate) fn rests(&mut self) -> Vec<(String, Block)> {
        let mut names: Vec<String> = self.streams.keys().cloned().collect();
        names.sort_unstable();
        names.into_iter().filter_map(|name| self.end_of(&name).map(|rest| (name, rest))).collect()
    }

    fn end_of(&mut self, name: &str) -> Option<Block> {
        let (rest, mut verdict) = self.streams.remove(name)?.finish(&mut self.session);
        let at = self.place_of(name);
        for finding in &mut verdict.findings {
            finding.pointer.insert_str(0, &at);
        }
        // What has left has left: here a check can only stop what follows.
        let blocked = self.note(Side::Output, verdict, false).is_err();
        (!blocked && !rest.is_empty()).then(|| Block::text(rest))
    }

    /// Whether something was blocked on the way.
    pub(crate) const fn blocked(&self) -> Option<BlockedBy> {
        self.blocked
    }

    /// What was found since the last time.
    pub(crate) fn take_noted(&mut self) -> Vec<(Side, Finding)> {
        self.noted.take()
    }

    /// What is kept with the task; nothing where there is nothing to say.
    pub(crate) fn notes(&self) -> Option<GuardNotes> {
        let numbering = json::raw(self.session.numbering());
        let numbering = self.session.has_numbered().then_some(numbering);
        (numbering.is_some() || !self.warnings.is_empty())
            .then(|| GuardNotes { warnings: self.warnings.clone(), numbering })
    }

    /// A value as it is: everything is checked, also what is said of it as a whole.
    fn raw(&mut self, side: Side, raw: &mut Raw, at: &str, again: bool) -> Result<(), BlockedBy> {
        let Ok(mut value) = serde_json::from_str::<Value>(raw.get()) else {
            return self.judge(side, self.guard.unread(side), at, again).map(drop);
        };
        let verdict = self.guard.inspect(side, &mut value, &mut self.session);
        if self.judge(side, verdict, at, again)? {
            *raw = patch::patched(raw, &value);
        }
        Ok(())
    }

    /// What is said of blocks as a whole is said of the text that they are, if they are one.
    fn measure(&mut self, blocks: &[Block], at: &str) -> Result<(), BlockedBy> {
        let value = match blocks {
            [Block::Text { text, .. }] => Value::String(text.clone()),
            blocks => serde_json::to_value(blocks).unwrap_or_default(),
        };
        let verdict = self.guard.weigh(Side::Output, &value);
        self.judge(Side::Output, verdict, at, false).map(drop)
    }

    /// Texts, keys and numbers of something that is JSON. What cannot be put together again is blocked.
    fn readable<T: Serialize + DeserializeOwned>(
        &mut self,
        side: Side,
        what: &mut T,
        at: &str,
    ) -> Result<(), BlockedBy> {
        let mut value = serde_json::to_value(&*what).unwrap_or_default();
        let verdict = self.guard.read(side, &mut value, &mut self.session);
        let first = verdict.findings.first().map(|finding| finding.check.name());
        if self.judge(side, verdict, at, true)? {
            let written = patch::patched(&json::raw(&*what), &value);
            let read = serde_json::from_str(written.get());
            *what = read.map_err(|_| self.stop(BlockedBy(first.unwrap_or("unicode"))))?;
        }
        Ok(())
    }

    /// Notes a verdict; whether something was redacted.
    fn judge(&mut self, side: Side, mut verdict: Verdict, at: &str, again: bool) -> Result<bool, BlockedBy> {
        for finding in &mut verdict.findings {
            finding.pointer.insert_str(0, at);
        }
        let redacted = verdict.action == Some(Action::Redact);
        self.note(side, verdict, again)?;
        Ok(redacted)
    }

    /// `again`: what was noted of the same value in another form is not noted twice.
    fn note(&mut self, side: Side, verdict: Verdict, again: bool) -> Result<(), BlockedBy> {
        for warning in verdict.warnings() {
            if !self.warnings.iter().any(|known| known == warning) {
                self.warnings.push(warning.to_owned());
            }
        }
        let blocked = verdict.blocked_by();
        for finding in verdict.findings {
            self.noted.add(side, finding, again);
        }
        blocked.map_or(Ok(()), |check| Err(self.stop(BlockedBy(check))))
    }

    fn stop(&mut self, by: BlockedBy) -> BlockedBy {
        *self.blocked.get_or_insert(by)
    }
}

impl Engine {
    /// Whoever watches a task of this tenant. `None`: there is nothing to watch.
    pub(crate) fn watch(&self, tenant: &Tenant, guard: &Arc<Guard>, notes: Option<&GuardNotes>) -> Option<Watch> {
        let idle = guard.is_idle(Side::Input) && guard.is_idle(Side::Output);
        (!idle).then(|| Watch::new(guard, &self.guard_key(tenant.id), notes))
    }

    /// Looks at a call before anything comes of it. `step`: the step of a run that it is.
    pub(crate) fn look_at_call(
        &self,
        invocation: &mut Invocation,
        step: Option<&StepOrigin>,
    ) -> Result<Option<SharedWatch>, EngineError> {
        let Invocation { tenant, principal, skill: Callable(skill), input, message, door, .. } = invocation;
        let Some(mut watch) = self.watch(tenant, &skill.guard, None) else { return Ok(None) };
        let task = step.map(|step| step.id);
        step.iter().for_each(|step| watch.number_with(&step.numbers));
        let (skill, caller) = (skill.name.as_str(), &principal.caller());
        let of = Circumstances { tenant, task, skill, caller, door: *door };
        self.look_at_input(Some(watch), &of, |watch| watch.input(input, message.as_mut()))
    }

    /// Looks at what comes in. Of what is blocked there is nothing but what was found.
    pub(crate) fn look_at_input(
        &self,
        watch: Option<Watch>,
        of: &Circumstances<'_>,
        look: impl FnOnce(&mut Watch) -> Result<(), BlockedBy>,
    ) -> Result<Option<SharedWatch>, EngineError> {
        let Some(mut watch) = watch else { return Ok(None) };
        match look(&mut watch) {
            Ok(()) => Ok(Some(watch.shared())),
            Err(BlockedBy(check)) => {
                self.inner.findings.add(of, watch.take_noted());
                Err(EngineError::Guarded(check))
            }
        }
    }

    /// Hands on what was found so far, whatever becomes of the task: it may end at another node.
    pub(crate) fn keep_findings(&self, watch: Option<&SharedWatch>, of: &Circumstances<'_>) {
        if let Some(watch) = watch {
            self.inner.findings.add(of, lock(watch).take_noted());
        }
    }
}

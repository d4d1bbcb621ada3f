//! Idempotency keys: a send that is repeated, because its answer was lost on the way, happens once.
//!
//! A key belongs to its caller. Nobody without a name has any, since a key that somebody else chose could be guessed.

use std::sync::Arc;

use pleat_domain::{Caller, Message, Raw, TenantId, json};
use pleat_store::{Once, Sent};
use sha2::{Digest, Sha256};

use crate::choice::Question;
use crate::engine::Engine;
use crate::error::EngineError;
use crate::invoke::{Begun, Invocation, Turn};
use crate::subscribe::{Until, one_turn};

/// A key that a client chose: 1 to 255 visible ASCII characters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct IdempotencyKey(String);

impl IdempotencyKey {
    pub fn parse(text: &str) -> Result<Self, EngineError> {
        let fits = (1..=255).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_graphic());
        let bad = || EngineError::Invalid("`Idempotency-Key` must be 1 to 255 visible ASCII characters".to_owned());
        if fits { Ok(Self(text.to_owned())) } else { Err(bad()) }
    }
}

impl IdempotencyKey {
    /// Of a caller who asked for each of its messages to count once, by their ids. No header can say the same: the
    /// space is not a visible character.
    pub fn of_message(id: &str) -> Self {
        Self(format!("message {}", hex::encode(Sha256::digest(id.as_bytes()))))
    }
}

/// What tells a repeated send from another one.
#[derive(Debug, Clone)]
pub(crate) struct Repeat {
    caller: Caller,
    pub(crate) once: Once,
}

impl Repeat {
    pub(crate) fn of(invocation: &Invocation) -> Option<Self> {
        let key = invocation.once.as_ref()?;
        let context = invocation.context.as_ref().map(pleat_domain::ContextId::as_str).unwrap_or_default();
        let content = invocation.message.as_ref().map(content_of);
        let (input, content) = match &content {
            Some(content) => ("", content.get()),
            None => (invocation.input.get(), ""),
        };
        let sent = [invocation.skill.0.name.as_str(), context, input, content];
        Some(Self::new(invocation.principal.caller(), key, &sent))
    }

    pub(crate) fn of_turn(turn: &Turn) -> Option<Self> {
        let key = turn.once.as_ref()?;
        let task = turn.task.id.to_string();
        let content = content_of(&turn.message);
        Some(Self::new(turn.principal.caller(), key, &["", &task, content.get()]))
    }

    pub(crate) fn of_question(question: &Question) -> Option<Self> {
        let key = question.once.as_ref()?;
        let context = question.context.as_ref().map(pleat_domain::ContextId::as_str).unwrap_or_default();
        let content = content_of(&question.message);
        Some(Self::new(question.principal.caller(), key, &["", context, content.get()]))
    }

    fn new(caller: Caller, key: &IdempotencyKey, sent: &[&str]) -> Self {
        let mut hasher = Sha256::new();
        for part in sent {
            hasher.update((part.len() as u64).to_be_bytes());
            hasher.update(part.as_bytes());
        }
        Self { caller, once: Once { key: key.0.clone(), fingerprint: hasher.finalize().into() } }
    }
}

/// What a message says, and not the input that it became: files are in it too, and how a text is read depends on what was
/// asked, which is another thing when it is sent again. Its id and its metadata may differ each time.
fn content_of(message: &Message) -> Raw {
    json::raw(&message.content)
}

impl Engine {
    /// An equal send under the same key.
    pub(crate) async fn sent_before(&self, invocation: &Invocation) -> Result<Option<Sent>, EngineError> {
        let Some(repeat) = Repeat::of(invocation) else { return Ok(None) };
        if repeat.caller.is_anonymous() {
            return Err(needs_a_name());
        }
        self.find_send(invocation.tenant.id, &repeat).await
    }

    /// An equal message that has continued its task under the same key.
    pub(crate) async fn turn_before(
        &self,
        tenant: TenantId,
        repeat: Option<&Repeat>,
    ) -> Result<Option<Sent>, EngineError> {
        match repeat {
            Some(repeat) if !repeat.caller.is_anonymous() => self.find_send(tenant, repeat).await,
            Some(_) => Err(needs_a_name()),
            None => Ok(None),
        }
    }

    /// The same for a send that turned out to be the second while it was recorded.
    pub(crate) async fn first_send(&self, tenant: TenantId, repeat: Option<Repeat>) -> Result<Sent, EngineError> {
        let repeat = repeat.ok_or(EngineError::Repeated)?;
        self.find_send(tenant, &repeat).await?.ok_or(EngineError::Repeated)
    }

    async fn find_send(&self, tenant: TenantId, repeat: &Repeat) -> Result<Option<Sent>, EngineError> {
        let sent = self.inner.store.tenant(tenant).sent(&repeat.caller, &repeat.once.key).await?;
        match sent {
            Some(sent) if sent.fingerprint != repeat.once.fingerprint => Err(EngineError::KeyReused),
            sent => Ok(sent),
        }
    }

    /// What was sent before, with the events of its own turn, whatever has become of the task since.
    pub(crate) async fn rejoin(&self, tenant: TenantId, sent: Sent) -> Result<Begun, EngineError> {
        let Sent { task: id, after, .. } = sent;
        let task = self.inner.store.tenant(tenant).task(id, None).await?.ok_or(EngineError::TaskNotFound)?;
        let events = one_turn(self.follow(tenant, id, after, None, Until::TurnEnds));
        Ok(Begun { task: Arc::new(task), after, events })
    }
}

fn needs_a_name() -> EngineError {
    let text = "`Idempotency-Key` needs a key of the tenant: without one, nobody can tell who sent it first";
    EngineError::Invalid(text.to_owned())
}

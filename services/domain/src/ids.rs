//! Identifiers that cannot be mistaken for one another, with their one textual form.

use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use time::OffsetDateTime;
use uuid::Uuid;

/// A task: UUIDv7, so that the id orders by time and names its own partition.
/// On the wire it is `task_` followed by 32 lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId(Uuid);

impl TaskId {
    /// A new id for this moment.
    #[expect(clippy::new_without_default, reason = "every call gives another id")]
    pub fn new() -> Self {
        Self(Uuid::now_v7())
    }

    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    pub const fn as_uuid(&self) -> Uuid {
        self.0
    }

    /// When the id was made, to the millisecond; `None` for an id that is not a UUIDv7.
    pub fn created_at(&self) -> Option<OffsetDateTime> {
        let (seconds, nanos) = self.0.get_timestamp()?.to_unix();
        let whole = OffsetDateTime::from_unix_timestamp(i64::try_from(seconds).ok()?).ok()?;
        Some(whole + time::Duration::nanoseconds(i64::from(nanos)))
    }
}

impl fmt::Display for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        // In one piece: text that grows is allocated more than once, and ids are written with every answer.
        with_prefix(b"task_", self.0, |text| formatter.write_str(text))
    }
}

impl fmt::Debug for TaskId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, formatter)
    }
}

/// The text is no task id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a task id is `task_` and 32 hex digits")]
pub struct BadTaskId;

impl FromStr for TaskId {
    type Err = BadTaskId;

    fn from_str(text: &str) -> Result<Self, BadTaskId> {
        let digits = text.strip_prefix("task_").ok_or(BadTaskId)?;
        let plain = digits.len() == 32 && digits.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        if !plain {
            return Err(BadTaskId);
        }
        Uuid::try_parse(digits).map(Self).map_err(|_| BadTaskId)
    }
}

/// A session of the Model Context Protocol: 128 random bits, which whoever makes it provides. On the wire it is 32
/// lower-case hex digits.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
pub struct SessionId(Uuid);

impl SessionId {
    pub const fn from_random(bytes: [u8; 16]) -> Self {
        Self(Uuid::from_bytes(bytes))
    }

    pub const fn from_uuid(uuid: Uuid) -> Self {
        Self(uuid)
    }

    pub const fn as_uuid(&self) -> Uuid {
        self.0
    }

    /// `None`: no id that was ever given out.
    pub fn parse(text: &str) -> Option<Self> {
        let plain = text.len() == 32 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        Uuid::try_parse(text).ok().filter(|_| plain).map(Self)
    }
}

impl fmt::Display for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}", self.0.simple())
    }
}

/// Whoever knows it can use it together with its key: not for logs.
impl fmt::Debug for SessionId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("SessionId(…)")
    }
}

impl Serialize for TaskId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for TaskId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = std::borrow::Cow::<str>::deserialize(deserializer)?;
        text.parse().map_err(serde::de::Error::custom)
    }
}

/// Groups tasks of one conversation. Clients may choose it; at most 256 bytes, no control characters.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ContextId(Arc<str>);

/// The text cannot be a context id.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a context id has 1 to 256 bytes and no control characters")]
pub struct BadContextId;

impl ContextId {
    /// A fresh context, for a message that names none.
    pub fn fresh() -> Self {
        Self(Uuid::now_v7().simple().to_string().into())
    }

    /// The context a task is in when its message names none: derived from the task, so that nothing is stored twice.
    pub fn of_task(task: TaskId) -> Self {
        with_prefix(b"ctx_", task.as_uuid(), |text| Self(text.into()))
    }

    /// Whether it is the one that follows from the task.
    pub fn is_of_task(&self, task: TaskId) -> bool {
        with_prefix(b"ctx_", task.as_uuid(), |text| *self.0 == *text)
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for ContextId {
    type Error = BadContextId;

    fn try_from(text: String) -> Result<Self, BadContextId> {
        let fits = !text.is_empty() && text.len() <= 256 && !text.chars().any(char::is_control);
        if fits { Ok(Self(text.into())) } else { Err(BadContextId) }
    }
}

impl From<ContextId> for String {
    fn from(context: ContextId) -> Self {
        context.0.as_ref().to_owned()
    }
}

/// The text of an id: a short prefix and 32 hex digits.
fn with_prefix<T>(prefix: &[u8], id: Uuid, then: impl FnOnce(&str) -> T) -> T {
    let mut text = [0; 40];
    let length = prefix.len() + uuid::fmt::Simple::LENGTH;
    if let Some((head, rest)) = text.split_at_mut_checked(prefix.len()) {
        head.copy_from_slice(prefix);
        id.simple().encode_lower(rest);
    }
    then(text.get(..length).and_then(|text| std::str::from_utf8(text).ok()).unwrap_or_default())
}

/// The SHA-256 of what was deployed: versions are immutable and content-addressed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct VersionHash([u8; 32]);

impl VersionHash {
    /// The language is part of the content: the same bytes as JavaScript and as WAT are two things.
    pub fn of(language: &str, source: &[u8]) -> Self {
        let mut hasher = Sha256::new();
        hasher.update(language.as_bytes());
        hasher.update([0]);
        hasher.update(source);
        Self(hasher.finalize().into())
    }

    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    pub const fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }

    pub fn to_hex(&self) -> String {
        hex::encode(self.0)
    }

    /// The form people read: the first twelve digits.
    pub fn short(&self) -> String {
        let mut text = self.to_hex();
        text.truncate(12);
        text
    }
}

impl fmt::Debug for VersionHash {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.short())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_id_reads_back_what_it_prints() {
        let id = TaskId::new();
        assert_eq!(id.to_string().parse(), Ok(id));
        assert!(id.created_at().is_some());
    }

    #[test]
    fn a_task_id_has_one_spelling_only() {
        let id = TaskId::new().to_string();
        for bad in [id.to_uppercase(), id.replace("task_", ""), format!("{id}0"), "task_".into()] {
            assert_eq!(bad.parse::<TaskId>(), Err(BadTaskId), "{bad}");
        }
    }

    #[test]
    fn a_version_depends_on_the_language_too() {
        assert_ne!(VersionHash::of("js", b"x"), VersionHash::of("wat", b"x"));
    }
}

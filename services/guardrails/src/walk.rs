//! Every text of a value: strings, keys and numbers at every depth, and texts that belong together joined.

mod joined;

use serde_json::{Map, Number, Value};

use crate::analysis::{Plan, Spot};
use crate::kind::Kinds;
use crate::lexicon::Classes;
use crate::lexicon::class::TOXIC;
use crate::policy::Action;
use crate::redact::{self, Clusters};
use crate::scan::hint as hint_of;
use crate::session::Session;
use crate::work::Work;

/// Values that are nested deeper cannot come from outside, and are not looked at.
const DEEPEST: usize = 200;
/// Shorter words hold no key, no address and nothing encoded.
const SHORTEST_KEY: usize = 16;
/// Numbers smaller than this can be nothing but numbers, unless somebody has a pattern for them.
const SMALLEST: f64 = 100_000.0;

/// What a text is in its value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Text,
    Key,
    Number,
}

/// A text in which something was found.
#[derive(Debug)]
pub(crate) struct Leaf {
    pub(crate) pointer: String,
    pub(crate) place: Place,
    pub(crate) text: String,
    pub(crate) spots: Vec<Spot>,
}

/// What was found in a value.
pub(crate) struct Walked {
    /// The texts in which something was found.
    pub(crate) leaves: Vec<Leaf>,
    /// False: some of it is too deep to be looked at.
    pub(crate) complete: bool,
    pub(crate) work: Work,
}

pub(crate) fn leaves(plan: &Plan, value: &Value) -> Walked {
    let (path, leaves, work) = (Vec::new(), Vec::new(), Work::default());
    let mut walk = Walk { plan, path, leaves, complete: true, suspicions: 0, work };
    walk.value(value, 0);
    Walked { leaves: walk.leaves, complete: walk.complete, work: walk.work }
}

/// One step from a value to one inside it.
#[derive(Debug, Clone, Copy)]
enum Step<'a> {
    Key(&'a str),
    Index(usize),
}

struct Walk<'a, 'p> {
    plan: &'p Plan,
    path: Vec<Step<'a>>,
    leaves: Vec<Leaf>,
    complete: bool,
    /// Texts with words that injections begin with.
    suspicions: usize,
    work: Work,
}

impl<'a> Walk<'a, '_> {
    fn value(&mut self, value: &'a Value, hint: Classes) {
        if self.path.len() > DEEPEST {
            self.complete = false;
            return;
        }
        match value {
            Value::Null | Value::Bool(_) => {}
            Value::String(text) => self.text(text, hint, Place::Text),
            Value::Number(number) => self.number(number, hint),
            Value::Array(items) => {
                let (first, before) = (self.leaves.len(), self.suspicions);
                for (at, item) in items.iter().enumerate() {
                    self.path.push(Step::Index(at));
                    self.value(item, hint);
                    self.path.pop();
                }
                self.joined(items, first, self.suspicions > before);
            }
            Value::Object(members) => {
                for (key, member) in members {
                    self.path.push(Step::Key(key));
                    let said = hint_of(key);
                    self.key(key, said);
                    self.value(member, said);
                    self.path.pop();
                }
            }
        }
    }

    fn text(&mut self, text: &str, hint: Classes, place: Place) {
        let (spots, suspicious) = self.plan.spots_of(self.plan.kinds, text, hint, &mut self.work);
        self.suspicions += usize::from(suspicious);
        self.found(text, place, spots);
    }

    /// Most keys are a plain word, which only a lexicon could take exception to.
    fn key(&mut self, key: &str, said: Classes) {
        let plain = key.len() < SHORTEST_KEY && key.bytes().all(|byte| byte.is_ascii_alphabetic());
        if !plain || said & TOXIC != 0 {
            self.text(key, 0, Place::Key);
        } else if self.plan.pieces {
            let (spots, _) = self.plan.spots_of(Kinds::NONE, key, 0, &mut self.work);
            self.found(key, Place::Key, spots);
        }
    }

    fn found(&mut self, text: &str, place: Place, spots: Vec<Spot>) {
        if !spots.is_empty() {
            self.leaves.push(Leaf { pointer: self.pointer(), place, text: text.to_owned(), spots });
        }
    }

    fn number(&mut self, number: &Number, hint: Classes) {
        let size = number.as_f64().unwrap_or(f64::MAX).abs();
        if size < SMALLEST && !self.plan.pieces {
            return;
        }
        // A fraction that is none is read as the whole number that it means.
        let text = match number.as_f64() {
            Some(value) if number.is_f64() && value.fract() == 0.0 && size < 1e20 => format!("{value:.0}"),
            _ => number.to_string(),
        };
        self.text(&text, hint, Place::Number);
    }

    fn pointer(&self) -> String {
        let mut pointer = String::new();
        for step in &self.path {
            pointer.push('/');
            match step {
                Step::Key(key) => pointer.push_str(&escape(key)),
                Step::Index(at) => pointer.push_str(&at.to_string()),
            }
        }
        pointer
    }
}

/// A key as JSON pointers write it.
pub(crate) fn escape(key: &str) -> String {
    if key.contains(['~', '/']) { key.replace('~', "~0").replace('/', "~1") } else { key.to_owned() }
}

/// Redacts what is to be. Texts get placeholders; a number becomes `0`, so that it stays a number; a key becomes its
/// placeholder and keeps its value.
pub(crate) fn rewrite(value: &mut Value, found: &[(Leaf, Clusters)], session: &mut Session) {
    let redacted = |clusters: &Clusters| clusters.enforced.iter().any(|cluster| cluster.action == Action::Redact);
    let changed = found.iter().filter(|(_, clusters)| redacted(clusters));
    // Keys last and from the end: a key that has changed no longer leads to what is below it.
    let (keys, values): (Vec<_>, Vec<_>) = changed.partition(|(leaf, _)| leaf.place == Place::Key);
    for (leaf, clusters) in values {
        let Some(place) = value.pointer_mut(&leaf.pointer) else { continue };
        match place {
            Value::Number(number) => *number = Number::from(0),
            Value::String(text) => *text = redact::replaced(text, &clusters.enforced, session),
            _ => {}
        }
    }
    for (leaf, clusters) in keys.into_iter().rev() {
        let name = redact::replaced(&leaf.text, &clusters.enforced, session);
        let parent = leaf.pointer.rsplit_once('/').map_or("", |(parent, _)| parent);
        if let Some(Value::Object(members)) = value.pointer_mut(parent) {
            rename(members, &leaf.text, &name);
        }
    }
}

/// Gives a member another name, in its place. Where the name is taken it gets a number.
fn rename(members: &mut Map<String, Value>, old: &str, name: &str) {
    let mut unique = name.to_owned();
    let mut number = 2;
    while members.contains_key(&unique) && unique != old {
        unique = format!("{name}_{number}");
        number += 1;
    }
    let all = std::mem::take(members);
    members.extend(all.into_iter().map(|(key, value)| if key == old { (unique.clone(), value) } else { (key, value) }));
}

/// Words that a value has at the most: each takes a character and a space.
pub(crate) fn most_tokens(value: &Value) -> usize {
    match value {
        Value::String(text) => text.len().div_ceil(2),
        Value::Array(items) => items.iter().map(most_tokens).sum(),
        Value::Object(members) => members.values().map(most_tokens).sum(),
        Value::Number(_) | Value::Bool(_) => 1,
        Value::Null => 0,
    }
}

/// The words of a value, counted by the space between them, up to a little more than a limit.
pub(crate) fn tokens(value: &Value, limit: usize) -> usize {
    let below = |values: &mut dyn Iterator<Item = &Value>| {
        values.fold(0_usize, |sum, one| if sum > limit { sum } else { sum + tokens(one, limit) })
    };
    match value {
        Value::String(text) => text.split_whitespace().take(limit.saturating_add(1)).count(),
        Value::Array(items) => below(&mut items.iter()),
        Value::Object(members) => below(&mut members.values()),
        Value::Number(_) | Value::Bool(_) => 1,
        Value::Null => 0,
    }
}

/// Bytes that a value has at the most: an escaped character takes six.
pub(crate) fn most_bytes(value: &Value) -> usize {
    match value {
        Value::String(text) => 6 * text.len() + 3,
        Value::Array(items) => items.iter().map(|item| most_bytes(item) + 1).sum::<usize>() + 2,
        Value::Object(members) => {
            members.iter().map(|(key, member)| 6 * key.len() + most_bytes(member) + 4).sum::<usize>() + 2
        }
        Value::Number(_) => 32,
        Value::Bool(_) | Value::Null => 5,
    }
}

/// The bytes of a value: of a text its own, else those of its JSON.
pub(crate) fn size(value: &Value, limit: usize) -> usize {
    match value {
        Value::String(text) => text.len(),
        other => {
            let mut counter = Counter { bytes: 0, limit };
            // Counting stops with an error when there is nothing more to learn.
            let _ = serde_json::to_writer(&mut counter, other);
            counter.bytes
        }
    }
}

struct Counter {
    bytes: usize,
    limit: usize,
}

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.bytes += bytes.len();
        if self.bytes > self.limit { Err(std::io::ErrorKind::Other.into()) } else { Ok(bytes.len()) }
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

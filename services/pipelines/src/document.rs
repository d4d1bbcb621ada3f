//! A text as a tree that remembers where everything stands, whether it was YAML or JSON.
//!
//! Bounded before anything is built: length, depth, number of values. A key that occurs twice is a fault, because two
//! readers could disagree about what it says.

mod json;
mod yaml;

use std::collections::HashSet;

use serde_json::{Map, Number, Value};

use crate::fault::{Position, Report, below, quoted};
use crate::limits;

#[derive(Debug, Clone)]
pub(crate) struct Node {
    pub(crate) at: Position,
    pub(crate) data: Data,
}

#[derive(Debug, Clone)]
pub(crate) enum Data {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<Member>),
}

#[derive(Debug, Clone)]
pub(crate) struct Member {
    pub(crate) key: String,
    pub(crate) at: Position,
    pub(crate) value: Node,
}

/// Why reading ends before the end of the text.
struct Broken {
    at: Position,
    message: String,
    hint: &'static str,
}

/// The tree, unless the text has none: then the report says why.
pub(crate) fn read(text: &str, report: &mut Report) -> Option<Node> {
    if text.len() > limits::TEXT {
        let message = format!("the definition has {} bytes, the most is {}", text.len(), limits::TEXT);
        report.fault(Position::START, "", message, "split it into pipelines that call each other");
        return None;
    }
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let read = if text.trim_start().starts_with('{') {
        // What begins like JSON and is none may still be YAML; if it is neither, the JSON reader's words are meant.
        json::read(text).or_else(|broken| yaml::read(text).map_err(|_| broken))
    } else {
        yaml::read(text)
    };
    match read {
        Ok(mut node) => {
            node.drop_doubled("", report);
            Some(node)
        }
        Err(Broken { at, message, hint }) => {
            report.fault(at, "", message, hint);
            None
        }
    }
}

impl Node {
    /// Where the value of this pointer stands, or the nearest one above that is there.
    pub(crate) fn position(&self, pointer: &str) -> Position {
        let mut node = self;
        for part in pointer.split('/').skip(1) {
            match node.child(&part.replace("~1", "/").replace("~0", "~")) {
                Some(child) => node = child,
                None => break,
            }
        }
        node.at
    }

    /// Whether there is a value of exactly this pointer.
    pub(crate) fn has(&self, pointer: &str) -> bool {
        let mut parts = pointer.split('/').skip(1);
        parts.try_fold(self, |node, part| node.child(&part.replace("~1", "/").replace("~0", "~"))).is_some()
    }

    fn child(&self, key: &str) -> Option<&Self> {
        match &self.data {
            Data::Object(members) => members.iter().find(|member| member.key == key).map(|member| &member.value),
            Data::List(items) => items.get(key.parse::<usize>().ok()?),
            _ => None,
        }
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.data {
            Data::Null => Value::Null,
            Data::Bool(value) => Value::Bool(*value),
            Data::Number(number) => Value::Number(number.clone()),
            Data::Text(text) => Value::String(text.clone()),
            Data::List(items) => Value::Array(items.iter().map(Self::to_value).collect()),
            Data::Object(members) => {
                let entries = members.iter().map(|member| (member.key.clone(), member.value.to_value()));
                Value::Object(entries.collect::<Map<_, _>>())
            }
        }
    }

    /// What it is, as a message names it.
    pub(crate) const fn kind(&self) -> &'static str {
        match self.data {
            Data::Null => "nothing",
            Data::Bool(_) => "true or false",
            Data::Number(_) => "a number",
            Data::Text(_) => "text",
            Data::List(_) => "a list",
            Data::Object(_) => "an object",
        }
    }

    /// How many values it is, and how deep.
    fn measure(&self) -> (usize, usize) {
        let below = |nodes: &mut dyn Iterator<Item = &Self>| {
            let sum = |(count, depth): (usize, usize), (more, deep)| (count + more, depth.max(deep));
            let (count, depth) = nodes.map(Self::measure).fold((0, 0), sum);
            (count + 1, depth + 1)
        };
        match &self.data {
            Data::List(items) => below(&mut items.iter()),
            Data::Object(members) => below(&mut members.iter().map(|member| &member.value)),
            _ => (1, 0),
        }
    }

    /// The first of equal keys stays, so that what is under it is looked at too.
    fn drop_doubled(&mut self, pointer: &str, report: &mut Report) {
        match &mut self.data {
            Data::Object(members) => {
                let mut seen = HashSet::new();
                members.retain(|member| {
                    let new = seen.insert(member.key.clone());
                    if !new {
                        let message = format!("the key {} occurs twice in one object", quoted(&member.key));
                        report.fault(member.at, below(pointer, &member.key), message, "keep one of the two");
                    }
                    new
                });
                for member in members {
                    member.value.drop_doubled(&below(pointer, &member.key), report);
                }
            }
            Data::List(items) => {
                for (index, item) in items.iter_mut().enumerate() {
                    item.drop_doubled(&below(pointer, index), report);
                }
            }
            _ => {}
        }
    }
}

fn too_deep(at: Position) -> Broken {
    let message = format!("nested more than {} deep", limits::DEPTH);
    Broken { at, message, hint: "write it flatter" }
}

fn too_many(at: Position) -> Broken {
    let message = format!("more than {} values", limits::VALUES);
    Broken { at, message, hint: "split it into pipelines that call each other; aliases count as what they stand for" }
}

#[cfg(test)]
mod tests;

//! Single values of the kinds that fields have.

use std::ops::RangeInclusive;
use std::time::Duration;

use serde_json::Value;

use crate::condition::Condition;
use crate::document::{Data, Node};
use crate::duration;
use crate::fault::{Report, below, quoted};
use crate::mapping::Mapping;
use crate::reading::Wanted;

pub(super) fn text<'a>(node: &'a Node, pointer: &str, what: &str, report: &mut Report) -> Option<&'a str> {
    match &node.data {
        Data::Text(text) => Some(text),
        _ => {
            report.fault(node.at, pointer, format!("{what} is text, this is {}", node.kind()), "put it in quotes");
            None
        }
    }
}

pub(super) fn list<'a>(node: &'a Node, pointer: &str, what: &str, report: &mut Report) -> Option<&'a [Node]> {
    match &node.data {
        Data::List(items) => Some(items),
        _ => {
            report.fault(
                node.at,
                pointer,
                format!("{what} is a list, this is {}", node.kind()),
                "begin each entry with `-`",
            );
            None
        }
    }
}

pub(super) fn integer(node: &Node, pointer: &str, range: RangeInclusive<u64>, report: &mut Report) -> Option<u64> {
    let number = match &node.data {
        Data::Number(number) => number.as_u64(),
        _ => None,
    };
    let fits = number.filter(|number| range.contains(number));
    if fits.is_none() {
        let message = format!("this is a whole number from {} to {}", range.start(), range.end());
        report.fault(node.at, pointer, message, "write such a number, without quotes");
    }
    fits
}

pub(super) fn duration(node: &Node, pointer: &str, most: Duration, report: &mut Report) -> Option<Duration> {
    let parsed = match &node.data {
        Data::Text(text) => duration::parse(text),
        _ => None,
    };
    let fits = parsed.filter(|duration| !duration.is_zero() && *duration <= most);
    if fits.is_none() {
        let message = format!("this is a length of time up to {}", duration::format(most));
        report.fault(node.at, pointer, message, "write a whole number with a unit: `500ms`, `30s`, `5m` or `1h`");
    }
    fits
}

/// One of a few words.
pub(super) fn word<T: Copy>(node: &Node, pointer: &str, words: &[(&str, T)], report: &mut Report) -> Option<T> {
    let found = match &node.data {
        Data::Text(text) => words.iter().find(|(word, _)| word == text).map(|(_, meaning)| *meaning),
        _ => None,
    };
    if found.is_none() {
        let known: Vec<String> = words.iter().map(|(word, _)| format!("`{word}`")).collect();
        report.fault(node.at, pointer, format!("this is one of {}", known.join(", ")), "write one of these words");
    }
    found
}

pub(super) fn condition(node: &Node, pointer: &str, report: &mut Report) -> Option<Condition> {
    match &node.data {
        Data::Bool(value) => Some(Condition::Is(crate::condition::Operand::Literal(Value::Bool(*value)))),
        Data::Text(text) => Condition::parse(text)
            .map_err(|bad| {
                let message = format!("the condition cannot be read at character {}: {}", bad.after + 1, bad.message);
                report.fault(node.at, pointer, message, "write, for example, `$input.count > 3 and exists $steps.a.b`");
            })
            .ok(),
        _ => {
            let message = format!("a condition is text, this is {}", node.kind());
            report.fault(node.at, pointer, message, "write, for example, `$input.count > 3`");
            None
        }
    }
}

/// All strings of a mapping are looked at, whichever of them is wrong; in the place of those stands nothing.
pub(super) fn mapping(node: &Node, pointer: &str, report: &mut Report) -> Wanted<Mapping> {
    let mut clear = true;
    let mapping = part(node, pointer, &mut clear, report);
    if clear { Wanted::Read(mapping) } else { Wanted::Unclear(Some(mapping)) }
}

fn part(node: &Node, pointer: &str, clear: &mut bool, report: &mut Report) -> Mapping {
    match &node.data {
        Data::Null | Data::Bool(_) | Data::Number(_) => Mapping::Literal(node.to_value()),
        Data::Text(text) => Mapping::of_text(text).unwrap_or_else(|(message, hint)| {
            report.fault(node.at, pointer, message, hint);
            *clear = false;
            Mapping::Literal(Value::Null)
        }),
        Data::List(items) => {
            let numbered = items.iter().enumerate();
            Mapping::Array(numbered.map(|(index, item)| part(item, &below(pointer, index), clear, report)).collect())
        }
        Data::Object(members) => {
            let entries = members
                .iter()
                .map(|member| (member.key.clone(), part(&member.value, &below(pointer, &member.key), clear, report)));
            Mapping::Object(entries.collect())
        }
    }
}

pub(super) fn unknown_word(node: &Node, pointer: &str, text: &str, what: &str, report: &mut Report) {
    report.fault(node.at, pointer, format!("{} is no {what}", quoted(text)), "use `function` or `pipeline`");
}

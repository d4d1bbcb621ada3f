//! YAML 1.2 with positions, as JSON data: the core schema, no tags, one document, aliases by value and within bounds.

use std::collections::HashMap;

use saphyr_parser::{Event, Parser, ScalarStyle, ScanError, Span};
use serde_json::Number;

use super::{Broken, Data, Member, Node, too_deep, too_many};
use crate::fault::Position;
use crate::limits;

/// A list or an object that is not complete yet.
struct Open {
    at: Position,
    anchor: usize,
    holds: Holds,
}

enum Holds {
    Items(Vec<Node>),
    Members { members: Vec<Member>, key: Option<(String, Position)> },
}

#[derive(Default)]
struct Builder {
    open: Vec<Open>,
    anchors: HashMap<usize, Node>,
    root: Option<Node>,
    values: usize,
}

pub(super) fn read(text: &str) -> Result<Node, Broken> {
    let mut builder = Builder::default();
    for event in Parser::new_from_str(text) {
        let (event, span) = event.map_err(|error| broken_yaml(&error))?;
        builder.take(event, position(span))?;
    }
    let empty = Broken {
        at: Position::START,
        message: "the definition is empty".into(),
        hint: "a pipeline has at least `name` and `steps`",
    };
    builder.root.ok_or(empty)
}

impl Builder {
    fn take(&mut self, event: Event<'_>, at: Position) -> Result<(), Broken> {
        match event {
            Event::DocumentStart(_) if self.root.is_some() => Err(Broken {
                at,
                message: "a second document begins here".into(),
                hint: "one text defines one pipeline; put the other into a file of its own",
            }),
            Event::SequenceStart(anchor, None) => self.open(at, anchor, Holds::Items(Vec::new())),
            Event::MappingStart(anchor, None) => {
                self.open(at, anchor, Holds::Members { members: Vec::new(), key: None })
            }
            Event::SequenceEnd | Event::MappingEnd => self.close(),
            Event::Scalar(text, style, anchor, None) => self.scalar(&text, style, anchor, at),
            Event::Alias(anchor) => match self.anchors.get(&anchor) {
                Some(node) => self.repeat(at, node.clone()),
                None => Err(Broken {
                    at,
                    message: "an alias stands inside of what it stands for".into(),
                    hint: "write the value out",
                }),
            },
            Event::SequenceStart(_, Some(_)) | Event::MappingStart(_, Some(_)) | Event::Scalar(_, _, _, Some(_)) => {
                let message = "tags (`!..`) have no meaning in a pipeline".into();
                Err(Broken { at, message, hint: "take the tag out; quote what is to be text" })
            }
            Event::Nothing | Event::StreamStart | Event::StreamEnd | Event::DocumentStart(_) | Event::DocumentEnd => {
                Ok(())
            }
        }
    }

    fn open(&mut self, at: Position, anchor: usize, holds: Holds) -> Result<(), Broken> {
        if self.open.len() >= limits::DEPTH {
            return Err(too_deep(at));
        }
        self.no_key(at)?;
        self.open.push(Open { at, anchor, holds });
        Ok(())
    }

    /// Something that is no scalar begins where a key is due.
    fn no_key(&self, at: Position) -> Result<(), Broken> {
        match self.open.last() {
            Some(Open { holds: Holds::Members { key: None, .. }, .. }) => {
                Err(Broken { at, message: "a key must be plain text".into(), hint: "quote it, if it is one" })
            }
            _ => Ok(()),
        }
    }

    fn close(&mut self) -> Result<(), Broken> {
        let Some(Open { at, anchor, holds }) = self.open.pop() else { return Ok(()) };
        let data = match holds {
            Holds::Items(items) => Data::List(items),
            Holds::Members { members, .. } => Data::Object(members),
        };
        self.anchored(Node { at, data }, anchor)
    }

    fn scalar(&mut self, text: &str, style: ScalarStyle, anchor: usize, at: Position) -> Result<(), Broken> {
        if let Some(Open { holds: Holds::Members { key: key @ None, .. }, .. }) = self.open.last_mut() {
            *key = Some((text.to_owned(), at));
            return Ok(());
        }
        let data = if style == ScalarStyle::Plain { plain(text, at)? } else { Data::Text(text.to_owned()) };
        self.anchored(Node { at, data }, anchor)
    }

    fn anchored(&mut self, node: Node, anchor: usize) -> Result<(), Broken> {
        if anchor > 0 {
            self.anchors.insert(anchor, node.clone());
        }
        self.place(node)
    }

    /// A few lines of aliases can stand for billions of values, or for any depth.
    fn repeat(&mut self, at: Position, node: Node) -> Result<(), Broken> {
        let (count, depth) = node.measure();
        if self.open.len() + depth > limits::DEPTH {
            return Err(too_deep(at));
        }
        self.values += count - 1;
        if self.values > limits::VALUES {
            return Err(too_many(at));
        }
        self.no_key(at)?;
        self.place(node)
    }

    fn place(&mut self, node: Node) -> Result<(), Broken> {
        self.values += 1;
        if self.values > limits::VALUES {
            return Err(too_many(node.at));
        }
        match self.open.last_mut().map(|open| &mut open.holds) {
            None => self.root = Some(node),
            Some(Holds::Items(items)) => items.push(node),
            Some(Holds::Members { members, key }) => {
                members.extend(key.take().map(|(key, at)| Member { key, at, value: node }));
            }
        }
        Ok(())
    }
}

/// The core schema of YAML 1.2: `yes` and `on` are text.
fn plain(text: &str, at: Position) -> Result<Data, Broken> {
    Ok(match text {
        "" | "~" | "null" | "Null" | "NULL" => Data::Null,
        "true" | "True" | "TRUE" => Data::Bool(true),
        "false" | "False" | "FALSE" => Data::Bool(false),
        ".inf" | ".Inf" | ".INF" | "+.inf" | "-.inf" | "-.Inf" | "-.INF" | ".nan" | ".NaN" | ".NAN" => {
            let message = format!("`{text}` is no number of JSON");
            return Err(Broken { at, message, hint: "quote it, if it is text" });
        }
        text => number(text).map_or_else(|| Data::Text(text.to_owned()), Data::Number),
    })
}

fn number(text: &str) -> Option<Number> {
    let radix =
        |prefix: &str, radix| text.strip_prefix(prefix).and_then(|digits| u64::from_str_radix(digits, radix).ok());
    if let Some(number) = radix("0x", 16).or_else(|| radix("0o", 8)) {
        return Some(number.into());
    }
    let unsigned = text.strip_prefix(['-', '+']).unwrap_or(text);
    let (digits, exponent) = unsigned.split_once(['e', 'E']).map_or((unsigned, None), |(a, b)| (a, Some(b)));
    let exponent_fits = exponent.is_none_or(|exponent| {
        let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
        !digits.is_empty() && digits.bytes().all(|byte| byte.is_ascii_digit())
    });
    let mut parts = digits.splitn(2, '.');
    let (whole, fraction) = (parts.next().unwrap_or_default(), parts.next());
    let all_digits = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let some_digit = !whole.is_empty() || fraction.is_some_and(|fraction| !fraction.is_empty());
    if !exponent_fits || !some_digit || !all_digits(whole) || !fraction.is_none_or(all_digits) {
        return None;
    }
    if fraction.is_none() && exponent.is_none() {
        let whole = text.strip_prefix('+').unwrap_or(text);
        if let Some(number) =
            whole.parse::<u64>().map(Number::from).ok().or(whole.parse::<i64>().map(Number::from).ok())
        {
            return Some(number);
        }
    }
    text.parse::<f64>().ok().and_then(Number::from_f64)
}

fn position(span: Span) -> Position {
    of_marker(span.start.line(), span.start.col())
}

fn of_marker(line: usize, column: usize) -> Position {
    let number = |number: usize| u32::try_from(number).unwrap_or(u32::MAX);
    Position { line: number(line).max(1), column: number(column).saturating_add(1) }
}

fn broken_yaml(error: &ScanError) -> Broken {
    let at = of_marker(error.marker().line(), error.marker().col());
    Broken {
        at,
        message: format!("not valid YAML: {}", error.info()),
        hint: "correct the text here; indent with spaces",
    }
}

//! JSON with the place of each value, so that every fault can say where it is.
//!
//! Built on its own because nothing that we use keeps places; strings and numbers are left to `serde_json`.

use serde_json::{Map, Number, Value};

use super::fault::Faults;
use crate::scan::Peek;

/// Deeper policies are refused.
const DEEPEST: usize = 32;
/// Policies with more values are refused.
const MOST_VALUES: usize = 20_000;

/// A value and where it begins.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) line: usize,
    pub(super) column: usize,
    pub(super) pointer: String,
    pub(super) shape: Shape,
}

#[derive(Debug)]
pub(super) enum Shape {
    Null,
    Bool(bool),
    Number(Number),
    Text(String),
    List(Vec<Node>),
    Object(Vec<(String, Node)>),
}

impl Node {
    pub(super) const fn kind(&self) -> &'static str {
        match self.shape {
            Shape::Null => "null",
            Shape::Bool(_) => "a boolean",
            Shape::Number(_) => "a number",
            Shape::Text(_) => "a string",
            Shape::List(_) => "an array",
            Shape::Object(_) => "an object",
        }
    }

    /// What a pointer leads to from here, or as far as it leads.
    pub(super) fn below(&self, pointer: &str) -> &Self {
        let Some(rest) = pointer.strip_prefix('/') else { return self };
        let (first, behind) = rest.find('/').map_or((rest, ""), |at| rest.split_at(at));
        let key = first.replace("~1", "/").replace("~0", "~");
        let next = match &self.shape {
            Shape::Object(members) => members.iter().find(|(name, _)| *name == key).map(|(_, node)| node),
            Shape::List(items) => key.parse::<usize>().ok().and_then(|at| items.get(at)),
            _ => None,
        };
        next.map_or(self, |next| next.below(behind))
    }

    pub(super) fn value(&self) -> Value {
        match &self.shape {
            Shape::Null => Value::Null,
            Shape::Bool(value) => Value::Bool(*value),
            Shape::Number(number) => Value::Number(number.clone()),
            Shape::Text(text) => Value::String(text.clone()),
            Shape::List(items) => items.iter().map(Self::value).collect(),
            Shape::Object(members) => {
                let members = members.iter().map(|(key, node)| (key.clone(), node.value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
        }
    }
}

/// Reads a text. A text that is no JSON has one fault; equal keys are faults of their own.
pub(super) fn read(text: &str, faults: &mut Faults) -> Option<Node> {
    let mut reader = Reader { text, at: 0, line: 1, line_start: 0, values: 0, faults };
    let node = reader.value("", 0).and_then(|node| {
        reader.space();
        if reader.at < text.len() { Err(reader.fault("unexpected text behind the policy")) } else { Ok(node) }
    });
    match node {
        Ok(node) => Some(node),
        Err(Broken { line, column, message }) => {
            faults.add(line, column, "", format!("not valid JSON: {message}"));
            None
        }
    }
}

struct Broken {
    line: usize,
    column: usize,
    message: String,
}

struct Reader<'a> {
    text: &'a str,
    at: usize,
    line: usize,
    line_start: usize,
    values: usize,
    faults: &'a mut Faults,
}

impl Reader<'_> {
    fn peek(&self) -> u8 {
        self.text.as_bytes().at(self.at)
    }

    fn column(&self) -> usize {
        self.text.get(self.line_start..self.at).map_or(0, |line| line.chars().count()) + 1
    }

    fn fault(&self, message: impl Into<String>) -> Broken {
        Broken { line: self.line, column: self.column(), message: message.into() }
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\t' | b'\r' | b'\n') {
            if self.peek() == b'\n' {
                self.line += 1;
                self.line_start = self.at + 1;
            }
            self.at += 1;
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), Broken> {
        self.space();
        if self.peek() == byte && self.at < self.text.len() {
            self.at += 1;
            return Ok(());
        }
        Err(self.fault(format!("expected `{}`", byte as char)))
    }

    fn value(&mut self, pointer: &str, depth: usize) -> Result<Node, Broken> {
        self.space();
        self.values += 1;
        if depth > DEEPEST {
            return Err(self.fault(format!("nested more than {DEEPEST} deep")));
        }
        if self.values > MOST_VALUES {
            return Err(self.fault(format!("more than {MOST_VALUES} values")));
        }
        let (line, column) = (self.line, self.column());
        let shape = match self.peek() {
            b'{' => self.object(pointer, depth)?,
            b'[' => self.list(pointer, depth)?,
            b'"' => Shape::Text(self.string()?),
            b't' => self.word("true", Shape::Bool(true))?,
            b'f' => self.word("false", Shape::Bool(false))?,
            b'n' => self.word("null", Shape::Null)?,
            b'-' | b'0'..=b'9' => self.number()?,
            _ => return Err(self.fault("expected a value")),
        };
        Ok(Node { line, column, pointer: pointer.to_owned(), shape })
    }

    fn object(&mut self, pointer: &str, depth: usize) -> Result<Shape, Broken> {
        self.expect(b'{')?;
        let mut members: Vec<(String, Node)> = Vec::new();
        self.space();
        if self.peek() == b'}' {
            self.at += 1;
            return Ok(Shape::Object(members));
        }
        loop {
            self.space();
            let (line, column) = (self.line, self.column());
            let key = self.string()?;
            self.expect(b':')?;
            let below = format!("{pointer}/{}", crate::walk::escape(&key));
            let node = self.value(&below, depth + 1)?;
            if members.iter().any(|(known, _)| *known == key) {
                self.faults.add(line, column, &below, format!("the key `{key}` occurs twice"));
            }
            members.push((key, node));
            self.space();
            if self.peek() == b'}' {
                self.at += 1;
                return Ok(Shape::Object(members));
            }
            self.expect(b',')?;
        }
    }

    fn list(&mut self, pointer: &str, depth: usize) -> Result<Shape, Broken> {
        self.expect(b'[')?;
        let mut items = Vec::new();
        self.space();
        if self.peek() == b']' {
            self.at += 1;
            return Ok(Shape::List(items));
        }
        loop {
            items.push(self.value(&format!("{pointer}/{}", items.len()), depth + 1)?);
            self.space();
            if self.peek() == b']' {
                self.at += 1;
                return Ok(Shape::List(items));
            }
            self.expect(b',')?;
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        if self.peek() != b'"' {
            return Err(self.fault("expected a string"));
        }
        let start = self.at;
        let mut end = start + 1;
        loop {
            match self.text.as_bytes().get(end) {
                Some(b'"') => break,
                Some(b'\\') => end += 2,
                Some(_) => end += 1,
                None => return Err(self.fault("the string does not end")),
            }
        }
        let raw = self.text.get(start..=end).unwrap_or_default();
        let text = serde_json::from_str(raw)
            .map_err(|_| self.fault("the string has a character or an escape that JSON does not allow"))?;
        self.at = end + 1;
        Ok(text)
    }

    fn word(&mut self, word: &str, shape: Shape) -> Result<Shape, Broken> {
        if !self.text.get(self.at..).unwrap_or_default().starts_with(word) {
            return Err(self.fault("expected a value"));
        }
        self.at += word.len();
        Ok(shape)
    }

    fn number(&mut self) -> Result<Shape, Broken> {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let length =
            rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'-' | b'+' | b'.' | b'e' | b'E')).count();
        let number = serde_json::from_str(rest.get(..length).unwrap_or_default());
        let number = number.map_err(|_| self.fault("the number is not one that JSON allows"))?;
        self.at += length;
        Ok(Shape::Number(number))
    }
}

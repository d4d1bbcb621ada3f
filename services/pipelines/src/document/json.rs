//! JSON with positions. Tokens are cut here and decoded by serde_json, so that escapes and numbers mean the same as
//! everywhere else; a YAML parser would refuse surrogate pairs.

use serde::de::DeserializeOwned;

use super::{Broken, Data, Member, Node, too_deep, too_many};
use crate::fault::Position;
use crate::limits;

struct Reader<'a> {
    rest: &'a str,
    at: Position,
    values: usize,
}

pub(super) fn read(text: &str) -> Result<Node, Broken> {
    let mut reader = Reader { rest: text, at: Position::START, values: 0 };
    let node = reader.value(0)?;
    reader.space();
    if reader.rest.is_empty() { Ok(node) } else { Err(reader.broken("the end of the text")) }
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Result<Node, Broken> {
        self.space();
        let at = self.at;
        self.values += 1;
        if self.values > limits::VALUES {
            return Err(too_many(at));
        }
        let opens = self.rest.starts_with(['{', '[']);
        if opens && depth >= limits::DEPTH {
            return Err(too_deep(at));
        }
        let data = match self.rest.chars().next() {
            Some('{') => Data::Object(self.members(depth + 1)?),
            Some('[') => Data::List(self.items(depth + 1)?),
            Some('"') => Data::Text(self.string()?),
            Some('-' | '0'..='9') => Data::Number(self.number()?),
            Some('a'..='z') => self.word()?,
            _ => return Err(self.broken("a value")),
        };
        Ok(Node { at, data })
    }

    fn members(&mut self, depth: usize) -> Result<Vec<Member>, Broken> {
        let mut members = Vec::new();
        self.advance(1);
        if self.takes('}') {
            return Ok(members);
        }
        loop {
            self.space();
            let at = self.at;
            if !self.rest.starts_with('"') {
                return Err(self.broken("a key in quotes"));
            }
            let key = self.string()?;
            if !self.takes(':') {
                return Err(self.broken("`:`"));
            }
            let value = self.value(depth)?;
            members.push(Member { key, at, value });
            if self.takes('}') {
                return Ok(members);
            }
            if !self.takes(',') {
                return Err(self.broken("`,` or `}`"));
            }
        }
    }

    fn items(&mut self, depth: usize) -> Result<Vec<Node>, Broken> {
        let mut items = Vec::new();
        self.advance(1);
        if self.takes(']') {
            return Ok(items);
        }
        loop {
            items.push(self.value(depth)?);
            if self.takes(']') {
                return Ok(items);
            }
            if !self.takes(',') {
                return Err(self.broken("`,` or `]`"));
            }
        }
    }

    fn string(&mut self) -> Result<String, Broken> {
        let mut escaped = false;
        let end = self.rest.char_indices().skip(1).find(|(_, one)| match (escaped, one) {
            (true, _) => {
                escaped = false;
                false
            }
            (false, '\\') => {
                escaped = true;
                false
            }
            (false, one) => *one == '"',
        });
        match end {
            Some((end, _)) => self.decode(end + 1, "a string without raw control characters or unknown escapes"),
            None => Err(self.broken("the closing quote of this string")),
        }
    }

    fn number(&mut self) -> Result<serde_json::Number, Broken> {
        let end = self.rest.find(|one: char| !matches!(one, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        self.decode(end.unwrap_or(self.rest.len()), "a number")
    }

    fn word(&mut self) -> Result<Data, Broken> {
        for (word, data) in [("true", Data::Bool(true)), ("false", Data::Bool(false)), ("null", Data::Null)] {
            if self.rest.starts_with(word) {
                self.advance(word.len());
                return Ok(data);
            }
        }
        Err(self.broken("a value"))
    }

    fn decode<T: DeserializeOwned>(&mut self, length: usize, expected: &str) -> Result<T, Broken> {
        let decoded = self.rest.get(..length).and_then(|token| serde_json::from_str(token).ok());
        let Some(decoded) = decoded else { return Err(self.broken(expected)) };
        self.advance(length);
        Ok(decoded)
    }

    fn takes(&mut self, wanted: char) -> bool {
        self.space();
        let there = self.rest.starts_with(wanted);
        if there {
            self.advance(wanted.len_utf8());
        }
        there
    }

    fn space(&mut self) {
        let is_space = |one: char| matches!(one, ' ' | '\t' | '\n' | '\r');
        let length = self.rest.find(|one| !is_space(one)).unwrap_or(self.rest.len());
        self.advance(length);
    }

    /// Forward only, so that positions cost one look at each character.
    fn advance(&mut self, bytes: usize) {
        let (passed, rest) = self.rest.split_at_checked(bytes).unwrap_or((self.rest, ""));
        for one in passed.chars() {
            if one == '\n' {
                self.at = Position { line: self.at.line + 1, column: 1 };
            } else {
                self.at.column += 1;
            }
        }
        self.rest = rest;
    }

    fn broken(&self, expected: &str) -> Broken {
        let message = match self.rest.chars().next() {
            Some(found) => format!("not valid JSON: expected {expected}, found `{}`", found.escape_default()),
            None => format!("not valid JSON: expected {expected}, and the text ends"),
        };
        Broken { at: self.at, message, hint: "correct the JSON here, or write it as YAML" }
    }
}

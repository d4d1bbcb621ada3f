//! Conditions from text. `or` binds weaker than `and`, `and` weaker than `not`; parentheses as everywhere.

use serde_json::Value;

use super::{BadCondition, Comparison, Condition, Operand};
use crate::limits;
use crate::reference::Reference;

struct Reader<'a> {
    text: &'a str,
    rest: &'a str,
    depth: usize,
}

pub(super) fn condition(text: &str) -> Result<Condition, BadCondition> {
    let mut reader = Reader { text, rest: text, depth: 0 };
    if text.len() > limits::EXPRESSION {
        return Err(reader.bad(format!("longer than {} bytes", limits::EXPRESSION)));
    }
    let condition = reader.any()?;
    reader.space();
    if reader.rest.is_empty() { Ok(condition) } else { Err(reader.unexpected("`and`, `or` or the end")) }
}

impl<'a> Reader<'a> {
    fn any(&mut self) -> Result<Condition, BadCondition> {
        let mut parts = vec![self.all()?];
        while self.takes_word("or") {
            parts.push(self.all()?);
        }
        Ok(one_or(parts, Condition::Or))
    }

    fn all(&mut self) -> Result<Condition, BadCondition> {
        let mut parts = vec![self.negated()?];
        while self.takes_word("and") {
            parts.push(self.negated()?);
        }
        Ok(one_or(parts, Condition::And))
    }

    fn negated(&mut self) -> Result<Condition, BadCondition> {
        self.depth += 1;
        if self.depth > limits::EXPRESSION_DEPTH {
            return Err(self.bad(format!("nested more than {} deep", limits::EXPRESSION_DEPTH)));
        }
        let condition = if self.takes_word("not") {
            Condition::Not(Box::new(self.negated()?))
        } else if self.takes("(") {
            let inside = self.any()?;
            if !self.takes(")") {
                return Err(self.unexpected("`)`"));
            }
            inside
        } else if self.takes_word("exists") {
            self.space();
            Condition::Exists(self.reference()?)
        } else {
            self.test()?
        };
        self.depth -= 1;
        Ok(condition)
    }

    fn test(&mut self) -> Result<Condition, BadCondition> {
        let left = self.operand()?;
        let signs = [
            ("==", Comparison::Equal),
            ("!=", Comparison::NotEqual),
            ("<=", Comparison::AtMost),
            (">=", Comparison::AtLeast),
            ("<", Comparison::Less),
            (">", Comparison::Greater),
        ];
        match signs.into_iter().find(|(sign, _)| self.takes(sign)) {
            Some((_, comparison)) => Ok(Condition::Compare(left, comparison, self.operand()?)),
            None => match &left {
                Operand::Literal(literal) if !literal.is_boolean() => {
                    Err(self.bad(format!("`{literal}` alone is neither true nor false; compare it with something")))
                }
                _ => Ok(Condition::Is(left)),
            },
        }
    }

    fn operand(&mut self) -> Result<Operand, BadCondition> {
        self.space();
        match self.rest.chars().next() {
            Some('$') => Ok(Operand::Reference(self.reference()?)),
            Some('"') => self.token::<String>("a string in quotes").map(|text| Operand::Literal(text.into())),
            Some('\'') => self.single_quoted(),
            Some('-' | '0'..='9') => self.number(),
            _ => {
                for (word, value) in [("true", Value::Bool(true)), ("false", Value::Bool(false)), ("null", Value::Null)]
                {
                    if self.takes_word(word) {
                        return Ok(Operand::Literal(value));
                    }
                }
                Err(self.unexpected("a reference (`$input.…`), a number, text in quotes, `true`, `false` or `null`"))
            }
        }
    }

    fn reference(&mut self) -> Result<Reference, BadCondition> {
        let (reference, rest) = Reference::prefix(self.rest).map_err(|message| self.bad(message))?;
        self.rest = rest;
        Ok(reference)
    }

    fn number(&mut self) -> Result<Operand, BadCondition> {
        let end = self.rest.find(|one: char| !matches!(one, '0'..='9' | '-' | '+' | '.' | 'e' | 'E'));
        let (digits, rest) = self.rest.split_at_checked(end.unwrap_or(self.rest.len())).unwrap_or((self.rest, ""));
        let number: serde_json::Number =
            serde_json::from_str(digits).map_err(|_| self.bad(format!("`{digits}` is no number")))?;
        self.rest = rest;
        Ok(Operand::Literal(Value::Number(number)))
    }

    /// For YAML, where double quotes are often taken. A quote inside is doubled, as there.
    fn single_quoted(&mut self) -> Result<Operand, BadCondition> {
        let mut text = String::new();
        let mut rest = self.rest.get(1..).unwrap_or_default();
        loop {
            let Some((before, after)) = rest.split_once('\'') else {
                return Err(self.bad("the closing quote is missing".into()));
            };
            text.push_str(before);
            rest = after;
            match rest.strip_prefix('\'') {
                Some(after) => {
                    text.push('\'');
                    rest = after;
                }
                None => break,
            }
        }
        self.rest = rest;
        Ok(Operand::Literal(text.into()))
    }

    fn token<T: serde::de::DeserializeOwned>(&mut self, expected: &str) -> Result<T, BadCondition> {
        let mut tokens = serde_json::Deserializer::from_str(self.rest).into_iter::<T>();
        let Some(Ok(token)) = tokens.next() else { return Err(self.unexpected(expected)) };
        self.rest = self.rest.get(tokens.byte_offset()..).unwrap_or_default();
        Ok(token)
    }

    fn takes(&mut self, sign: &str) -> bool {
        self.space();
        self.rest.strip_prefix(sign).map(|rest| self.rest = rest).is_some()
    }

    fn takes_word(&mut self, word: &str) -> bool {
        self.space();
        let Some(rest) = self.rest.strip_prefix(word) else { return false };
        let whole = !rest.starts_with(|one: char| one.is_alphanumeric() || one == '_' || one == '-');
        if whole {
            self.rest = rest;
        }
        whole
    }

    fn space(&mut self) {
        self.rest = self.rest.trim_start();
    }

    fn unexpected(&self, expected: &str) -> BadCondition {
        let rest = self.rest.trim_start();
        for (sign, word) in [("&&", "and"), ("||", "or"), ("!", "not"), ("=", "==")] {
            if rest.starts_with(sign) {
                return self.bad(format!("`{sign}` is written `{word}` here"));
            }
        }
        match rest.split_whitespace().next() {
            Some(word) => self.bad(format!("expected {expected}, found {}", crate::fault::quoted(word))),
            None => self.bad(format!("expected {expected}, and the condition ends")),
        }
    }

    fn bad(&self, message: String) -> BadCondition {
        let passed = self.text.len() - self.rest.trim_start().len();
        BadCondition { after: self.text.get(..passed).map_or(0, |text| text.chars().count()), message }
    }
}

fn one_or(mut parts: Vec<Condition>, many: impl FnOnce(Vec<Condition>) -> Condition) -> Condition {
    match (parts.len(), parts.pop()) {
        (1, Some(only)) => only,
        (_, last) => {
            parts.extend(last);
            many(parts)
        }
    }
}

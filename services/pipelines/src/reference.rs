//! Where a value comes from: `$input.a.b`, `$steps.id.a[0]`, and within a fan-out `$item` and `$index`.

use std::fmt;

use crate::limits;

/// The id of a step: `[A-Za-z0-9_][A-Za-z0-9_-]{0,62}`.
#[derive(Debug, Clone, PartialEq, Eq, Hash, PartialOrd, Ord, serde::Serialize, serde::Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct StepId(String);

/// The text cannot be the id of a step.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("a step id has 1 to 63 of A-Z, a-z, 0-9, `_` and `-`, and does not begin with `-`")]
pub struct BadStepId;

impl StepId {
    pub fn parse(text: &str) -> Result<Self, BadStepId> {
        let fits = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
        let good = (1..=63).contains(&text.len()) && text.bytes().all(fits) && !text.starts_with('-');
        if good { Ok(Self(text.to_owned())) } else { Err(BadStepId) }
    }

    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl TryFrom<String> for StepId {
    type Error = BadStepId;

    fn try_from(text: String) -> Result<Self, BadStepId> {
        Self::parse(&text)
    }
}

impl From<StepId> for String {
    fn from(id: StepId) -> Self {
        id.0
    }
}

impl fmt::Display for StepId {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reference {
    pub source: Source,
    pub path: Vec<Segment>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// What the run was given.
    Input,
    /// What an earlier step has answered.
    Step(StepId),
    /// The item of a fan-out.
    Item,
    /// Its number, from 0.
    Index,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Segment {
    Key(String),
    Index(u32),
}

impl Reference {
    /// The whole text has to be a reference.
    pub fn parse(text: &str) -> Result<Self, String> {
        match Self::prefix(text)? {
            (reference, "") => Ok(reference),
            (_, rest) => Err(format!("the reference goes wrong at `{}`", rest.chars().take(20).collect::<String>())),
        }
    }

    /// The reference that a text begins with, and what follows it.
    pub(crate) fn prefix(text: &str) -> Result<(Self, &str), String> {
        if text.len() > limits::EXPRESSION {
            return Err(format!("longer than {} bytes", limits::EXPRESSION));
        }
        let after = text.strip_prefix('$').ok_or("a reference begins with `$`")?;
        let (word, mut rest) = bare(after);
        let source = match word {
            "input" => Source::Input,
            "item" => Source::Item,
            "index" => Source::Index,
            "steps" => {
                let (id, after) = bare(rest.strip_prefix('.').ok_or("`$steps` is followed by the id of a step")?);
                rest = after;
                Source::Step(StepId::parse(id).map_err(|error| error.to_string())?)
            }
            _ => {
                return Err(format!("`${word}` is not known; there are `$input`, `$steps.<id>`, `$item` and `$index`"));
            }
        };
        let mut path = Vec::new();
        loop {
            let (segment, after) = match rest.as_bytes().first() {
                Some(b'.') => key(rest)?,
                Some(b'[') => bracket(rest)?,
                _ => break,
            };
            path.push(segment);
            rest = after;
        }
        if source == Source::Index && !path.is_empty() {
            return Err("`$index` is a number and has nothing inside".into());
        }
        Ok((Self { source, path }, rest))
    }
}

/// Letters, digits, `_` and `-`: what needs no quotes.
fn bare(text: &str) -> (&str, &str) {
    let end = text.find(|one: char| !is_bare(one)).unwrap_or(text.len());
    text.split_at_checked(end).unwrap_or((text, ""))
}

fn is_bare(one: char) -> bool {
    one.is_alphanumeric() || matches!(one, '_' | '-')
}

fn key(text: &str) -> Result<(Segment, &str), String> {
    let (word, rest) = bare(text.get(1..).unwrap_or_default());
    if word.is_empty() {
        return Err("a key is missing after `.`; keys with other characters are written `[\"like this\"]`".into());
    }
    Ok((Segment::Key(word.to_owned()), rest))
}

fn bracket(text: &str) -> Result<(Segment, &str), String> {
    let inside = text.get(1..).unwrap_or_default();
    if !inside.starts_with('"') {
        let (digits, rest) = inside.split_once(']').ok_or("`]` is missing")?;
        let index = digits.parse().map_err(|_| format!("`[{digits}]` is neither an index nor a key in quotes"))?;
        return Ok((Segment::Index(index), rest));
    }
    let mut keys = serde_json::Deserializer::from_str(inside).into_iter::<String>();
    let key = keys.next().and_then(Result::ok).ok_or("a key in brackets is a JSON string")?;
    let rest = inside.get(keys.byte_offset()..).and_then(|rest| rest.strip_prefix(']')).ok_or("`]` is missing")?;
    Ok((Segment::Key(key), rest))
}

impl fmt::Display for Reference {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.source {
            Source::Input => formatter.write_str("$input")?,
            Source::Step(id) => write!(formatter, "$steps.{id}")?,
            Source::Item => formatter.write_str("$item")?,
            Source::Index => formatter.write_str("$index")?,
        }
        self.path.iter().try_for_each(|segment| write!(formatter, "{segment}"))
    }
}

impl fmt::Display for Segment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Index(index) => write!(formatter, "[{index}]"),
            Self::Key(key) if !key.is_empty() && key.chars().all(is_bare) => write!(formatter, ".{key}"),
            Self::Key(key) => write!(formatter, "[{}]", serde_json::Value::from(key.as_str())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn references_read_back_what_they_print() {
        for text in [
            "$input",
            "$input.a.b",
            "$steps.step_1.a[0].b-c",
            "$steps.x[3][4]",
            "$item.é",
            "$index",
            r#"$input["a.b"]["\"]"].c"#,
            r#"$item[""]"#,
        ] {
            assert_eq!(Reference::parse(text).unwrap().to_string(), text);
        }
        assert_eq!(Reference::parse(r#"$input["a"]"#).unwrap().to_string(), "$input.a");
    }

    #[test]
    fn what_is_no_reference_says_why() {
        for text in [
            "",
            "$",
            "input",
            "$inputs.a",
            "$steps",
            "$steps.",
            "$steps.-a",
            "$input.",
            "$input..a",
            "$input[a]",
            "$input[-1]",
            "$input[99999999999]",
            "$input[0",
            r#"$input["a]"#,
            "$input.a b",
            "$index.a",
            "$input[\"a\" ]",
        ] {
            assert!(Reference::parse(text).is_err(), "{text}");
        }
    }
}

//! The small language of `when`: comparisons, `exists`, `and`, `or`, `not`, parentheses, literals.
//!
//! Total: every condition is true or false for every input. What is not there counts as `null`; values of different
//! types are unequal, and neither is less than the other.

mod parse;

use std::cmp::Ordering;
use std::fmt;

use serde_json::Value;

use crate::datum::{Found, Scope, find};
use crate::reference::Reference;

#[derive(Debug, Clone, PartialEq)]
pub enum Condition {
    /// True where the value is exactly `true`.
    Is(Operand),
    Compare(Operand, Comparison, Operand),
    /// Whether there is anything, be it `null`.
    Exists(Reference),
    Not(Box<Self>),
    And(Vec<Self>),
    Or(Vec<Self>),
}

#[derive(Debug, Clone, PartialEq)]
pub enum Operand {
    Reference(Reference),
    Literal(Value),
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Comparison {
    Equal,
    NotEqual,
    Less,
    AtMost,
    Greater,
    AtLeast,
}

/// Why a text is no condition, and after how many characters that shows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BadCondition {
    pub after: usize,
    pub message: String,
}

impl Condition {
    pub fn parse(text: &str) -> Result<Self, BadCondition> {
        parse::condition(text)
    }

    pub(crate) fn holds(&self, scope: &Scope<'_>) -> bool {
        match self {
            Self::Is(operand) => operand.value(scope) == Value::Bool(true),
            Self::Compare(left, comparison, right) => comparison.holds(&left.value(scope), &right.value(scope)),
            Self::Exists(reference) => !matches!(find(reference, scope), Found::Nothing),
            Self::Not(condition) => !condition.holds(scope),
            Self::And(all) => all.iter().all(|condition| condition.holds(scope)),
            Self::Or(any) => any.iter().any(|condition| condition.holds(scope)),
        }
    }

    /// What it is for every input, where that can be seen.
    pub(crate) fn constant(&self) -> Option<bool> {
        match self {
            Self::Is(Operand::Literal(value)) => Some(*value == Value::Bool(true)),
            Self::Compare(Operand::Literal(left), comparison, Operand::Literal(right)) => {
                Some(comparison.holds(left, right))
            }
            Self::Is(_) | Self::Compare(..) | Self::Exists(_) => None,
            Self::Not(condition) => condition.constant().map(|holds| !holds),
            Self::And(all) => decided(all, false),
            Self::Or(any) => decided(any, true),
        }
    }

    pub fn references(&self) -> Vec<&Reference> {
        match self {
            Self::Is(operand) => operand.reference().into_iter().collect(),
            Self::Compare(left, _, right) => left.reference().into_iter().chain(right.reference()).collect(),
            Self::Exists(reference) => vec![reference],
            Self::Not(condition) => condition.references(),
            Self::And(all) | Self::Or(all) => all.iter().flat_map(Self::references).collect(),
        }
    }

    /// Written out; `within` says whether it stands inside another condition.
    fn show(&self, formatter: &mut fmt::Formatter<'_>, within: bool) -> fmt::Result {
        match self {
            Self::Is(operand) => write!(formatter, "{operand}"),
            Self::Compare(left, comparison, right) => write!(formatter, "{left} {} {right}", comparison.sign()),
            Self::Exists(reference) => write!(formatter, "exists {reference}"),
            Self::Not(condition) => {
                formatter.write_str("not ")?;
                condition.show(formatter, true)
            }
            Self::And(all) => joined(formatter, all, " and ", within),
            Self::Or(any) => joined(formatter, any, " or ", within),
        }
    }
}

/// One that decides is enough; otherwise all have to be known.
fn decided(conditions: &[Condition], deciding: bool) -> Option<bool> {
    let known: Vec<Option<bool>> = conditions.iter().map(Condition::constant).collect();
    if known.contains(&Some(deciding)) {
        return Some(deciding);
    }
    known.iter().all(Option::is_some).then_some(!deciding)
}

fn joined(formatter: &mut fmt::Formatter<'_>, all: &[Condition], word: &str, within: bool) -> fmt::Result {
    formatter.write_str(if within { "(" } else { "" })?;
    for (index, condition) in all.iter().enumerate() {
        formatter.write_str(if index == 0 { "" } else { word })?;
        condition.show(formatter, true)?;
    }
    formatter.write_str(if within { ")" } else { "" })
}

impl fmt::Display for Condition {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.show(formatter, false)
    }
}

impl Operand {
    const fn reference(&self) -> Option<&Reference> {
        match self {
            Self::Reference(reference) => Some(reference),
            Self::Literal(_) => None,
        }
    }

    fn value(&self, scope: &Scope<'_>) -> Value {
        match self {
            Self::Reference(reference) => find(reference, scope).value(),
            Self::Literal(value) => value.clone(),
        }
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Reference(reference) => write!(formatter, "{reference}"),
            Self::Literal(value) => write!(formatter, "{value}"),
        }
    }
}

impl Comparison {
    const fn sign(self) -> &'static str {
        match self {
            Self::Equal => "==",
            Self::NotEqual => "!=",
            Self::Less => "<",
            Self::AtMost => "<=",
            Self::Greater => ">",
            Self::AtLeast => ">=",
        }
    }

    fn holds(self, left: &Value, right: &Value) -> bool {
        let order = order(left, right);
        match self {
            Self::Equal => order == Some(Ordering::Equal) || left == right,
            Self::NotEqual => order != Some(Ordering::Equal) && left != right,
            Self::Less => order == Some(Ordering::Less),
            Self::AtMost => order.is_some_and(Ordering::is_le),
            Self::Greater => order == Some(Ordering::Greater),
            Self::AtLeast => order.is_some_and(Ordering::is_ge),
        }
    }
}

/// Numbers by size, text by its characters; everything else has no order.
fn order(left: &Value, right: &Value) -> Option<Ordering> {
    match (left, right) {
        (Value::Number(left), Value::Number(right)) => match (left.as_i64(), right.as_i64()) {
            (Some(left), Some(right)) => Some(left.cmp(&right)),
            _ => match (left.as_u64(), right.as_u64()) {
                (Some(left), Some(right)) => Some(left.cmp(&right)),
                _ => left.as_f64()?.partial_cmp(&right.as_f64()?),
            },
        },
        (Value::String(left), Value::String(right)) => Some(left.cmp(right)),
        _ => None,
    }
}

#[cfg(test)]
mod tests;

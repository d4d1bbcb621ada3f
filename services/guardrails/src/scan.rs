//! One pass over a folded text, from left to right, in units: what every finder is called from.
//!
//! A unit is a run of characters without space, or a few of them that are one number. What is found in a unit depends
//! on the text from its beginning to a little behind its end, and on the words shortly before it, never on how far
//! the text goes on. That makes the outcome the same for a text as a whole and for a stream of it, however it is cut,
//! and every unit has a bound, so that the whole is linear.

mod bytes;
mod context;
mod numbers;
mod run;
mod tokens;
mod words;

pub(crate) use bytes::{Peek, is_cjk, is_delimiter};
pub(crate) use context::{Ages, Context, hint};
pub(crate) use numbers::{Digits, Group, Region};
pub(crate) use words::Hit;

use crate::kind::{Kind, Kinds};
use crate::lexicon::{Classes, LEXICON, Lexicon};

/// How far before a unit the words still matter.
pub(crate) const BEFORE: usize = 56;
/// How far behind a number the words still matter.
pub(crate) const BEHIND: usize = 24;
/// Runs are cut when they get longer.
pub(crate) const LONGEST_RUN: usize = 4096;

/// A part of the folded text that a finder took for something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Match {
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) kind: Kind,
    pub(crate) rule: &'static str,
}

/// What a pass has found.
#[derive(Debug, Default)]
pub(crate) struct Found {
    pub(crate) matches: Vec<Match>,
    /// Words that injections are made of.
    pub(crate) hits: Vec<Hit>,
    /// Every address, for the checks to judge.
    pub(crate) urls: Vec<(usize, usize)>,
    pub(crate) ages: Ages,
}

/// A pass over one text.
pub(crate) struct Scan<'t> {
    text: &'t str,
    bytes: &'t [u8],
    wanted: Kinds,
    /// More text may follow: what touches the end is not decided.
    more: bool,
    /// How often what is read has been decoded.
    depth: u8,
    context: Context,
    lexicon: &'static Lexicon,
    word: u32,
    found: Found,
}

impl<'t> Scan<'t> {
    /// `hint`: what the name of the member says whose value the text is.
    pub(crate) fn new(text: &'t str, wanted: Kinds, hint: Classes) -> Self {
        Self {
            text,
            bytes: text.as_bytes(),
            wanted,
            more: false,
            depth: 0,
            context: Context::hinting(hint),
            lexicon: &LEXICON,
            word: 0,
            found: Found::default(),
        }
    }

    pub(crate) fn more(self, more: bool) -> Self {
        Self { more, ..self }
    }

    pub(crate) fn depth(self, depth: u8) -> Self {
        Self { depth, ..self }
    }

    /// Goes on where another pass has stopped, with the words that it has seen last.
    pub(crate) fn resumed(self, ages: &Ages, from: usize) -> Self {
        Self { context: self.context.aged(ages, from), ..self }
    }

    /// Reads from this place on; gives the place up to which everything is decided.
    pub(crate) fn run(mut self, from: usize) -> (usize, Found) {
        let mut at = from;
        while at < self.bytes.len() {
            if is_delimiter(self.bytes.at(at)) {
                at += 1;
                continue;
            }
            if let Some(end) = self.quick(at) {
                at = end;
                continue;
            }
            match self.unit(at) {
                Some(end) => at = end.max(at + 1),
                None => break,
            }
        }
        if self.more {
            self.found.ages = self.context.ages(at);
        }
        (at, self.found)
    }

    fn wants(&self, kind: Kind) -> bool {
        self.wanted.has(kind)
    }

    fn add(&mut self, start: usize, end: usize, kind: Kind, rule: &'static str) {
        if self.wants(kind) {
            self.found.matches.push(Match { start, end, kind, rule });
        }
    }

    fn slice(&self, start: usize, end: usize) -> &'t str {
        self.text.get(start..end).unwrap_or_default()
    }
}

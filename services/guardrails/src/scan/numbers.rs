//! Numbers: groups of digits with single separators between them, and what they can be together.

use super::bytes::{COLON, DIGIT, HIGH, LETTER};
use super::run::is;
use super::{BEFORE, BEHIND, Context, Peek, Scan};
use crate::kind::Kind;
use crate::pii::{self, Taken};

/// A region with more groups is read in parts.
const MOST_GROUPS: usize = 24;

/// One group of digits.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Group {
    pub(crate) start: usize,
    pub(crate) end: usize,
}

impl Group {
    pub(crate) const fn len(self) -> usize {
        self.end - self.start
    }
}

/// Groups of digits that stand together.
pub(crate) struct Region<'s> {
    pub(crate) text: &'s str,
    pub(crate) context: &'s Context,
    pub(crate) groups: Vec<Group>,
    /// Part of an address: only what proves itself counts.
    pub(crate) strict: bool,
}

/// The digits of some groups, without what is between them.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Digits {
    values: [u8; 32],
    length: usize,
}

impl Digits {
    pub(crate) fn of(text: &str) -> Self {
        let mut digits = Self { values: [0; 32], length: 0 };
        for byte in text.bytes().filter(u8::is_ascii_digit) {
            if let Some(place) = digits.values.get_mut(digits.length) {
                *place = byte - b'0';
                digits.length += 1;
            }
        }
        digits
    }

    pub(crate) fn values(&self) -> &[u8] {
        self.values.get(..self.length).unwrap_or_default()
    }

    pub(crate) fn at(&self, place: usize) -> u8 {
        self.values().at(place)
    }

    /// Some of the digits as a number.
    pub(crate) fn number(&self, range: std::ops::Range<usize>) -> u64 {
        self.values().get(range).unwrap_or_default().iter().fold(0, |sum, digit| sum * 10 + u64::from(*digit))
    }
}

impl Region<'_> {
    pub(crate) fn group(&self, at: usize) -> Group {
        self.groups.get(at).copied().unwrap_or_default()
    }

    pub(crate) fn byte(&self, at: usize) -> u8 {
        self.text.as_bytes().at(at)
    }

    /// The text from one group to another, both included.
    pub(crate) fn span(&self, first: usize, count: usize) -> &str {
        let last = self.group(first + count.saturating_sub(1));
        self.text.get(self.group(first).start..last.end).unwrap_or_default()
    }

    /// What is between a group and the next.
    pub(crate) fn between(&self, at: usize) -> &str {
        self.text.get(self.group(at).end..self.group(at + 1).start).unwrap_or_default()
    }

    pub(crate) fn lengths(&self, first: usize, count: usize) -> impl Iterator<Item = usize> + '_ {
        (first..first + count).map(|at| self.group(at).len())
    }

    /// The separator between a group and the next, if it is a single character.
    pub(crate) fn separator(&self, at: usize) -> Option<u8> {
        let end = self.group(at).end;
        (self.group(at + 1).start == end + 1).then(|| self.byte(end))
    }

    /// Whether all separators among these groups are this one.
    pub(crate) fn separated_by(&self, first: usize, count: usize, separator: &str) -> bool {
        (first..(first + count).saturating_sub(1)).all(|at| self.between(at) == separator)
    }

    pub(crate) fn near(&self, class: u64, at: usize) -> bool {
        self.context.near(class, at, BEFORE)
    }

    /// Whether some byte shortly before a place or behind another is of a kind.
    pub(crate) fn has_around(&self, start: usize, end: usize, kind: impl Fn(u8) -> bool) -> bool {
        let bytes = self.text.as_bytes();
        let before = bytes.get(start.saturating_sub(BEFORE)..start).unwrap_or_default();
        let behind = bytes.get(end..(end + BEHIND).min(bytes.len())).unwrap_or_default();
        before.iter().chain(behind).any(|byte| kind(*byte))
    }
}

impl Scan<'_> {
    /// The numbers that begin in a run. Gives where the last of them ends, which may be in a later run.
    pub(super) fn numbers(&mut self, start: usize, end: usize, flags: u16, first: usize) -> Option<usize> {
        let address = if flags & COLON == 0 { None } else { self.slice(start, end).find("://") };
        let address = address.map_or(usize::MAX, |at| start + at);
        let mut at = start;
        while at < end {
            if !is(self.bytes.at(at), DIGIT) {
                at += 1;
                continue;
            }
            if let Some(past) = self.taken(at, first) {
                at = past;
                continue;
            }
            // A run that begins behind a script without spaces has a word before it, and is none of it.
            let joined = LETTER | DIGIT | if at > start { HIGH } else { 0 };
            if is(self.bytes.before(at), joined) || self.bytes.before(at) == b'_' {
                while is(self.bytes.at(at), DIGIT) {
                    at += 1;
                }
                continue;
            }
            at = self.region(at, at > address)?;
        }
        Some(at)
    }

    /// Where the match of this run ends that covers a place.
    fn taken(&self, at: usize, first: usize) -> Option<usize> {
        let matches = self.found.matches.get(first..).unwrap_or_default();
        matches.iter().find(|one| one.start <= at && at < one.end).map(|one| one.end)
    }

    fn region(&mut self, start: usize, strict: bool) -> Option<usize> {
        let mut groups = Vec::with_capacity(8);
        let mut at = start;
        while groups.len() < MOST_GROUPS {
            let from = at;
            while is(self.bytes.at(at), DIGIT) {
                at += 1;
            }
            groups.push(Group { start: from, end: at });
            match self.separator(at) {
                Some(length) => at += length,
                None => break,
            }
        }
        let end = groups.last().map_or(start, |last: &Group| last.end);
        if self.more && end + BEHIND > self.bytes.len() {
            return None;
        }
        // A group that belongs to a word is left to it, so that no unit ends inside of one.
        let mut stop = end;
        if self.bound(end) && !self.has_port(&groups) {
            self.leave(&mut groups);
            stop = groups.last().map_or(end, |last| last.end);
        }
        let region = Region { text: self.text, context: &self.context, groups, strict };
        let mut found = Vec::new();
        let mut first = 0;
        while first < region.groups.len() {
            match pii::number(&region, first) {
                Some(Taken { count, found: None }) => first += count.max(1),
                Some(Taken { count, found: Some((from, to, kind, rule)) }) => {
                    found.push((from, to, kind, rule));
                    first += count.max(1);
                }
                None => first += 1,
            }
        }
        for (from, to, kind, rule) in found {
            if kind == Kind::Phone && self.wants(Kind::Phone) {
                stop = stop.max(to);
            }
            self.add(from, to, kind, rule);
        }
        Some(stop)
    }

    /// How long the separator between two groups of one number is, if there is one.
    fn separator(&self, at: usize) -> Option<usize> {
        let byte = |behind: usize| self.bytes.at(at + behind);
        let digit = |behind: usize| is(byte(behind), DIGIT);
        match byte(0) {
            b' ' | b'-' | b'.' | b'/' if digit(1) => Some(1),
            b')' if digit(1) => Some(1),
            b')' if matches!(byte(1), b' ' | b'-' | b'.' | b'/') && digit(2) => Some(2),
            b' ' | b'-' | b'.' if byte(1) == b'(' && digit(2) => Some(2),
            b'(' if digit(1) => Some(1),
            b'/' if byte(1) == b' ' && digit(2) => Some(2),
            b' ' if matches!(byte(1), b'-' | b'/') && byte(2) == b' ' && digit(3) => Some(3),
            _ => None,
        }
    }

    /// Leaves the last group to the word that follows it, and with it those that are joined to it: `1975-11-21T10`. The
    /// first stays: there are ids that end with a letter.
    fn leave(&self, groups: &mut Vec<Group>) {
        while let Some(last) = groups.pop() {
            let joined = |before: &Group| !self.slice(before.end, last.start).contains(' ');
            if groups.len() < 2 || !groups.last().is_some_and(joined) {
                return;
            }
        }
    }

    /// `192.0.2.1:8080`: the colon belongs to the address.
    fn has_port(&self, groups: &[Group]) -> bool {
        let [.., first, second, third, last] = groups else { return false };
        let dotted = |left: &Group, right: &Group| self.slice(left.end, right.start) == ".";
        self.bytes.at(last.end) == b':' && dotted(first, second) && dotted(second, third) && dotted(third, last)
    }

    /// Whether what follows a group of digits makes it part of something else: a word, a time, a percentage.
    fn bound(&self, end: usize) -> bool {
        let next = self.bytes.at(end);
        match next {
            b'x' | b'X' | b'e' | b'E' => !pii::has_extension(self.text, end),
            b':' | b'%' | b'_' => next != b':' || is(self.bytes.at(end + 1), DIGIT),
            _ => is(next, LETTER | HIGH) && !super::is_cjk(next),
        }
    }
}

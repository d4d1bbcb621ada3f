//! A text some of which is replaced by blanks, so that what remains keeps its lines and columns.

use std::collections::BTreeMap;
use std::ops::Range;

pub struct Blanks<'s> {
    source: &'s str,
    /// By byte.
    blank: Vec<bool>,
    /// Single characters put into blanks.
    placed: BTreeMap<usize, char>,
}

impl<'s> Blanks<'s> {
    pub fn new(source: &'s str) -> Self {
        Self { source, blank: vec![false; source.len()], placed: BTreeMap::new() }
    }

    pub fn source(&self) -> &'s str {
        self.source
    }

    pub fn blank(&mut self, range: Range<usize>) {
        if let Some(bytes) = self.blank.get_mut(range) {
            bytes.fill(true);
        }
    }

    /// Blanks a statement or an element of a class. What stood before it may have counted on it to end, hence the
    /// semicolon.
    pub fn blank_whole(&mut self, range: Range<usize>) {
        self.placed.insert(range.start, ';');
        self.blank(range);
    }

    pub fn place(&mut self, at: usize, character: char) {
        self.placed.insert(at, character);
    }

    /// Ends what ends at `end` in a blank and without a semicolon: types end a statement where JavaScript would read on
    /// in the next line.
    pub fn end_statement(&mut self, end: usize) {
        let run = self.blank.get(..end).map_or(0, |bytes| bytes.iter().rev().take_while(|blank| **blank).count());
        if run > 0 {
            self.placed.entry(end - run).or_insert(';');
        }
    }

    pub fn finish(self) -> String {
        let mut text = String::with_capacity(self.source.len());
        for (at, character) in self.source.char_indices() {
            let is_blank = self.blank.get(at).copied().unwrap_or(false);
            match self.placed.get(&at) {
                Some(placed) if is_blank => text.push(*placed),
                // Line ends are kept, and everything is as wide as it was.
                _ if is_blank && !matches!(character, '\n' | '\r' | '\u{2028}' | '\u{2029}') => text.push(' '),
                _ => text.push(character),
            }
        }
        text
    }
}

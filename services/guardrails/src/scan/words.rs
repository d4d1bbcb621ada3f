//! Words: looked up in the lexicon as they are, spelled out letter by letter, or disguised with digits and signs.

use super::bytes::{DELIMITER, DIGIT, DISGUISE, HIGH, LETTER};
use super::run::is;
use super::{Peek, Scan};
use crate::kind::Kind;
use crate::lexicon::class::{CONTEXT, INJECTION, TOXIC, TOXIC_SEVERE};
use crate::lexicon::{Classes, Hash, LEXICON, LONGEST, Lowered, SPACELESS, classes_of};

/// Words of these lengths are neither spelled out nor keys.
const QUICK: std::ops::Range<usize> = 2..super::run::SHORTEST_KEY;
/// Letters that are spelled out one by one make a word from this many on, and are read up to this many.
const SPELLED: std::ops::RangeInclusive<usize> = 4..=64;

/// A word that injections are made of.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Hit {
    /// Which word of the text it is.
    pub(crate) word: u32,
    pub(crate) start: usize,
    pub(crate) end: usize,
    pub(crate) classes: Classes,
}

impl Scan<'_> {
    /// A short word of plain letters with a space behind it, as most words are: in one go. Whatever else it is, `None`.
    #[inline]
    pub(super) fn quick(&mut self, start: usize) -> Option<usize> {
        let mut hash = Hash::new();
        let (mut at, mut before, mut repeats) = (start, 0, 0_usize);
        let mut byte = self.bytes.at(at);
        while is(byte, LETTER) {
            let letter = byte | 0x20;
            hash.take(letter);
            repeats += usize::from(letter == before);
            before = letter;
            at += 1;
            byte = self.bytes.at(at);
        }
        // The end of a sentence belongs to the run.
        let end = if matches!(byte, b'.' | b'?') { at + 1 } else { at };
        if !QUICK.contains(&(at - start)) || end >= self.bytes.len() || !is(self.bytes.at(end), DELIMITER) {
            return None;
        }
        let word = self.bytes.get(start..at).unwrap_or_default();
        let classes = self.lexicon.look_up_hashed(hash.end(), word);
        if classes == 0 && repeats >= 2 {
            return None;
        }
        self.word_is(start, at, classes);
        Some(end)
    }

    /// Looks up each word of a part of the text.
    pub(super) fn words_between(&mut self, start: usize, end: usize) {
        let mut lowered = Lowered::new();
        let mut at = start;
        while at < end {
            let byte = self.bytes.at(at);
            if !is(byte, LETTER | HIGH) {
                at += 1;
                continue;
            }
            let from = at;
            let (mut high, mut repeats, mut before) = (false, 0_u8, 0_u8);
            lowered.clear();
            while at < end {
                let byte = self.bytes.at(at);
                if is(byte, LETTER) {
                    lowered.push(byte | 0x20);
                    repeats = if byte | 0x20 == before { repeats.saturating_add(1) } else { repeats & 2 };
                    before = byte | 0x20;
                } else if is(byte, HIGH) {
                    high = true;
                } else if byte != b'\'' || !is(self.bytes.at(at + 1), LETTER) {
                    break;
                }
                at += 1;
            }
            let classes = if high { classes_of(self.slice(from, at)) } else { LEXICON.look_up(lowered.bytes()) };
            if classes == 0 && repeats >= 2 {
                self.word_is(from, at, drawn_out(lowered.bytes()));
            } else {
                self.word_is(from, at, classes);
            }
        }
    }

    /// Counts a word, and remembers what it means.
    #[inline]
    fn word_is(&mut self, start: usize, end: usize, classes: Classes) {
        self.word = self.word.wrapping_add(1);
        if classes == 0 {
            return;
        }
        if classes & CONTEXT != 0 {
            self.context.note(classes, end);
        }
        if classes & INJECTION != 0 && self.wants(Kind::Injection) {
            self.found.hits.push(Hit { word: self.word, start, end, classes });
        }
        if classes & TOXIC != 0 {
            let rule = if classes & TOXIC_SEVERE == 0 { "insult" } else { "slur" };
            self.add(start, end, Kind::Toxicity, rule);
        }
    }

    /// A letter that stands alone: perhaps the first of a word that is spelled out.
    pub(super) fn spelled(&mut self, start: usize) -> Option<usize> {
        let mut at = start;
        let mut letters = Lowered::new();
        let mut places = Vec::new();
        while places.len() < *SPELLED.end() {
            if !is(self.bytes.at(at), LETTER) || is(self.bytes.at(at + 1), LETTER | HIGH | DIGIT) {
                break;
            }
            letters.push(self.bytes.at(at) | 0x20);
            places.push(at);
            if !matches!(self.bytes.at(at + 1), b' ' | b'.' | b'-' | b'_' | b'*') {
                break;
            }
            at += 2;
        }
        if self.more && at + 2 >= self.bytes.len() {
            return None;
        }
        let end = places.last().map_or(start, |last| last + 1);
        if !SPELLED.contains(&places.len()) {
            self.words_between(start, start + 1);
            return Some(start + 1);
        }
        self.spelled_words(letters.bytes(), &places);
        Some(end)
    }

    /// The longest known words in letters that were spelled out, one behind the other.
    fn spelled_words(&mut self, letters: &[u8], places: &[usize]) {
        let mut at = 0;
        while at < letters.len() {
            let longest = (at + 3..=letters.len()).rev().find_map(|to| {
                let classes = LEXICON.look_up(letters.get(at..to)?) & (INJECTION | TOXIC | TOXIC_SEVERE);
                (classes != 0).then_some((to, classes))
            });
            let Some((to, classes)) = longest else {
                at += 1;
                continue;
            };
            if let (Some(first), Some(last)) = (places.get(at), places.get(to - 1)) {
                self.word_is(*first, last + 1, classes);
            }
            at = to;
        }
    }

    /// A run in which digits or signs stand for letters, or that is a word with digits. `word`: how many came before it.
    fn disguised(&mut self, start: usize, end: usize, word: u32) {
        let run = self.slice(start, end).trim_matches(|one: char| ".,:?'()[]".contains(one));
        if run.len() > LONGEST || run.len() < 3 {
            return;
        }
        let from = start + (run.as_ptr() as usize).saturating_sub(self.slice(start, end).as_ptr() as usize);
        let mut lowered = Lowered::new();
        run.bytes().for_each(|byte| lowered.push(byte.to_ascii_lowercase()));
        let named = LEXICON.look_up(lowered.bytes()) & INJECTION;
        if named != 0 {
            return self.word_is(from, from + run.len(), named);
        }
        lowered.clear();
        let mut hidden = None;
        for (at, byte) in run.bytes().enumerate() {
            if byte == b'*' {
                hidden = hidden.or(Some(at));
            }
            match letter_for(byte) {
                Some(letter) => lowered.push(letter),
                None => return,
            }
        }
        let classes = match hidden {
            None => LEXICON.look_up(lowered.bytes()),
            Some(at) => uncovered(lowered.bytes(), at),
        };
        if classes & (INJECTION | TOXIC) != 0 {
            // What stands between the signs was counted as words of its own.
            self.word = word;
            self.word_is(from, from + run.len(), classes & (INJECTION | TOXIC | TOXIC_SEVERE));
        }
    }

    /// Phrases in a run of a script without spaces.
    pub(super) fn phrases(&mut self, start: usize, end: usize) {
        let Some(spaceless) = SPACELESS.as_ref() else { return };
        let run = self.slice(start, end);
        for (from, to, classes) in spaceless.find(run) {
            self.word_is(start + from, start + to, classes);
        }
        self.word = self.word.wrapping_add(1);
    }

    /// The words, keys and ids of a run that has more than letters. Gives where the unit ends if that is later.
    pub(super) fn words_in(&mut self, start: usize, end: usize, flags: u16) -> Option<Option<usize>> {
        if flags & LETTER != 0 && is(self.bytes.at(start), LETTER) && matches!(self.bytes.at(start + 1), b'*' | b'_') {
            let spelled = self.spelled(start)?;
            if spelled > start + 1 {
                return Some(Some(spelled));
            }
        }
        let word = self.word;
        // Keys and encoded data are no words.
        if end - start <= 96 || flags & DIGIT == 0 {
            self.words_between(start, end);
        }
        let judged = self.wants(Kind::Toxicity) || self.wants(Kind::Injection);
        if judged && flags & LETTER != 0 && flags & (DIGIT | DISGUISE) != 0 {
            self.disguised(start, end, word);
        }
        if flags & LETTER != 0 && flags & DIGIT != 0 { self.tokens(start, end) } else { Some(None) }
    }
}

/// `fuuuck`: letters that are repeated more than twice count once, or twice.
fn drawn_out(word: &[u8]) -> Classes {
    let kept = |most: usize| {
        let mut lowered = Lowered::new();
        let (mut before, mut count) = (0, 0);
        for byte in word {
            count = if *byte == before { count + 1 } else { 1 };
            before = *byte;
            if count <= most {
                lowered.push(*byte);
            }
        }
        LEXICON.look_up(lowered.bytes())
    };
    match kept(1) {
        0 => kept(2),
        classes => classes,
    }
}

const fn letter_for(byte: u8) -> Option<u8> {
    Some(match byte {
        b'a'..=b'z' => byte,
        b'A'..=b'Z' => byte | 0x20,
        b'0' => b'o',
        b'1' | b'!' => b'i',
        b'3' => b'e',
        b'4' | b'@' => b'a',
        b'5' | b'$' => b's',
        b'7' | b'+' => b't',
        b'*' => b'*',
        _ => return None,
    })
}

/// `f*ck`: the classes of the word that has a vowel there.
fn uncovered(word: &[u8], at: usize) -> Classes {
    let mut copy = word.to_vec();
    for vowel in b"aeiou" {
        if let Some(place) = copy.get_mut(at) {
            *place = *vowel;
        }
        let classes = LEXICON.look_up(&copy);
        if classes & TOXIC != 0 {
            return classes;
        }
    }
    0
}

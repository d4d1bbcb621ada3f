//! The words that mean something to a check, in one table, so that each word of a text is looked up once.

mod persuasion;
mod spaceless;
mod words;

use std::sync::LazyLock;

pub(crate) use spaceless::SPACELESS;

/// What a word means to the checks: a set of the classes below.
pub(crate) type Classes = u64;

pub(crate) mod class {
    //! One bit for each meaning. The first twelve are context: how near the last such word is, is remembered.
    use super::Classes;

    pub(crate) const CONTEXTS: usize = 12;
    pub(crate) const CONTEXT: Classes = (1 << CONTEXTS) - 1;

    pub(crate) const PHONE: Classes = 1;
    pub(crate) const CARD: Classes = 1 << 1;
    pub(crate) const SSN: Classes = 1 << 2;
    /// Identity papers and tax numbers.
    pub(crate) const ID: Classes = 1 << 3;
    /// Numbers of orders, invoices and the like: what follows is not a telephone.
    pub(crate) const OTHER_NUMBER: Classes = 1 << 4;
    pub(crate) const NUMBER: Classes = 1 << 5;
    pub(crate) const VERSION: Classes = 1 << 6;
    pub(crate) const PASSWORD: Classes = 1 << 7;
    pub(crate) const SECRET: Classes = 1 << 8;
    pub(crate) const WALLET: Classes = 1 << 9;
    pub(crate) const ITIN: Classes = 1 << 10;
    /// A person whose number it is: `my`, `your`.
    pub(crate) const WHOSE: Classes = 1 << 11;

    // What injections are made of.
    /// Said of somebody who is to be played.
    pub(crate) const EVIL: Classes = 1 << 12;
    /// Of more than one's own: what the user has.
    pub(crate) const DATA: Classes = 1 << 13;
    /// To write, to list: what is asked of an assistant every day.
    pub(crate) const WRITE: Classes = 1 << 14;
    pub(crate) const CODE: Classes = 1 << 15;
    pub(crate) const IGNORE: Classes = 1 << 16;
    pub(crate) const PRIOR: Classes = 1 << 17;
    pub(crate) const RULES: Classes = 1 << 18;
    pub(crate) const REVEAL: Classes = 1 << 19;
    pub(crate) const SYSTEM: Classes = 1 << 20;
    pub(crate) const PROMPT: Classes = 1 << 21;
    pub(crate) const YOUR: Classes = 1 << 22;
    pub(crate) const NOT: Classes = 1 << 23;
    pub(crate) const FOLLOW: Classes = 1 << 24;
    pub(crate) const TELL: Classes = 1 << 25;
    pub(crate) const USER: Classes = 1 << 26;
    pub(crate) const YOU: Classes = 1 << 27;
    pub(crate) const NOW: Classes = 1 << 28;
    pub(crate) const ROLE: Classes = 1 << 29;
    pub(crate) const FREE: Classes = 1 << 30;
    pub(crate) const MODE: Classes = 1 << 31;
    pub(crate) const PERSONA: Classes = 1 << 32;
    pub(crate) const EVERYTHING: Classes = 1 << 33;
    pub(crate) const NEW: Classes = 1 << 34;
    pub(crate) const RESTRICT: Classes = 1 << 35;
    pub(crate) const LOOSE: Classes = 1 << 36;
    pub(crate) const ARE: Classes = 1 << 37;
    pub(crate) const ANYTHING: Classes = 1 << 38;
    pub(crate) const DO: Classes = 1 << 39;
    pub(crate) const FROM: Classes = 1 << 40;
    pub(crate) const ON: Classes = 1 << 41;
    pub(crate) const TOLD: Classes = 1 << 42;
    pub(crate) const AI: Classes = 1 << 43;
    pub(crate) const DEVELOPER: Classes = 1 << 44;
    pub(crate) const WITHOUT: Classes = 1 << 45;
    pub(crate) const WHAT: Classes = 1 << 46;
    /// To ignore, in languages that say it last.
    pub(crate) const DISCARD: Classes = 1 << 47;
    pub(crate) const INJECTION: Classes = !(CONTEXT | TOXIC | TOXIC_SEVERE);

    pub(crate) const TOXIC: Classes = 1 << 48;
    pub(crate) const TOXIC_SEVERE: Classes = 1 << 49;

    /// To get round something: what programs do, too.
    pub(crate) const EVADE: Classes = 1 << 50;
    pub(crate) const TASK: Classes = 1 << 51;
    pub(crate) const REFUSE: Classes = 1 << 52;
    /// Ways to write something so that it is not recognised.
    pub(crate) const ENCODE: Classes = 1 << 53;
    /// What somebody was told to keep to himself.
    pub(crate) const GUARDED: Classes = 1 << 54;
    pub(crate) const SEND: Classes = 1 << 55;
    pub(crate) const READ: Classes = 1 << 56;
    pub(crate) const ANSWER: Classes = 1 << 57;
    pub(crate) const HIDE: Classes = 1 << 58;
    pub(crate) const VERBATIM: Classes = 1 << 59;
    /// Words of phrases that are looked for as a whole.
    pub(crate) const PHRASE: Classes = 1 << 60;
    pub(crate) const CIPHER: Classes = 1 << 61;
    pub(crate) const VOID: Classes = 1 << 62;
}

/// Words are at most this long in bytes; nothing longer is looked up.
pub(crate) const LONGEST: usize = 32;

pub(crate) static LEXICON: LazyLock<Lexicon> = LazyLock::new(Lexicon::new);

/// An open-addressed table: the standard one hashes slower than this reads.
pub(crate) struct Lexicon {
    slots: Vec<(u64, Classes)>,
    words: Vec<&'static str>,
    mask: usize,
    /// One bit for each hash, cut short: most words are in no list, and this fits into the nearest cache.
    known: Vec<u64>,
}

/// How many bits there are, as a power of two.
const BITS: u32 = 16;

impl Lexicon {
    fn new() -> Self {
        let tables = [words::TABLE, persuasion::ENGLISH, persuasion::OTHERS];
        let entries: Vec<(&'static str, Classes)> = tables
            .into_iter()
            .flatten()
            .flat_map(|(classes, words)| words.split_whitespace().map(move |word| (word, *classes)))
            .collect();
        let size = (entries.len() * 4).next_power_of_two();
        let known = vec![0; 1 << (BITS - 6)];
        let mut lexicon = Self { slots: vec![(0, 0); size], words: vec![""; size], mask: size - 1, known };
        for (word, classes) in entries {
            lexicon.insert(word, classes);
        }
        lexicon
    }

    fn insert(&mut self, word: &'static str, classes: Classes) {
        let hash = hash(word.as_bytes());
        if let Some(bits) = self.known.get_mut((hash >> (70 - BITS)) as usize) {
            *bits |= 1 << (hash >> (64 - BITS) & 63);
        }
        let mut at = hash as usize & self.mask;
        while let (Some(slot), Some(kept)) = (self.slots.get_mut(at), self.words.get_mut(at)) {
            if slot.1 == 0 || (slot.0 == hash && *kept == word) {
                *slot = (hash, slot.1 | classes);
                *kept = word;
                return;
            }
            at = (at + 1) & self.mask;
        }
    }

    /// The classes of a word in lower case, none if it means nothing.
    pub(crate) fn look_up(&self, word: &[u8]) -> Classes {
        self.look_up_hashed(hash(word), word)
    }

    /// The same for a word in any case of ASCII, whose lower case has this hash.
    #[inline]
    pub(crate) fn look_up_hashed(&self, hash: u64, word: &[u8]) -> Classes {
        let bits = self.known.get((hash >> (70 - BITS)) as usize).copied().unwrap_or_default();
        if bits >> (hash >> (64 - BITS) & 63) & 1 == 0 { 0 } else { self.probe(hash, word) }
    }

    fn probe(&self, hash: u64, word: &[u8]) -> Classes {
        let mut at = hash as usize & self.mask;
        while let Some((kept, classes)) = self.slots.get(at) {
            if *classes == 0 {
                return 0;
            }
            if *kept == hash && self.words.get(at).is_some_and(|known| known.as_bytes().eq_ignore_ascii_case(word)) {
                return *classes;
            }
            at = (at + 1) & self.mask;
        }
        0
    }
}

fn hash(word: &[u8]) -> u64 {
    let mut hash = Hash::new();
    word.iter().for_each(|byte| hash.take(*byte));
    hash.end()
}

/// The hash of a word, made while it is read.
#[derive(Clone, Copy)]
pub(crate) struct Hash(u64);

impl Hash {
    pub(crate) const fn new() -> Self {
        Self(0xcbf2_9ce4_8422_2325)
    }

    #[inline]
    pub(crate) const fn take(&mut self, byte: u8) {
        self.0 = (self.0 ^ byte as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    }

    #[inline]
    pub(crate) const fn end(self) -> u64 {
        self.0 ^ (self.0 >> 29)
    }
}

/// A word in lower case, in place: most words are short ASCII.
pub(crate) struct Lowered {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Lowered {
    pub(crate) const fn new() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }

    pub(crate) fn clear(&mut self) {
        self.length = 0;
    }

    /// Too long a word is cut, and then found nowhere.
    #[inline]
    pub(crate) fn push(&mut self, byte: u8) {
        if let Some(place) = self.bytes.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn push_character(&mut self, character: Option<char>, bytes: &mut [u8; 4]) {
        if let Some(character) = character {
            character.encode_utf8(bytes).bytes().for_each(|byte| self.push(byte));
        }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.bytes.get(..self.length).unwrap_or_default()
    }
}

/// The classes of a word as it is written.
pub(crate) fn classes_of(word: &str) -> Classes {
    if word.len() > LONGEST {
        return 0;
    }
    if word.is_ascii() {
        let mut lowered = Lowered::new();
        word.bytes().for_each(|byte| lowered.push(byte.to_ascii_lowercase()));
        return LEXICON.look_up(lowered.bytes());
    }
    let mut lowered = Lowered::new();
    for character in word.chars() {
        let mut bytes = [0; 4];
        match character {
            // The tables of the standard library are slow, and these letters are most there are.
            '\u{410}'..='\u{42f}' => lowered.push_character(char::from_u32(character as u32 + 32), &mut bytes),
            '\u{430}'..='\u{45f}' | '\u{5d0}'..='\u{6ff}' | '\u{900}'..='\u{e7f}' => {
                lowered.push_character(Some(character), &mut bytes);
            }
            _ => character.to_lowercase().for_each(|lower| lowered.push_character(Some(lower), &mut bytes)),
        }
    }
    LEXICON.look_up(lowered.bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_found_in_any_case_and_language() {
        assert_ne!(classes_of("Telephone") & class::PHONE, 0);
        assert_ne!(classes_of("ИГНОРИРУЙ") & class::IGNORE, 0);
        assert_ne!(classes_of("ignore") & class::IGNORE, 0);
        assert_eq!(classes_of("sunshine"), 0);
        assert_eq!(classes_of(&"a".repeat(100)), 0);
    }

    #[test]
    fn words_are_written_as_texts_are_folded() {
        for (_, words) in words::TABLE {
            for word in words.split_whitespace() {
                assert_eq!(crate::fold::Folded::new(word).text.to_lowercase(), word, "{word}");
                assert!(word.len() <= LONGEST, "{word}");
            }
        }
    }
}

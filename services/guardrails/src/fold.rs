//! The one normalisation that all checks read: what looks alike becomes the same, and every place leads back to the
//! text as it was written.
//!
//! Invisible characters go, digits of every script become `0` to `9`, full-width and mathematical letters become plain
//! ones, accents fall off, and lookalikes from other scripts become Latin where a word mixes scripts. Case stays. ASCII
//! text is borrowed and costs nothing.

mod tables;

use std::borrow::Cow;
use std::ops::Range;

pub(crate) use tables::{is_bidi, is_ignorable, is_spaceless, is_tag, lookalike};
use unicode_normalization::char::decompose_compatible;

/// More invisible characters than this in a row separate words: what is held back of a stream stays bounded.
const MOST_IGNORED: usize = 8;

/// A text as the checks read it.
#[derive(Debug)]
pub(crate) struct Folded<'a> {
    pub(crate) text: Cow<'a, str>,
    /// For each byte of `text`, and for its end, where in the original it comes from. Empty: it is the original.
    places: Vec<u32>,
    /// Something was left out, or words mix scripts: there may be something hidden.
    pub(crate) suspect: bool,
    /// It is not the text as it was written.
    pub(crate) changed: bool,
}

impl<'a> Folded<'a> {
    pub(crate) fn new(original: &'a str) -> Self {
        if original.is_ascii() {
            return Self { text: Cow::Borrowed(original), places: Vec::new(), suspect: false, changed: false };
        }
        let mut folder = Folder::with_capacity(original.len());
        for (place, character) in original.char_indices() {
            folder.take(place, character);
        }
        folder.end_word();
        folder.places.push(place_of(original.len()));
        Self {
            text: Cow::Owned(folder.text),
            places: folder.places,
            suspect: folder.suspect,
            changed: folder.suspect || folder.changed,
        }
    }

    /// The part of the original that became this part of the text.
    pub(crate) fn original(&self, range: Range<usize>) -> Range<usize> {
        if self.places.is_empty() { range } else { self.place(range.start)..self.place(range.end) }
    }

    pub(crate) fn place(&self, at: usize) -> usize {
        if self.places.is_empty() {
            return at;
        }
        self.places.get(at).or(self.places.last()).map_or(at, |place| *place as usize)
    }

    /// Where a place of the original is in the text: the first byte that comes from there or later.
    pub(crate) fn folded(&self, place: usize) -> usize {
        if self.places.is_empty() { place } else { self.places.partition_point(|one| (*one as usize) < place) }
    }
}

/// Texts over 4 GiB are refused long before.
fn place_of(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}

struct Folder {
    text: String,
    places: Vec<u32>,
    ignored: usize,
    /// Where the current word begins in `text`, and what scripts it has.
    word: usize,
    latin: bool,
    lookalikes: bool,
    suspect: bool,
    changed: bool,
}

impl Folder {
    fn with_capacity(length: usize) -> Self {
        Self {
            text: String::with_capacity(length),
            places: Vec::with_capacity(length + 1),
            ignored: 0,
            word: 0,
            latin: false,
            lookalikes: false,
            suspect: false,
            changed: false,
        }
    }

    fn take(&mut self, place: usize, character: char) {
        if character.is_ascii() {
            self.ignored = 0;
            if character.is_ascii_alphabetic() {
                self.latin = true;
            } else if !character.is_ascii_digit() {
                self.push(place, character);
                self.end_word();
                return;
            }
            self.push(place, character);
        } else if tables::stays(character) {
            self.ignored = 0;
            self.kept(place, character);
        } else if is_ignorable(character) {
            self.suspect = true;
            self.ignored += 1;
            if self.ignored == MOST_IGNORED {
                self.push(place, ' ');
                self.end_word();
            }
        } else {
            self.ignored = 0;
            self.changed = true;
            self.other(place, character);
        }
    }

    /// A letter of another script.
    fn kept(&mut self, place: usize, character: char) {
        self.push(place, character);
        if is_spaceless(character) {
            self.end_word();
        } else if lookalike(character).is_some() {
            self.lookalikes = true;
        } else if !tables::is_letter(character) {
            self.end_word();
        }
    }

    /// A visible character outside ASCII that has a plainer one.
    fn other(&mut self, place: usize, character: char) {
        if let Some(plain) = tables::plain(character) {
            for one in plain.chars() {
                self.take(place, one);
            }
            return;
        }
        let mut first = None;
        let mut rest = String::new();
        decompose_compatible(character, |part| {
            if first.is_none() {
                first = Some(part);
            } else if !is_ignorable(part) {
                rest.push(part);
            }
        });
        for part in first.into_iter().chain(rest.chars()) {
            if part.is_ascii() {
                self.take(place, part);
            } else {
                self.push(place, part);
            }
        }
    }

    fn push(&mut self, place: usize, character: char) {
        self.text.push(character);
        let place = place_of(place);
        for _ in 0..character.len_utf8() {
            self.places.push(place);
        }
    }

    /// A word of Latin letters that has lookalikes from elsewhere is meant to be read as Latin.
    fn end_word(&mut self) {
        if self.latin && self.lookalikes {
            self.suspect = true;
            let word = self.text.split_off(self.word);
            let places = self.places.split_off(self.word);
            for (at, character) in word.char_indices() {
                let place = places.get(at).copied().unwrap_or_default();
                self.push(place as usize, lookalike(character).unwrap_or(character));
            }
        }
        self.word = self.text.len();
        self.latin = false;
        self.lookalikes = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_looks_alike_becomes_the_same() {
        for (written, read) in [
            ("plain", "plain"),
            ("４１１１ １１１１", "4111 1111"),
            ("٤١١١", "4111"),
            ("p\u{200b}a\u{ad}y", "pay"),
            ("pаypаl", "paypal"),
            ("игнорируй", "игнорируй"),
            ("𝐢𝐠𝐧𝐨𝐫𝐞", "ignore"),
            ("ⓘgnore", "ignore"),
            ("précédentes", "precedentes"),
            ("pre\u{301}ce", "prece"),
            ("a\u{2011}b\u{a0}c", "a-b c"),
            ("straße", "strasse"),
            ("中文 한국어", "中文 한국어"),
        ] {
            assert_eq!(Folded::new(written).text, read, "{written}");
        }
    }

    #[test]
    fn every_place_leads_back() {
        let written = "x 4\u{200b}1１1 pаy";
        let folded = Folded::new(written);
        assert_eq!(folded.text, "x 4111 pay");
        assert_eq!(&written[folded.original(2..6)], "4\u{200b}1１1");
        assert_eq!(&written[folded.original(7..10)], "pаy");
        assert_eq!(folded.folded(written.find('p').unwrap()), 7);
    }

    #[test]
    fn a_flood_of_invisible_characters_separates() {
        let written = format!("4111{}1111", "\u{200b}".repeat(100));
        assert_eq!(Folded::new(&written).text, "4111 1111");
    }
}

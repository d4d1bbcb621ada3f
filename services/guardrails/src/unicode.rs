//! Characters that hide something: invisible ones, ones that turn the direction of text, and letters that look like
//! others.

use crate::fold::{is_bidi, is_ignorable, is_spaceless, is_tag, lookalike};
use crate::kind::{Kind, Kinds};

/// A place in the text as it was written.
pub(crate) type Place = (usize, usize, Kind, &'static str);

/// What hides in a part of a text.
pub(crate) fn find(text: &str, range: std::ops::Range<usize>, wanted: Kinds) -> Vec<Place> {
    let mut found = Vec::new();
    let part = text.get(range.clone()).unwrap_or_default();
    if part.is_ascii() {
        return found;
    }
    let mut before = text.get(..range.start).and_then(|left| left.chars().next_back());
    let mut word = Word::default();
    for (at, character) in part.char_indices() {
        let (start, end) = (range.start + at, range.start + at + character.len_utf8());
        if is_bidi(character) {
            found.push((start, end, Kind::Bidi, "bidi-control"));
        } else if is_tag(character) {
            found.push((start, end, Kind::Invisible, "tag"));
        } else if hides(before, character, text.get(end..).and_then(|right| right.chars().next())) {
            found.push((start, end, Kind::Invisible, "invisible"));
        }
        if character.is_alphanumeric() && !is_spaceless(character) {
            word.take(start, end, character);
        } else if !is_ignorable(character) {
            found.extend(word.end());
        }
        before = Some(character);
    }
    found.extend(word.end());
    found.retain(|(_, _, kind, _)| wanted.has(*kind));
    found
}

/// Whether an invisible character has no work to do where it stands. Joiners belong into emoji and into scripts that
/// join letters, accents onto letters, and variation selectors behind symbols.
fn hides(before: Option<char>, character: char, behind: Option<char>) -> bool {
    let plain = |one: Option<char>| one.is_none_or(|one| one.is_ascii());
    match character {
        '\u{200b}'
        | '\u{2060}'..='\u{2064}'
        | '\u{feff}'
        | '\u{ad}'
        | '\u{115f}'
        | '\u{1160}'
        | '\u{3164}'
        | '\u{ffa0}' => true,
        '\u{200c}' | '\u{200d}' => plain(before) || plain(behind),
        '\u{fe00}'..='\u{fe0e}' => plain(before) || before.is_some_and(is_ignorable),
        '\u{e0080}'..='\u{e0fff}' => true,
        _ => false,
    }
}

#[derive(Default)]
struct Word {
    start: usize,
    stop: usize,
    latin: bool,
    lookalike: bool,
    other: bool,
}

impl Word {
    fn take(&mut self, start: usize, end: usize, character: char) {
        if self.stop == 0 {
            self.start = start;
        }
        self.stop = end;
        self.latin |= character.is_ascii_alphabetic();
        self.lookalike |= lookalike(character).is_some();
        // Letters that look like nothing in Latin: a word that has them is honestly of their script.
        self.other |=
            !character.is_ascii() && lookalike(character).is_none() && !matches!(character, '\u{c0}'..='\u{24f}');
    }

    /// A word of Latin letters and others that look like them.
    fn end(&mut self) -> Option<Place> {
        let word = std::mem::take(self);
        (word.latin && word.lookalike && !word.other).then_some((
            word.start,
            word.stop,
            Kind::Confusable,
            "mixed-script",
        ))
    }
}

/// What tags spell that nobody sees.
pub(crate) fn hidden_text(text: &str) -> Option<String> {
    let spelled: String = text
        .chars()
        .filter(|one| is_tag(*one))
        .filter_map(|one| char::from_u32(one as u32 - 0xe0000))
        .filter(|one| !one.is_control())
        .collect();
    (spelled.len() >= 8).then_some(spelled)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_hides_is_found_and_what_belongs_is_left() {
        let kinds = |text: &str| {
            find(text, 0..text.len(), Kinds::UNICODE).into_iter().map(|(.., rule)| rule).collect::<Vec<_>>()
        };
        assert_eq!(kinds("pass\u{200b}word"), ["invisible"]);
        assert_eq!(kinds("a\u{202e}b"), ["bidi-control"]);
        assert_eq!(kinds("\u{e0041}\u{e0042}"), ["tag", "tag"]);
        assert_eq!(kinds("pаypal"), ["mixed-script"]);
        for honest in
            ["👩\u{200d}👩\u{200d}👧", "می\u{200c}خواهم", "❤\u{fe0f}", "привет", "naïve café", "日本語", "plain"]
        {
            assert!(kinds(honest).is_empty(), "{honest}");
        }
    }
}

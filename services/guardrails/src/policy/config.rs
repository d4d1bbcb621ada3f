//! What the checks of each type can be told, in the form in which they use it.

use std::sync::Arc;

use aho_corasick::AhoCorasick;
use jsonschema::{PatternOptions, Validator};
use serde_json::Value;

use super::Pattern;
use crate::fold::Folded;
use crate::kind::Kinds;

/// The configuration of a check.
#[derive(Debug, Clone)]
pub(crate) enum Config {
    /// The kinds that are looked for.
    Kinds(Kinds),
    Injection {
        threshold: f32,
    },
    Toxicity {
        severe_only: bool,
    },
    Pattern(Pattern),
    Denylist(Denylist),
    Url(UrlRules),
    Schema(Arc<Validator>),
    Limit(usize),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct UrlRules {
    /// If there are any: addresses elsewhere are findings.
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) exfiltration: bool,
}

/// Terms that are not to occur.
#[derive(Debug, Clone)]
pub(crate) struct Denylist {
    automaton: AhoCorasick,
    whole_words: bool,
}

impl Denylist {
    /// Terms are compared as texts are folded, without case, and with one space for any number of them.
    pub(super) fn new(terms: &[String], whole_words: bool) -> Option<Self> {
        let folded = terms.iter().map(|term| squeeze(&Folded::new(term.trim()).text).0);
        let automaton = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(aho_corasick::MatchKind::LeftmostLongest)
            .build(folded)
            .ok()?;
        Some(Self { automaton, whole_words })
    }

    /// Where terms occur in a piece of folded text.
    pub(crate) fn find(&self, piece: &str) -> Vec<(usize, usize)> {
        let plain = piece.is_ascii() && !piece.as_bytes().windows(2).any(|two| two.iter().all(u8::is_ascii_whitespace));
        if plain && !piece.contains(['\n', '\t']) {
            return self.places(piece).collect();
        }
        let (squeezed, places) = squeeze(piece);
        let place = |at: usize| places.get(at).copied().unwrap_or(piece.len());
        self.places(&squeezed).map(|(start, end)| (place(start), place(end))).collect()
    }

    fn places<'a>(&'a self, text: &'a str) -> impl Iterator<Item = (usize, usize)> + 'a {
        let whole = |start: usize, end: usize| {
            let before = text.get(..start).and_then(|left| left.chars().next_back());
            let behind = text.get(end..).and_then(|right| right.chars().next());
            !self.whole_words || ![before, behind].into_iter().flatten().any(char::is_alphanumeric)
        };
        self.automaton
            .find_iter(text)
            .map(|one| (one.start(), one.end()))
            .filter(move |(start, end)| whole(*start, *end))
    }
}

/// A text in lower case with single spaces, and where each byte of it comes from.
fn squeeze(text: &str) -> (String, Vec<usize>) {
    let mut squeezed = String::with_capacity(text.len());
    let mut places = Vec::with_capacity(text.len() + 1);
    let mut space = false;
    for (at, character) in text.char_indices() {
        if character.is_whitespace() {
            if !space {
                squeezed.push(' ');
                places.push(at);
            }
            space = true;
            continue;
        }
        space = false;
        for lower in character.to_lowercase() {
            squeezed.push(lower);
            places.resize(squeezed.len(), at);
        }
    }
    places.push(text.len());
    (squeezed, places)
}

/// Compiles a schema as schemas of functions are: no references to elsewhere, patterns on a linear engine.
pub(super) fn schema(schema: &Value) -> Result<Arc<Validator>, String> {
    jsonschema::options()
        .with_pattern_options(PatternOptions::regex())
        .build(schema)
        .map(Arc::new)
        .map_err(|error| format!("the schema is not valid: {error} (at `{}`)", error.instance_path()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_however_they_are_spaced() {
        let list = Denylist::new(&["Project Titan".to_owned(), "acme".to_owned()], true).unwrap();
        let text = "the PROJECT \n titan of Acme, not acmeist";
        let found: Vec<_> = list.find(text).into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["PROJECT \n titan", "Acme"]);
    }
}

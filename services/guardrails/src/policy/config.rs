//! What the checks of each type can be told, in the form in which they use it.

use std::collections::BTreeMap;
use std::sync::Arc;

use aho_corasick::{AhoCorasick, Match, MatchKind};
use jsonschema::ValidationError;
use pleat_schemas::Schema;
use serde_json::Value;

use super::Pattern;
use crate::fold::Folded;
use crate::kind::Kinds;
use crate::work::Work;

/// Faults of a schema that are told, and how much of each.
const MOST_FAULTS: usize = 20;
const LONGEST_FAULT: usize = 240;

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
    Schema(Arc<Schema>),
    Limit(usize),
}

#[derive(Debug, Clone, Default)]
pub(crate) struct UrlRules {
    /// If there are any: addresses elsewhere are findings.
    pub(crate) allow: Vec<String>,
    pub(crate) deny: Vec<String>,
    pub(crate) exfiltration: bool,
}

/// Terms that are not to occur: found by their first words, and compared from there on.
#[derive(Debug, Clone)]
pub(crate) struct Denylist {
    beginnings: AhoCorasick,
    /// The terms for each of the beginnings: how long their first word is, and their words in lower case.
    terms: Arc<Vec<Vec<(usize, Term)>>>,
    whole_words: bool,
}

type Term = Vec<String>;

impl Denylist {
    /// Terms are compared as texts are folded, without case, and with one space for any number of them.
    pub(super) fn new(terms: &[String], whole_words: bool) -> Option<Self> {
        let mut beginnings: BTreeMap<String, Vec<Term>> = BTreeMap::new();
        for term in terms {
            let words: Term = Folded::new(term).text.split_whitespace().map(lowered).collect();
            let Some(first) = words.first() else { continue };
            for spelling in spellings(first) {
                beginnings.entry(spelling).or_default().push(words.clone());
            }
        }
        // Whole words begin where no other does, so that the quicker search misses none; a beginning that begins another
        // is looked at with it.
        let kind = if whole_words { MatchKind::LeftmostLongest } else { MatchKind::Standard };
        let builder = AhoCorasick::builder().ascii_case_insensitive(true).match_kind(kind).build(beginnings.keys());
        let shorter = |longer: &str| {
            let ends = longer.char_indices().map(|(at, character)| at + character.len_utf8());
            let inside = ends.filter_map(|end| Some((end, beginnings.get(longer.get(..end)?)?)));
            inside.flat_map(|(end, terms)| terms.iter().map(move |term| (end, term.clone()))).collect::<Vec<_>>()
        };
        let own = |(key, terms): (&String, &Vec<Term>)| terms.iter().map(|term| (key.len(), term.clone())).collect();
        let terms = if whole_words {
            beginnings.keys().map(|key| shorter(key)).collect()
        } else {
            beginnings.iter().map(own).collect()
        };
        Some(Self { beginnings: builder.ok()?, terms: Arc::new(terms), whole_words })
    }

    /// Where terms occur in a piece of folded text. Each beginning costs a look at all terms that begin so. `None`: it is
    /// too much.
    pub(crate) fn find(&self, piece: &str, work: &mut Work) -> Option<Vec<(usize, usize)>> {
        let mut found = Vec::new();
        let mut look = |beginning: Match| {
            let start = beginning.start();
            let terms = self.terms.get(beginning.pattern().as_usize()).map(Vec::as_slice).unwrap_or_default();
            if !work.spend(terms.len()) {
                return false;
            }
            let ends = terms.iter().filter_map(|(length, term)| goes_on(piece, start + length, term.get(1..)?));
            let whole = |end: &usize| !self.whole_words || stands_alone(piece, start, *end);
            found.extend(ends.filter(whole).max().map(|end| (start, end)));
            true
        };
        let finished = if self.whole_words {
            self.beginnings.find_iter(piece).all(&mut look)
        } else {
            self.beginnings.find_overlapping_iter(piece).all(&mut look)
        };
        finished.then_some(found)
    }
}

/// Where the other words of a term end, if they follow.
fn goes_on(text: &str, from: usize, words: &[String]) -> Option<usize> {
    let mut at = from;
    for word in words {
        let rest = text.get(at..)?;
        let next = rest.trim_start();
        let spaces = rest.len() - next.len();
        let mut letters = next.chars().flat_map(|one| lower(one).map(|lower| (lower, one.len_utf8())));
        let mut length = 0;
        let mut last = 0;
        for wanted in word.chars() {
            let (letter, size) = letters.next()?;
            if letter != wanted {
                return None;
            }
            length += last;
            last = size;
        }
        if spaces == 0 {
            return None;
        }
        at += spaces + length + last;
    }
    Some(at)
}

fn stands_alone(text: &str, start: usize, end: usize) -> bool {
    let before = text.get(..start).and_then(|left| left.chars().next_back());
    let behind = text.get(end..).and_then(|right| right.chars().next());
    ![before, behind].into_iter().flatten().any(char::is_alphanumeric)
}

/// One letter in lower case. Letters that become several stay as they are.
fn lower(character: char) -> Option<char> {
    let mut lower = character.to_lowercase();
    if lower.len() == 1 { lower.next() } else { Some(character) }
}

fn lowered(word: &str) -> String {
    word.chars().filter_map(lower).collect()
}

/// How a word is written: the automaton knows the case of ASCII alone.
fn spellings(word: &str) -> Vec<String> {
    if word.is_ascii() {
        return vec![word.to_owned()];
    }
    let mut rest = word.chars();
    let first: String = rest.next().into_iter().flat_map(char::to_uppercase).collect();
    let mut all = vec![word.to_owned(), word.to_uppercase(), first + rest.as_str()];
    all.sort();
    all.dedup();
    all
}

/// Compiles a schema as schemas of functions are. Else everything that is wrong with it, with the place in the schema.
pub(super) fn schema(schema: &Value) -> Result<Arc<Schema>, Vec<(String, String)>> {
    Schema::compile_apart(schema).map(Arc::new).map_err(|refused| {
        let said = |text: &str| {
            let text: String = text.chars().take(LONGEST_FAULT).collect();
            format!("the schema is not valid: {text}")
        };
        let all: Vec<_> = meta_faults(schema, |error| (error.instance_path().to_string(), said(&error.to_string())));
        if all.is_empty() { vec![(refused.pointer, said(&refused.message))] } else { all }
    })
}

/// What the schema of schemas says; nothing of a schema that is written for one that we do not know.
fn meta_faults<T>(schema: &Value, told: impl Fn(&ValidationError<'_>) -> T) -> Vec<T> {
    let dialect = schema.get("$schema").map_or(Some(""), Value::as_str);
    let known = dialect.is_some_and(|name| name.is_empty() || name.contains("://json-schema.org/draft"));
    let validator = known.then(|| jsonschema::meta::validator_for(schema).ok()).flatten();
    validator
        .map(|meta| meta.iter_errors(schema).take(MOST_FAULTS).map(|error| told(&error)).collect())
        .unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn terms_are_found_however_they_are_spaced() {
        let list = Denylist::new(&["Project Titan".to_owned(), "acme".to_owned()], true).unwrap();
        let text = "the PROJECT \n titan of Acme, not acmeist";
        let found: Vec<_> =
            list.find(text, &mut Work::default()).unwrap().into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["PROJECT \n titan", "Acme"]);
        let list =
            Denylist::new(&["проект «титан»".to_owned(), "pro".to_owned(), "project x".to_owned()], false).unwrap();
        let text = "Проект \"ТИТАН\", professor, project  X";
        let found: Vec<_> =
            list.find(text, &mut Work::default()).unwrap().into_iter().map(|(start, end)| &text[start..end]).collect();
        assert_eq!(found, ["Проект \"ТИТАН\"", "pro", "pro", "project  X"]);
    }
}

//! Texts that one reads together: the parts of a message, the items of a list. What is split over them is found in
//! them joined.

use std::collections::HashMap;

use serde_json::Value;

use super::{Leaf, Place, Step, Walk};
use crate::analysis::Spot;
use crate::kind::{Kind, Kinds};
use crate::scan::Peek;

/// Of a long text, so many bytes at its beginning and its end are joined with the neighbours'.
const EDGE: usize = 128;
/// So much is read at a time.
const LONGEST: usize = 32 * 1024;

/// Numbers that are printed in groups.
const NUMBERS: [Kind; 6] = [Kind::Card, Kind::Iban, Kind::Ssn, Kind::Itin, Kind::Phone, Kind::NationalId];

/// Where the texts of the list are among the leaves; made when it is needed.
type Known = Option<HashMap<String, usize>>;

/// A text of the list.
#[derive(Clone, Copy)]
struct Text<'a> {
    /// Which item of the list, and whether the text is its member `text`.
    index: usize,
    member: bool,
    text: &'a str,
}

/// One of the texts that are joined, or a part of it.
struct Item<'a> {
    index: usize,
    member: bool,
    text: &'a str,
    /// How much of the text is left out at its beginning: its end alone is joined.
    skipped: usize,
    /// Where it begins in the joined text.
    start: usize,
    length: usize,
}

impl<'a> Walk<'a, '_> {
    /// Looks at what crosses from one text of a list into the next. `suspicious`: some of them has words of injections.
    pub(super) fn joined(&mut self, list: &'a [Value], first: usize, suspicious: bool) {
        let texts: Vec<Text<'_>> = list.iter().enumerate().filter_map(|(at, item)| text_of(at, item)).collect();
        if texts.len() < 2 {
            return;
        }
        let mut known: Known = None;
        let kinds = self.plan.kinds.without_all(&[Kind::Toxicity, Kind::Url]);
        // Split inside a word or a number.
        for chain in texts.chunk_by(|left, right| goes_on(left.text, right.text)).filter(|chain| chain.len() > 1) {
            let seen = kinds.without_all(&[Kind::Invisible, Kind::Bidi, Kind::Confusable]);
            self.groups(chain, "", told(chain, seen), first, &mut known);
        }
        // Split between the groups of a number.
        let numbers = NUMBERS.iter().filter(|kind| kinds.has(**kind)).fold(Kinds::NONE, |all, kind| all.with(*kind));
        if numbers != Kinds::NONE {
            for chain in texts.chunk_by(|left, right| counts_on(left.text, right.text)).filter(|chain| chain.len() > 1)
            {
                self.groups(chain, " ", told(chain, numbers), first, &mut known);
            }
        }
        // Split between words.
        let judged = suspicious && kinds.has(Kind::Injection);
        if self.plan.pieces || judged {
            let kinds = if judged { Kinds::NONE.with(Kind::Injection) } else { Kinds::NONE };
            self.groups(&texts, " ", kinds, first, &mut known);
        }
    }

    /// Joins some texts at a time.
    fn groups(&mut self, texts: &[Text<'_>], separator: &str, kinds: Kinds, first: usize, known: &mut Known) {
        let mut from = 0;
        while from + 1 < texts.len() {
            let mut items = Vec::new();
            let mut whole = String::new();
            let mut at = from;
            while let Some(text) = texts.get(at).filter(|_| whole.len() < LONGEST) {
                join(&mut items, &mut whole, text, at == from);
                whole.push_str(separator);
                at += 1;
            }
            self.crossing(&whole, &items, kinds, first, known);
            // The last of these is the first of the next, so that nothing falls between.
            from = at.saturating_sub(1).max(from + 1);
        }
    }

    fn crossing(&mut self, whole: &str, items: &[Item<'_>], kinds: Kinds, first: usize, known: &mut Known) {
        for spot in self.plan.spots_of(kinds, whole, 0, &mut self.work).0 {
            let from = items.partition_point(|item| item.start + item.length <= spot.start);
            let touched = || items.iter().skip(from).take_while(|item| item.start < spot.end);
            // What is in one text alone was found there.
            if touched().nth(1).is_none() {
                continue;
            }
            for (nth, item) in touched().enumerate() {
                let start = spot.start.max(item.start) - item.start + item.skipped;
                let end = spot.end.min(item.start + item.length) - item.start + item.skipped;
                self.part(item, Spot { start, end, goes_on: nth > 0, ..spot }, first, known);
            }
        }
    }

    /// Notes a part of something with the text that it is in.
    fn part(&mut self, item: &Item<'_>, spot: Spot, first: usize, known: &mut Known) {
        self.path.push(Step::Index(item.index));
        if item.member {
            self.path.push(Step::Key("text"));
        }
        let pointer = self.pointer();
        self.path.truncate(self.path.len() - if item.member { 2 } else { 1 });
        let known = known.get_or_insert_with(|| {
            let texts = self.leaves.iter().enumerate().skip(first).filter(|(_, leaf)| leaf.place == Place::Text);
            texts.map(|(at, leaf)| (leaf.pointer.clone(), at)).collect()
        });
        let at = *known.entry(pointer.clone()).or_insert_with(|| {
            self.leaves.push(Leaf { pointer, place: Place::Text, text: item.text.to_owned(), spots: Vec::new() });
            self.leaves.len() - 1
        });
        if let Some(leaf) = self.leaves.get_mut(at).filter(|leaf| !leaf.spots.contains(&spot)) {
            leaf.spots.push(spot);
        }
    }
}

/// A text of a list: an item itself, or the text of a part.
fn text_of(index: usize, item: &Value) -> Option<Text<'_>> {
    let (text, member) = match item {
        Value::String(text) => (text.as_str(), false),
        Value::Object(members) => (members.get("text").and_then(Value::as_str)?, true),
        _ => return None,
    };
    (!text.is_empty()).then_some(Text { index, member, text })
}

/// What can be told of some texts together. In a list of plain texts, which may be numbers of anything, only what proves
/// itself can.
fn told(chain: &[Text<'_>], kinds: Kinds) -> Kinds {
    let parts = chain.iter().all(|text| text.member);
    if parts { kinds } else { kinds.without_all(&[Kind::Phone, Kind::NationalId]) }
}

/// Whether a word or a number may go on from one text into the next.
fn goes_on(left: &str, right: &str) -> bool {
    let (end, start) = (left.trim_ascii_end(), right.trim_ascii_start());
    let (last, next) = (end.as_bytes().before(end.len()), start.as_bytes().at(0));
    let touching = end.len() == left.len() && start.len() == right.len();
    let part = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || b"@._-+/=:%'*".contains(&byte);
    (last.is_ascii_digit() && next.is_ascii_digit()) || (touching && part(last) && part(next))
}

/// Whether a number may go on, group by group.
fn counts_on(left: &str, right: &str) -> bool {
    let (end, start) = (left.trim_ascii_end(), right.trim_ascii_start());
    let last = end.as_bytes().before(end.len());
    last.is_ascii_digit() && start.as_bytes().at(0).is_ascii_digit()
}

fn join<'a>(items: &mut Vec<Item<'a>>, whole: &mut String, one: &Text<'a>, first: bool) {
    let Text { index, member, text } = *one;
    if text.len() <= 2 * EDGE {
        items.push(Item { index, member, text, skipped: 0, start: whole.len(), length: text.len() });
        whole.push_str(text);
        return;
    }
    let mut head = EDGE;
    while !text.is_char_boundary(head) {
        head -= 1;
    }
    let mut tail = text.len() - EDGE;
    while !text.is_char_boundary(tail) {
        tail += 1;
    }
    // Nothing reaches from one edge over a gap to the other.
    if !first {
        items.push(Item { index, member, text, skipped: 0, start: whole.len(), length: head });
        whole.push_str(text.get(..head).unwrap_or_default());
        whole.push_str("\n\n");
    }
    items.push(Item { index, member, text, skipped: tail, start: whole.len(), length: text.len() - tail });
    whole.push_str(text.get(tail..).unwrap_or_default());
}

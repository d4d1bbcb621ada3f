//! Texts that one reads together: the parts of a message, the items of a list. What is split over them is found in
//! them joined.

use std::collections::HashMap;

use serde_json::Value;

use super::{Leaf, Place, Step, Walk};
use crate::analysis::Spot;
use crate::kind::Kind;
use crate::policy::CheckType;

/// Of a long text, so many bytes at its beginning and its end are joined with the neighbours'.
const EDGE: usize = 256;
/// So much is read at a time.
const LONGEST: usize = 32 * 1024;

/// Where the texts of the list are among the leaves; made when it is needed.
type Known = Option<HashMap<String, usize>>;

/// One of the texts that are joined.
struct Item<'a> {
    /// Which item of the list, and whether the text is its member `text`.
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
    /// Looks at what crosses from one text of a list into the next.
    pub(super) fn joined(&mut self, list: &'a [Value], first: usize) {
        let texts: Vec<(usize, bool, &str)> =
            list.iter().enumerate().filter_map(|(at, item)| text_of(at, item)).collect();
        if texts.len() < 2 {
            return;
        }
        let mut known: Known = None;
        let mut from = 0;
        while from + 1 < texts.len() {
            let mut items = Vec::new();
            let mut whole = String::new();
            let mut at = from;
            while let Some((index, member, text)) = texts.get(at).copied().filter(|_| whole.len() < LONGEST) {
                join(&mut items, &mut whole, index, member, text, at == from);
                at += 1;
            }
            self.crossing(&whole, &items, false, first, &mut known);
            if self.plan.pieces || self.plan.has(CheckType::PromptInjection) {
                let spaced = spaced(&whole, &mut items);
                self.crossing(&spaced, &items, true, first, &mut known);
            }
            // The last of these is the first of the next, so that nothing falls between.
            from = at.saturating_sub(1).max(from + 1);
        }
    }

    fn crossing(&mut self, whole: &str, items: &[Item<'_>], spaced: bool, first: usize, known: &mut Known) {
        let kinds = |kind: Kind| match kind {
            Kind::Injection | Kind::Denied | Kind::Pattern => true,
            Kind::Phone | Kind::NationalId | Kind::Toxicity | Kind::Url => false,
            _ => !spaced,
        };
        for spot in self.plan.spots(whole, "").into_iter().filter(|spot| kinds(spot.kind)) {
            let touched: Vec<&Item<'_>> =
                items.iter().filter(|item| spot.start < item.start + item.length && item.start < spot.end).collect();
            // What is in one text alone was found there.
            if touched.len() < 2 {
                continue;
            }
            for item in touched {
                let start = spot.start.max(item.start) - item.start + item.skipped;
                let end = spot.end.min(item.start + item.length) - item.start + item.skipped;
                self.part(item, Spot { start, end, ..spot }, first, known);
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
fn text_of(at: usize, item: &Value) -> Option<(usize, bool, &str)> {
    match item {
        Value::String(text) => Some((at, false, text)),
        Value::Object(members) => members.get("text").and_then(Value::as_str).map(|text| (at, true, text)),
        _ => None,
    }
}

fn join<'a>(items: &mut Vec<Item<'a>>, whole: &mut String, index: usize, member: bool, text: &'a str, first: bool) {
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

/// The same with a space between the texts.
fn spaced(whole: &str, items: &mut [Item<'_>]) -> String {
    let mut text = String::with_capacity(whole.len() + items.len());
    let mut at = 0;
    for item in items {
        text.push_str(whole.get(at..item.start).unwrap_or_default());
        text.push(' ');
        at = item.start;
        item.start = text.len();
    }
    text.push_str(whole.get(at..).unwrap_or_default());
    text
}

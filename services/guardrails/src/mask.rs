//! What a finding says of its place: keys are the caller's too, so that a key in which something was found is shown
//! without it.

use std::collections::HashMap;

use crate::analysis::{Plan, Spot};
use crate::redact::Clusters;
use crate::walk::{Leaf, Place, escape};

/// The keys of a value in which something was found, by their pointers, as they may be shown.
pub(crate) struct Masks(HashMap<String, String>);

impl Masks {
    pub(crate) fn of(found: &[(Leaf, Clusters)]) -> Self {
        let keys = found.iter().map(|(leaf, _)| leaf).filter(|leaf| leaf.place == Place::Key);
        Self(keys.map(|key| (key.pointer.clone(), escape(&masked(&key.text, &key.spots)))).collect())
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// A pointer as it may be shown.
    pub(crate) fn shown(&self, pointer: &str) -> String {
        let mut shown = String::with_capacity(pointer.len());
        let mut from = 0;
        for segment in pointer.split('/').skip(1) {
            from += 1 + segment.len();
            let known = pointer.get(..from).and_then(|key| self.0.get(key));
            shown.push('/');
            shown.push_str(known.map_or(segment, String::as_str));
        }
        shown
    }
}

/// A pointer into a value whose keys nobody has looked at.
pub(crate) fn searched(plan: &Plan, pointer: &str) -> String {
    let shown = |segment: &str| {
        let key = segment.replace("~1", "/").replace("~0", "~");
        format!("/{}", escape(&masked(&key, &plan.spots(&key))))
    };
    if plan.reads() { pointer.split('/').skip(1).map(shown).collect() } else { pointer.to_owned() }
}

/// A text with what was found in it left out: its kind stands there instead.
pub(crate) fn masked(text: &str, spots: &[Spot]) -> String {
    let mut spots: Vec<&Spot> = spots.iter().collect();
    spots.sort_by_key(|spot| (spot.start, spot.kind));
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for spot in spots {
        if spot.start >= at {
            out.push_str(text.get(at..spot.start).unwrap_or_default());
            out.push('[');
            out.push_str(spot.kind.label());
            out.push(']');
        }
        at = at.max(spot.end);
    }
    out.push_str(text.get(at..).unwrap_or_default());
    out
}

//! What the words before a place say about it: where the last word of each class was.

use crate::lexicon::class::{CONTEXT, CONTEXTS};
use crate::lexicon::{Classes, classes_of};

/// Where the last words of each class ended.
#[derive(Debug, Default)]
pub(crate) struct Context {
    /// One more than the place, so that zero is never.
    last: [usize; CONTEXTS],
    /// What the name of a member says about its value.
    hint: Classes,
}

/// How long ago the last words of each class were, for a pass that goes on.
pub(crate) type Ages = [Option<u32>; CONTEXTS];

/// A name says something about a value of this length at most.
const HINTED: usize = 64;

impl Context {
    pub(crate) fn hinting(hint: Classes) -> Self {
        Self { hint: hint & CONTEXT, ..Self::default() }
    }

    #[inline]
    pub(crate) fn note(&mut self, classes: Classes, end: usize) {
        let mut rest = classes & CONTEXT;
        while rest != 0 {
            if let Some(last) = self.last.get_mut(rest.trailing_zeros() as usize) {
                *last = end + 1;
            }
            rest &= rest - 1;
        }
    }

    /// How far before `at` the last word of a class ended.
    pub(crate) fn distance(&self, class: Classes, at: usize) -> Option<usize> {
        if self.hint & class != 0 && at < HINTED {
            return Some(0);
        }
        let last = self.last.get(class.trailing_zeros() as usize).copied().unwrap_or_default();
        if last == 0 { None } else { Some((at + 1).saturating_sub(last)) }
    }

    pub(crate) fn near(&self, class: Classes, at: usize, most: usize) -> bool {
        self.distance(class, at).is_some_and(|distance| distance <= most)
    }

    pub(crate) fn ages(&self, at: usize) -> Ages {
        self.last.map(|last| if last == 0 { None } else { u32::try_from((at + 1).saturating_sub(last)).ok() })
    }

    pub(crate) fn aged(self, ages: &Ages, from: usize) -> Self {
        let last = ages.map(|age| age.and_then(|age| (from + 1).checked_sub(age as usize)).unwrap_or_default());
        Self { last, ..self }
    }

    pub(crate) const fn hinted(&self, class: Classes) -> bool {
        self.hint & class != 0
    }
}

/// What the name of a member says: `homePhone`, `api_key`.
pub(crate) fn hint(name: &str) -> Classes {
    let mut hint = classes_of(name);
    if name.len() > HINTED || name.bytes().all(|byte| byte.is_ascii_lowercase()) {
        return hint;
    }
    let mut start = 0;
    let mut last_lower = false;
    for (at, character) in name.char_indices() {
        let splits = !character.is_alphanumeric() || (last_lower && character.is_uppercase());
        if splits {
            hint |= classes_of(name.get(start..at).unwrap_or_default());
            start = if character.is_alphanumeric() { at } else { at + character.len_utf8() };
        }
        last_lower = character.is_lowercase();
    }
    let bare: String = name.chars().filter(|one| one.is_alphanumeric()).collect();
    hint | classes_of(name.get(start..).unwrap_or_default()) | classes_of(&bare)
}

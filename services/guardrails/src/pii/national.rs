//! Identity and tax numbers of countries, by their check digits.
//!
//! A check digit alone lets one number in ten through, so a bare number counts only where the text speaks of an id;
//! without that, it has to be written as the country writes it.

mod digits;
mod letters;

pub(crate) use letters::{LONGEST, lettered};

use super::Taken;
use crate::kind::Kind;
use crate::lexicon::class::{ID, OTHER_NUMBER, PHONE};
use crate::scan::{BEFORE, Digits, Region};

const MOST_GROUPS: usize = 7;

/// A number that is written in a country's own way.
pub(super) fn formatted(region: &Region<'_>, first: usize) -> Option<Taken> {
    let most = region.groups.len().saturating_sub(first).min(MOST_GROUPS);
    let start = region.group(first).start;
    if region.group(first).len() == 6
        && let Some(length) = letters::finnish(region.text, start)
    {
        return Some(Taken { count: 1, found: Some((start, start + length, Kind::NationalId, "fi-hetu")) });
    }
    if let Some((from, to, count, rule)) = letters::printed(region, first) {
        return Some(Taken { count, found: Some((from, to, Kind::NationalId, rule)) });
    }
    (1..=most).rev().find_map(|count| {
        let span = region.span(first, count);
        if !(9..=22).contains(&span.len()) {
            return None;
        }
        let row = digits::FORMATTED.iter().find(|(_, form, check)| written(span, form) && check(&Digits::of(span)))?;
        let telephone = region.context.near(PHONE, start, BEFORE);
        (!telephone || asks(region, first)).then(|| Taken::new(region, first, count, Kind::NationalId, row.0))
    })
}

/// A number in any form, where the text says that it is an id.
pub(super) fn asked(region: &Region<'_>, first: usize) -> Option<Taken> {
    if !asks(region, first) {
        return None;
    }
    let most = region.groups.len().saturating_sub(first).min(MOST_GROUPS);
    (1..=most).rev().find_map(|count| {
        let digits = Digits::of(region.span(first, count));
        let row = digits::ASKED.iter().find(|(_, length, check)| digits.values().len() == *length && check(&digits))?;
        Some(Taken::new(region, first, count, Kind::NationalId, row.0))
    })
}

fn asks(region: &Region<'_>, first: usize) -> bool {
    let start = region.group(first).start;
    let Some(distance) = region.context.distance(ID, start) else { return false };
    let closer = |class| region.context.distance(class, start).is_some_and(|other| other < distance);
    distance <= BEFORE && !closer(PHONE) && !closer(OTHER_NUMBER)
}

/// Whether a text has digits where a form has `#`, and the same elsewhere.
fn written(text: &str, form: &str) -> bool {
    text.len() == form.len()
        && text
            .bytes()
            .zip(form.bytes())
            .all(|(byte, wanted)| if wanted == b'#' { byte.is_ascii_digit() } else { byte == wanted })
}

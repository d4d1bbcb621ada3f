//! Personal data: one file per kind. Each finder is shown a candidate and decides; none searches a text of its own.

mod card;
mod checksum;
mod email;
mod iban;
mod ip;
mod mac;
mod national;
mod phone;
mod ssn;
mod wallet;

pub(crate) use email::emails;
pub(crate) use iban::{Iban, iban};
pub(crate) use ip::ipv6;
pub(crate) use mac::{SHORTEST as SHORTEST_MAC, macs};
pub(crate) use national::{LONGEST as LONGEST_ID, lettered};
pub(crate) use phone::has_extension;
pub(crate) use wallet::{SHORTEST as SHORTEST_WALLET, wallet};

use crate::kind::Kind;
use crate::lexicon::class::{CARD, OTHER_NUMBER};
use crate::scan::Region;

/// A single group of fewer digits is nothing.
const SHORTEST: usize = 6;

/// Groups of a region that belong together, and what they are. Nothing: a date, which is no finding but is no part of
/// one either.
#[derive(Debug)]
pub(crate) struct Taken {
    pub(crate) count: usize,
    pub(crate) found: Option<(usize, usize, Kind, &'static str)>,
}

impl Taken {
    fn new(region: &Region<'_>, first: usize, count: usize, kind: Kind, rule: &'static str) -> Self {
        let start = region.group(first).start;
        let end = region.group(first + count - 1).end;
        Self { count, found: Some((start, end, kind, rule)) }
    }
}

/// What the number is that begins with this group. What proves itself by a check digit comes first.
pub(crate) fn number(region: &Region<'_>, first: usize) -> Option<Taken> {
    // Most numbers are short and alone, and nothing.
    if first + 1 >= region.groups.len() && region.group(first).len() < SHORTEST {
        return None;
    }
    if let Some(taken) = ip::ipv4(region, first) {
        return Some(taken);
    }
    if in_row(region, first) {
        return None;
    }
    // A plus before it is a telephone's.
    if region.byte(region.group(first).start.wrapping_sub(1)) == b'+'
        && let Some(taken) = phone::phone(region, first)
    {
        return Some(taken);
    }
    if let Some(taken) = card::card(region, first) {
        return Some(taken);
    }
    if let Some(taken) = ssn::ssn(region, first) {
        return Some(taken);
    }
    if let Some(taken) = national::formatted(region, first) {
        return Some(taken);
    }
    if let Some(count) = date(region, first) {
        return Some(Taken { count, found: None });
    }
    if let Some(taken) = national::asked(region, first) {
        return Some(taken);
    }
    if region.strict { None } else { phone::phone(region, first) }
}

/// Part of a row of blocks that is too long for a card, and was called something else: `tracking 9400 1000 …`.
fn in_row(region: &Region<'_>, first: usize) -> bool {
    const LONGEST_CARD: usize = 19;
    const RIGHT_BEFORE: usize = 16;
    let joins = |at: usize| region.group(at).len() == 4 && region.between(at) == " ";
    if region.groups.len() < 5 || (first > 0 && !joins(first - 1)) || (first == 0 && !joins(0)) {
        return false;
    }
    let from = (0..first).rev().take_while(|at| joins(*at)).last().unwrap_or(first);
    let to = (from..region.groups.len()).take_while(|at| joins(*at)).last().unwrap_or(from) + 1;
    let start = region.group(from).start;
    let digits: usize = region.lengths(from, to + 1 - from).sum();
    digits > LONGEST_CARD
        && region.context.near(OTHER_NUMBER, start, RIGHT_BEFORE)
        && !region.context.near(CARD, start, RIGHT_BEFORE)
}

/// Three groups that are a day.
fn date(region: &Region<'_>, first: usize) -> Option<usize> {
    if first + 3 > region.groups.len() {
        return None;
    }
    let separator = region.between(first);
    if !matches!(separator, "-" | "/" | ".") || region.between(first + 1) != separator {
        return None;
    }
    let value = |at: usize| region.span(first + at, 1).parse::<u32>().unwrap_or(u32::MAX);
    let lengths = [0, 1, 2].map(|at| region.group(first + at).len());
    let day_and_month = |one: u32, other: u32| (1..=31).contains(&one) && (1..=12).contains(&other);
    let either =
        |one: usize, other: usize| day_and_month(value(one), value(other)) || day_and_month(value(other), value(one));
    let is_date = match lengths {
        [4, 1..=2, 1..=2] => (1800..=2200).contains(&value(0)) && either(1, 2),
        [1..=2, 1..=2, 4] => (1800..=2200).contains(&value(2)) && either(0, 1),
        [1..=2, 1..=2, 2] => either(0, 1) || either(1, 2),
        _ => false,
    };
    // A date may go on with the hours; a longer row of pairs is none.
    let goes_on = first + 3 < region.groups.len() && region.between(first + 2) == separator;
    (is_date && !goes_on).then_some(3)
}

//! Telephone numbers of all regions: by their shape where it is a telephone's, else by the words around them.
//!
//! There is no check digit, so a number that could be anything counts only near a word that says so.

mod codes;

use super::Taken;
use crate::kind::Kind;
use crate::lexicon::class::{NUMBER, OTHER_NUMBER, PHONE, WHOSE};
use crate::lexicon::classes_of;
use crate::scan::{BEHIND, Peek, Region};

/// Words behind a number that say whose telephone it is.
const BEHIND_WORDS: &[&str] = &["office", "home", "work", "mobile", "cell", "fax", "phone", "tel", "direct", "desk"];
const MOST_GROUPS: usize = 7;

pub(super) fn phone(region: &Region<'_>, first: usize) -> Option<Taken> {
    let lead = Lead::of(region, first);
    let most = region.groups.len().saturating_sub(first).min(MOST_GROUPS);
    let named_otherwise = otherwise(region, lead.start);
    let by_shape = (1..=most).rev().find(|count| {
        let shape = Shape::new(region, first, *count);
        lead.international(&shape) || (!named_otherwise && shape.telling(&lead))
    });
    let count = by_shape.or_else(|| {
        let fits = |count: &usize| Shape::new(region, first, *count).possible(&lead);
        let longest = (1..=most).rev().find(fits)?;
        let short = region.span(first, longest).bytes().filter(u8::is_ascii_digit).count() <= 7;
        let street = short && before_a_name(region, region.group(first + longest - 1).end);
        (!street && asked(region, &lead, first, longest)).then_some(longest)
    })?;
    let end = region.group(first + count - 1).end;
    let end = extension(region.text, end).unwrap_or(end);
    let end = if lead.wrapped && region.byte(end) == b')' { end + 1 } else { end };
    Some(Taken { count, found: Some((lead.start, end, Kind::Phone, "phone")) })
}

/// What stands before the first group.
struct Lead {
    start: usize,
    plus: bool,
    /// The first group is in brackets.
    bracket: bool,
    /// All of it is.
    wrapped: bool,
}

impl Lead {
    fn of(region: &Region<'_>, first: usize) -> Self {
        let group = region.group(first);
        let mut start = group.start;
        let mut plus = false;
        let mut bracket = false;
        if region.byte(start.wrapping_sub(1)) == b'(' && region.byte(group.end) == b')' {
            start -= 1;
            bracket = true;
        }
        if region.byte(start.wrapping_sub(1)) == b'+' {
            start -= 1;
            plus = true;
            if region.byte(start.wrapping_sub(1)) == b'(' && region.byte(group.end) == b')' {
                start -= 1;
            }
        }
        Self { start, plus, bracket, wrapped: false }
    }

    /// A number that says its country.
    fn international(&self, shape: &Shape) -> bool {
        if !shape.separators_fit {
            return false;
        }
        let digits = shape.digits.as_bytes();
        let behind = |skipped: usize| codes::fits(digits.get(skipped..).unwrap_or_default());
        if self.plus {
            return behind(0);
        }
        let zeros = shape.digits.starts_with("00")
            && shape.lengths.first().is_some_and(|length| *length != 2 || shape.lengths.len() > 2);
        let dialled = shape.digits.starts_with("011") && shape.lengths.first() == Some(&3);
        shape.lengths.len() >= 2 && ((zeros && behind(2)) || (dialled && behind(3)))
    }
}

/// How the groups of a candidate are written.
struct Shape {
    lengths: Vec<usize>,
    digits: String,
    /// Between all groups stands what may stand in a telephone number.
    separators_fit: bool,
    hyphens: bool,
    dots: bool,
    spaces: bool,
}

impl Shape {
    fn new(region: &Region<'_>, first: usize, count: usize) -> Self {
        let between =
            |separators: &[&str]| (first..first + count - 1).all(|at| separators.contains(&region.between(at)));
        Self {
            lengths: region.lengths(first, count).collect(),
            digits: region.span(first, count).chars().filter(char::is_ascii_digit).collect(),
            separators_fit: between(&[
                " ", "-", ".", "/", ") ", ")", ")-", ").", ")/", " (", "-(", ".(", "(", " - ", " / ",
            ]),
            hyphens: between(&["-", ") ", ")", ")-"]),
            dots: between(&[".", ") ", ")", ")."]),
            spaces: between(&[" ", ") ", ")"]),
        }
    }

    /// Shapes that only telephones have.
    fn telling(&self, lead: &Lead) -> bool {
        let total = self.digits.len();
        let digit = |at: usize| self.digits.as_bytes().at(at);
        if !self.separators_fit {
            return false;
        }
        if self.lengths.len() < 2 {
            // Nothing else of this length begins with one zero.
            return digit(0) == b'0' && digit(1) != b'0' && (10..=11).contains(&total);
        }
        let uniform = self.hyphens || self.dots || self.spaces;
        let first = self.lengths.first().copied().unwrap_or_default();
        let north_american = match self.lengths.as_slice() {
            [3, 3, 4] => self.hyphens || self.dots || self.plausible(0),
            [1, 3, 3, 4] => self.digits.starts_with('1'),
            [3, 3, 2, 2] => uniform,
            [3, 7] => lead.bracket,
            _ => false,
        };
        let bracketed = lead.bracket && (2..=5).contains(&first) && (8..=12).contains(&total) && self.even();
        let trunk = self.digits.starts_with('0')
            && !self.digits.starts_with("00")
            && (9..=11).contains(&total)
            && ((2..=5).contains(&first) || (first == 1 && self.lengths.len() > 2))
            && self.even();
        let pairs = self.lengths.iter().all(|length| *length == 2)
            && ((self.lengths.len() == 4 && self.hyphens) || (self.lengths.len() == 5 && uniform));
        north_american || bracketed || trunk || pairs
    }

    /// An area and an exchange as they are given out, or a trunk zero.
    fn plausible(&self, from: usize) -> bool {
        let digit = |at: usize| self.digits.as_bytes().at(from + at);
        digit(0) == b'0' || ((b'2'..=b'9').contains(&digit(0)) && (b'2'..=b'9').contains(&digit(3)))
    }

    /// No group but the first stands alone with one digit, and none is very long.
    fn even(&self) -> bool {
        self.lengths.iter().skip(1).all(|length| (2..=8).contains(length))
    }

    /// Could be a telephone, if something says so.
    fn possible(&self, lead: &Lead) -> bool {
        let total = self.digits.len();
        let first_alone = matches!(self.digits.as_bytes().first(), Some(b'0' | b'1' | b'7' | b'8'));
        let first = self.lengths.first().copied().unwrap_or_default();
        let enough = if self.lengths.len() == 1 { 7 } else { 6 };
        let most = if lead.plus || self.digits.starts_with("00") { 15 } else { 12 };
        self.separators_fit && (enough..=most).contains(&total) && (first >= 2 || first_alone) && self.even()
    }
}

/// Whether the words around say that it is a telephone.
fn asked(region: &Region<'_>, lead: &Lead, first: usize, count: usize) -> bool {
    let context = region.context;
    let plain = count == 1;
    if behind(region, region.group(first + count - 1).end) {
        return true;
    }
    let other = context.distance(OTHER_NUMBER, lead.start).unwrap_or(usize::MAX);
    if let Some(distance) = context.distance(PHONE, lead.start) {
        return distance <= crate::scan::BEFORE && (context.hinted(PHONE) || other > distance);
    }
    let numbered = context.near(NUMBER, lead.start, BEHIND) && context.near(WHOSE, lead.start, 40);
    numbered && other > 40 && (!plain || (9..=11).contains(&region.group(first).len()))
}

/// Whether the number was called something else just before.
fn otherwise(region: &Region<'_>, start: usize) -> bool {
    let context = region.context;
    let other = context.distance(OTHER_NUMBER, start).unwrap_or(usize::MAX);
    other <= 16 && context.distance(PHONE, start).is_none_or(|distance| distance > other)
}

/// A word right behind the number: `555 1234 office`, `-Fax`.
fn behind(region: &Region<'_>, end: usize) -> bool {
    let end = extension(region.text, end).unwrap_or(end);
    let most = end + BEHIND;
    let bytes = region.text.as_bytes();
    let Some(start) = (end..end + 4).find(|at| bytes.at(*at).is_ascii_alphabetic()) else { return false };
    if !bytes.get(end..start).unwrap_or_default().iter().all(|byte| matches!(byte, b' ' | b'-' | b'(' | b',')) {
        return false;
    }
    let stop = (start..most).find(|at| !bytes.at(*at).is_ascii_alphabetic()).unwrap_or(most);
    let word = region.text.get(start..stop).unwrap_or_default();
    let gap = start - end;
    gap > 0
        && (BEHIND_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
            || (word.len() > 3 && classes_of(word) & PHONE != 0))
}

/// A number before a capital is a house number more often than a telephone.
pub(super) fn before_a_name(region: &Region<'_>, end: usize) -> bool {
    region.byte(end) == b' ' && region.byte(end + 1).is_ascii_uppercase()
}

/// Whether an extension begins here: `x123`, `ext. 123`.
pub(crate) fn has_extension(text: &str, end: usize) -> bool {
    extension(text, end).is_some()
}

fn extension(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    while at < end + 2 && matches!(bytes.at(at), b' ' | b',') {
        at += 1;
    }
    let word = ["extension", "ext.", "ext", "x"]
        .into_iter()
        .find(|word| text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))?;
    at += word.len();
    if word.len() > 1 && matches!(bytes.at(at), b' ' | b':') {
        at += 1;
    }
    let stop = (at..at + 7).find(|place| !bytes.at(*place).is_ascii_digit())?;
    (stop > at && !bytes.at(stop).is_ascii_alphanumeric()).then_some(stop)
}

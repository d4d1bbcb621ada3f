//! Telephone numbers of all regions: by their shape where it is a telephone's, else by the words around them.
//!
//! There is no check digit, so a number that could be anything counts only near a word that says so.

mod around;
mod codes;

use super::Taken;
use crate::kind::Kind;
use crate::lexicon::class::PHONE;
use crate::scan::{Peek, Region};
pub(crate) use around::has_extension;
use around::{asked, employs, extension, otherwise};
pub(super) use around::{before_a_name, name};

/// A word that far before a number is about it, whatever its shape.
const RIGHT_BEFORE: usize = 4;
const MOST_GROUPS: usize = 7;
/// With the longest prefix there is.
const LONGEST: usize = 18;

pub(super) fn phone(region: &Region<'_>, first: usize) -> Option<Taken> {
    let lead = Lead::of(region, first);
    // The rest of another number.
    let before = region.byte(lead.start.wrapping_sub(1));
    let prior = region.byte(lead.start.wrapping_sub(2));
    if matches!(before, b'.' | b'-' | b'/' | b',' | b':') && prior.is_ascii_digit() {
        return None;
    }
    // `INV-2024-90375`: the number has a name, and only `tel-` names a telephone.
    let tagged = matches!(before, b'-' | b'#' | b'_') && prior.is_ascii_alphanumeric();
    let tagged = (tagged || before == b'#') && !region.context.near(PHONE, lead.start, 1);
    let named_otherwise = tagged || otherwise(region, lead.start);
    let (mut telling, mut loose, mut possible) = (None, None, None);
    let mut shape = Shape::default();
    for count in 1..=region.groups.len().saturating_sub(first).min(MOST_GROUPS) {
        shape.take(region, first + count - 1, count == 1);
        let dated = count > 1 && dated(region, first + count - 1);
        if !shape.separators_fit || shape.length > LONGEST || dated {
            break;
        }
        let cut = shape.first() == 1 && region.byte(region.group(first + count - 1).end) == b'-';
        let other = named_otherwise || cut || (shape.is_employer() && employs(region, lead.start));
        if lead.international(&shape) || (!other && shape.telling(&lead)) {
            telling = Some(count);
        } else if loose.is_none() && lead.plus && shape.spread() && !goes_on(region, first + count - 1) {
            loose = Some(count);
        } else if !tagged && shape.possible(&lead) && !goes_on(region, first + count - 1) {
            possible = Some((count, shape.length));
        }
    }
    let count = telling.or(loose).or_else(|| {
        let (count, digits) = possible?;
        let street = digits <= 7 && before_a_name(region, region.group(first + count - 1).end);
        let other =
            street || (unlike(region, &lead, first, count) && !region.context.near(PHONE, lead.start, RIGHT_BEFORE));
        (!other && asked(region, &lead, first, count)).then_some(count)
    })?;
    let end = region.group(first + count - 1).end;
    let end = extension(region.text, end).unwrap_or(end);
    // Brackets round the whole are none of it.
    let around = count == 1 && region.byte(lead.start) == b'(';
    Some(Taken { count, found: Some((lead.start + usize::from(around), end, Kind::Phone, "phone")) })
}

/// Whether a date begins with this group: one that is written otherwise than the groups before it.
fn dated(region: &Region<'_>, at: usize) -> bool {
    let year = region.group(at).len() == 4 || region.group(at + 2).len() == 4;
    (year || region.between(at - 1) != region.between(at)) && super::date(region, at).is_some()
}

/// Whether the number goes on behind this group: what is cut from a longer one is none.
fn goes_on(region: &Region<'_>, last: usize) -> bool {
    last + 1 < region.groups.len() && matches!(region.between(last), "-" | "." | "/")
}

/// What has another meaning more often: a postal code with five digits and four, and a day in eight digits.
fn unlike(region: &Region<'_>, lead: &Lead, first: usize, count: usize) -> bool {
    match region.group(first).len() {
        5 => !lead.plus && !lead.bracket && is_postal(region, first, count),
        8 => count == 1 && is_day(region.span(first, 1)),
        _ => false,
    }
}

fn is_postal(region: &Region<'_>, first: usize, count: usize) -> bool {
    count == 2 && region.group(first + 1).len() == 4 && region.between(first) == "-"
}

/// Year, month and day, as programs write them.
fn is_day(text: &str) -> bool {
    let number = |range: std::ops::Range<usize>| text.get(range).and_then(|part| part.parse::<u32>().ok());
    let within = |range, least, most| number(range).is_some_and(|value| (least..=most).contains(&value));
    within(0..4, 1900, 2099) && within(4..6, 1, 12) && within(6..8, 1, 31)
}

/// What stands before the first group.
struct Lead {
    start: usize,
    plus: bool,
    /// The first group is in brackets.
    bracket: bool,
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
        Self { start, plus, bracket }
    }

    /// A number that says its country.
    fn international(&self, shape: &Shape) -> bool {
        let behind = |skipped: usize| codes::fits(shape.digits().get(skipped..).unwrap_or_default());
        if self.plus {
            return behind(0);
        }
        let first = shape.first();
        let zeros = shape.starts_with(b"00") && (first != 2 || shape.groups > 2);
        let dialled = shape.starts_with(b"011") && first == 3;
        shape.groups >= 2 && ((zeros && behind(2)) || (dialled && behind(3)))
    }
}

/// How the groups of a candidate are written, one more at a time.
#[derive(Default)]
struct Shape {
    lengths: [usize; MOST_GROUPS],
    groups: usize,
    digits: [u8; 24],
    length: usize,
    /// Between all groups stands what may stand in a telephone number.
    separators_fit: bool,
    hyphens: bool,
    dots: bool,
    spaces: bool,
    /// Before the last group stands a hyphen.
    hyphen_last: bool,
}

impl Shape {
    fn take(&mut self, region: &Region<'_>, at: usize, first: bool) {
        if first {
            (self.separators_fit, self.hyphens, self.dots, self.spaces) = (true, true, true, true);
        } else {
            let separator = region.between(at - 1);
            let bracket = matches!(separator, ") " | ")");
            self.hyphens &= bracket || matches!(separator, "-" | ")-");
            self.dots &= bracket || matches!(separator, "." | ").");
            self.spaces &= bracket || separator == " ";
            let known = bracket || matches!(separator, " " | "-" | "." | "/" | "/ " | ")-" | ")." | ")/");
            self.hyphen_last = separator == "-";
            self.separators_fit &= known || matches!(separator, " (" | "-(" | ".(" | "(" | " - " | " / ");
        }
        if let Some(place) = self.lengths.get_mut(self.groups) {
            *place = region.group(at).len();
            self.groups += 1;
        }
        for byte in region.span(at, 1).bytes() {
            if let Some(place) = self.digits.get_mut(self.length) {
                *place = byte;
            }
            self.length += 1;
        }
    }

    fn digits(&self) -> &[u8] {
        self.digits.get(..self.length).unwrap_or_default()
    }

    fn lengths(&self) -> &[usize] {
        self.lengths.get(..self.groups).unwrap_or_default()
    }

    fn first(&self) -> usize {
        self.lengths().first().copied().unwrap_or_default()
    }

    fn starts_with(&self, start: &[u8]) -> bool {
        self.digits().starts_with(start)
    }

    /// Shapes that only telephones have.
    fn telling(&self, lead: &Lead) -> bool {
        let total = self.length;
        let digit = |at: usize| self.digits.at(at);
        if self.groups < 2 {
            // Nothing else of this length begins with one zero.
            return digit(0) == b'0' && digit(1) != b'0' && (10..=11).contains(&total);
        }
        let uniform = self.hyphens || self.dots || self.spaces;
        let first = self.first();
        let national = match self.lengths() {
            [3, 3, 4] => self.hyphens || self.dots || self.plausible(),
            [1, 3, 3, 4] => digit(0) == b'1',
            [1, 3, 3, 2, 2] => matches!(digit(0), b'7' | b'8'),
            [3, 3, 2, 2] | [3, 2, 2, 2] | [2, 3, 2, 2] => uniform && digit(0) != b'0',
            [2, 4 | 5, 4] => self.hyphen_last,
            [3, 7] | [1, 3 | 4, 4] => lead.bracket,
            // Budapest.
            [2, 1, 3, 4] => self.starts_with(b"06"),
            _ => false,
        };
        let bracketed = lead.bracket && (2..=5).contains(&first) && (8..=13).contains(&total) && self.even();
        // Long areas have long numbers, in Germany and Austria.
        let most = if first < 4 { 11 } else { 13 };
        let trunk = digit(0) == b'0'
            && !self.starts_with(b"00")
            && (9..=most).contains(&total)
            && ((2..=5).contains(&first) || (first == 1 && self.groups > 2))
            // The shapes of a social security number that is none, and of a postal code.
            && (self.lengths() != [3, 2, 4] || self.spaces)
            && (self.lengths() != [5, 4] || !self.hyphens)
            && self.even();
        let pairs = self.lengths().iter().all(|length| *length == 2)
            && ((self.groups == 4 && self.hyphens) || (self.groups == 5 && uniform));
        national || bracketed || trunk || pairs
    }

    /// The shape that employers' numbers have in the United States, too.
    fn is_employer(&self) -> bool {
        self.hyphens && self.lengths() == [2, 7]
    }

    /// An area and an exchange as they are given out, or a trunk zero.
    fn plausible(&self) -> bool {
        let given = |at: usize| (b'2'..=b'9').contains(&self.digits.at(at));
        self.digits.at(0) == b'0' || (given(0) && given(3))
    }

    /// Behind a plus, in more groups than a sum has, or in other ones: a telephone, even if no country has such numbers.
    fn spread(&self) -> bool {
        let rest = self.lengths().get(1..).unwrap_or_default();
        let thousands = rest.iter().all(|length| *length == 3) && !self.hyphens;
        self.groups > 2 && !thousands && self.first() <= 4 && (10..=15).contains(&self.length)
    }

    /// No group but the first stands alone with one digit, and none is very long.
    fn even(&self) -> bool {
        self.lengths().iter().skip(1).all(|length| (2..=9).contains(length))
    }

    /// Could be a telephone, if something says so.
    fn possible(&self, lead: &Lead) -> bool {
        let first_alone = matches!(self.digits.at(0), b'0' | b'1' | b'7' | b'8');
        let fewest = if self.groups == 1 { 7 } else { 6 };
        // Two groups with a point between them are a fraction.
        let fraction =
            self.groups == 2 && self.dots && !matches!(self.lengths(), [3 | 4, 4]) && !lead.plus && !lead.bracket;
        let most = if lead.plus || self.starts_with(b"00") { 15 } else { 12 };
        !fraction && (fewest..=most).contains(&self.length) && (self.first() >= 2 || first_alone) && self.nearly_even()
    }

    /// The same, but for one group inside.
    fn nearly_even(&self) -> bool {
        let rest = self.lengths().get(1..).unwrap_or_default();
        let single = rest.iter().filter(|length| **length == 1).count();
        let inside = rest.last() != Some(&1) && self.length > 6 && !self.dots;
        rest.iter().all(|length| *length <= 8) && (single == 0 || (single == 1 && inside))
    }
}

//! Numbers of the United States: social security (SSN) and individual taxpayers (ITIN).

use super::Taken;
use super::checksum::uniform;
use super::phone::before_a_name;
use crate::kind::Kind;
use crate::lexicon::class::{ID, ITIN, NUMBER, OTHER_NUMBER, PHONE, SSN};
use crate::scan::{BEFORE, BEHIND, Digits, Group, Peek, Region};

/// Printed in advertisements, and used by nobody.
const FAKES: &[u64] = &[78_051_120, 219_099_999, 457_555_462, 123_456_789];

/// A word that far before a number is about it, and not about another.
const RIGHT_BEFORE: usize = 8;

pub(super) fn ssn(region: &Region<'_>, first: usize) -> Option<Taken> {
    let lengths = [0, 1, 2].map(|at| region.group(first + at).len());
    if !matches!(lengths, [3, 2, 4] | [9, ..] | [3, 6, _] | [5, 4, _]) {
        return None;
    }
    let start = region.group(first).start;
    let named = region.near(SSN, start);
    let taxed = region.near(ITIN, start);
    // Postal codes have five and four digits, too.
    let told = region.context.near(SSN, start, RIGHT_BEFORE);
    let telephone = nearer(region, PHONE, SSN, start);
    let count = match lengths {
        [3, 2, 4] if same(region, first) || (told && spaced(region, first)) => 3,
        [9, ..] if (named && !telephone) || taxed || behind(region, first) || zero(region, first) => 1,
        [3, 6, ..] if region.between(first) == "-" && (named || taxed || alone(region, first, 2)) => 2,
        [5, 4, ..] if told && region.between(first) == "-" => 2,
        _ => return None,
    };
    let digits = Digits::of(region.span(first, count));
    let (area, group, serial) = (digits.number(0..3), digits.number(3..5), digits.number(5..9));
    if group == 0 || serial == 0 || uniform(digits.values()) || FAKES.contains(&digits.number(0..9)) && !named {
        return None;
    }
    if (1..=899).contains(&area) && area != 666 {
        // Spaces are how many other numbers are written too.
        let end = region.group(first + count - 1).end;
        let spaced = count > 1 && region.between(first) == " ";
        let other = spaced && !named && (region.near(PHONE, start) || before_a_name(region, end));
        return (!other).then(|| Taken::new(region, first, count, Kind::Ssn, "ssn"));
    }
    let itin = area >= 900 && matches!(group, 50..=65 | 70..=88 | 90..=92 | 94..=99);
    let meant = count == 3 || taxed || region.near(ID, start);
    (itin && meant).then(|| Taken::new(region, first, count, Kind::Itin, "itin"))
}

/// Nothing but these and telephones has nine digits of which the first is a zero.
fn zero(region: &Region<'_>, first: usize) -> bool {
    let Group { start, .. } = region.group(first);
    let other = |class| region.context.near(class, start, BEFORE);
    let alone = region.groups.len() == 1
        && !matches!(region.byte(start.wrapping_sub(1)), b'-' | b'#' | b'.' | b':' | b'=' | b'/');
    // Who writes in another script has no such number.
    let foreign = region.has_around(start, start, |byte| byte >= 0x80);
    alone
        && !foreign
        && region.byte(start) == b'0'
        && !other(PHONE)
        && !other(OTHER_NUMBER)
        && !other(ID)
        && !other(NUMBER)
}

/// Whether the last word of a class is nearer than that of another.
fn nearer(region: &Region<'_>, class: u64, than: u64, start: usize) -> bool {
    let distance = |class| region.context.distance(class, start).unwrap_or(usize::MAX);
    distance(class) < distance(than)
}

/// Whether nothing is said around it, nor by the name of the member: then there is no other number of this form.
fn alone(region: &Region<'_>, first: usize, count: usize) -> bool {
    let (start, end) = (region.group(first).start, region.group(first + count - 1).end);
    let said = [PHONE, OTHER_NUMBER, ID, NUMBER].into_iter().any(|class| region.context.hinted(class));
    !said && !region.has_around(start, end, |byte| byte.is_ascii_alphabetic() || byte >= 0x80)
}

/// What it is may be said behind it: `536220001 (SSN)`.
fn behind(region: &Region<'_>, first: usize) -> bool {
    let end = region.group(first).end;
    let near = region.text.as_bytes().get(end..(end + BEHIND).min(region.text.len())).unwrap_or_default();
    let line = near.split(|byte| *byte == b'\n').next().unwrap_or_default();
    // `ssn:` names what follows it.
    let place = line.windows(3).position(|word| word.eq_ignore_ascii_case(b"ssn"));
    place.is_some_and(|at| {
        let joined = |byte: u8| byte.is_ascii_alphabetic();
        !joined(line.before(at)) && !joined(line.at(at + 3)) && !matches!(line.at(at + 3), b':' | b'=')
    })
}

/// Groups with different separators, each a single one.
fn spaced(region: &Region<'_>, first: usize) -> bool {
    (first..first + 2).all(|at| matches!(region.between(at), "-" | " " | "."))
}

fn same(region: &Region<'_>, first: usize) -> bool {
    let separator = region.between(first);
    let next = region.groups.get(first + 3);
    let alone = next.is_none() || region.between(first + 2) != separator || separator == " ";
    matches!(separator, "-" | " " | ".") && region.separated_by(first, 3, separator) && alone
}

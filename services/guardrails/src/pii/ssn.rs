//! Numbers of the United States: social security (SSN) and individual taxpayers (ITIN).

use super::Taken;
use super::checksum::uniform;
use super::phone::before_a_name;
use crate::kind::Kind;
use crate::lexicon::class::{ID, ITIN, PHONE, SSN};
use crate::scan::{Digits, Region};

/// Printed in advertisements, and used by nobody.
const FAKES: &[u64] = &[78_051_120, 219_099_999, 457_555_462, 123_456_789];

pub(super) fn ssn(region: &Region<'_>, first: usize) -> Option<Taken> {
    let lengths = [0, 1, 2].map(|at| region.group(first + at).len());
    if !matches!(lengths, [3, 2, 4] | [9, ..] | [3, 6, _] | [5, 4, _]) {
        return None;
    }
    let start = region.group(first).start;
    let named = region.near(SSN, start);
    let taxed = region.near(ITIN, start);
    let count = match lengths {
        [3, 2, 4] if same(region, first) => 3,
        [9, ..] if named || taxed => 1,
        [3, 6, ..] | [5, 4, ..] if (named || taxed) && region.between(first) == "-" => 2,
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

fn same(region: &Region<'_>, first: usize) -> bool {
    let separator = region.between(first);
    let next = region.groups.get(first + 3);
    let alone = next.is_none() || region.between(first + 2) != separator || separator == " ";
    matches!(separator, "-" | " " | ".") && region.separated_by(first, 3, separator) && alone
}

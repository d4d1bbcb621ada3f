//! Payment cards: 12 to 19 digits that pass Luhn and begin as an issuer's do.

use super::Taken;
use super::checksum::{luhn, uniform};
use super::phone::name;
use crate::kind::Kind;
use crate::lexicon::class::{CARD, OTHER_NUMBER, PHONE};
use crate::scan::{BEFORE, Digits, Region};

/// First six digits from, to, and the lengths that the issuer gives out. Others count where the text speaks of a card.
const ISSUERS: &[(u32, u32, &[usize])] = &[
    (60_400, 60_499, &[12, 13, 14, 15, 16, 17, 18, 19]),   // Maestro
    (100_000, 199_999, &[15]),                             // UATP, JCB
    (213_100, 213_199, &[15]),                             // JCB
    (220_000, 220_499, &[16, 17, 18, 19]),                 // Mir
    (222_100, 272_099, &[16]),                             // Mastercard
    (300_000, 305_999, &[14, 16, 17, 18, 19]),             // Diners Club
    (309_500, 309_599, &[14, 16, 17, 18, 19]),             // Diners Club
    (340_000, 349_999, &[15]),                             // American Express
    (350_000, 359_999, &[16, 17, 18, 19]),                 // JCB, and what is kept for it
    (360_000, 369_999, &[14, 15, 16, 17, 18, 19]),         // Diners Club
    (370_000, 379_999, &[15]),                             // American Express
    (380_000, 399_999, &[14, 16, 17, 18, 19]),             // Diners Club, Discover
    (400_000, 499_999, &[13, 16, 19]),                     // Visa
    (500_000, 509_999, &[12, 13, 14, 15, 16, 17, 18, 19]), // Maestro, Elo, Dankort, RuPay, Verve
    (510_000, 559_999, &[16]),                             // Mastercard
    (560_000, 589_999, &[12, 13, 14, 15, 16, 17, 18, 19]), // Maestro
    (600_000, 699_999, &[12, 13, 14, 15, 16, 17, 18, 19]), // Maestro, Discover, UnionPay, RuPay, InstaPayment
    (810_000, 829_999, &[16, 17, 18, 19]),                 // UnionPay, RuPay
    (979_200, 979_289, &[16]),                             // Troy
];

const SEPARATORS: &[u8] = b" -./";
const LONGEST: usize = 19;
/// A word that far before a number is about it.
const RIGHT_BEFORE: usize = 16;
/// How cards are printed, in groups, besides blocks of four.
const PRINTED: &[&[usize]] = &[&[4, 6, 5], &[4, 6, 4], &[4, 5, 4], &[6, 13], &[5, 5, 5], &[6, 6], &[6, 4, 6]];

pub(super) fn card(region: &Region<'_>, first: usize) -> Option<Taken> {
    let separator = region.separator(first).filter(|byte| SEPARATORS.contains(byte));
    let start = region.group(first).start;
    let asked = region.near(CARD, start);
    let otherwise = || called_otherwise(region, start);
    if inside(region, first, separator) {
        return None;
    }
    // No card is that long, but test data has such.
    let most = if asked { LONGEST + 1 } else { LONGEST };
    let mut form = Form { blocks: true, single: true, wide: true };
    let (mut total, mut best) = (0, None);
    for count in 1..=region.groups.len().saturating_sub(first) {
        let length = region.group(first + count - 1).len();
        total += length;
        let apart = count > 1 && (separator.is_none() || region.separator(first + count - 2) != separator);
        if total > most || apart {
            break;
        }
        form.single &= length == 1;
        form.wide &= length >= 2;
        let printed = form.blocks || (form.single && count >= 12) || is_printed(region, first, count);
        if total >= 12 && (printed || (asked && form.wide)) && fits(region.span(first, count), asked, &otherwise) {
            best = (!cut(region, first + count - 1, separator)).then_some(count);
        }
        form.blocks &= length.is_multiple_of(4);
    }
    Some(Taken::new(region, first, best?, Kind::Card, "card"))
}

/// Whether it is the rest of a number that is written with hyphens: `61-584896-231324-2`.
fn inside(region: &Region<'_>, first: usize, separator: Option<u8>) -> bool {
    separator == Some(b'-') && first > 0 && region.between(first - 1) == "-"
}

/// Whether the number goes on with hyphens behind this group.
fn cut(region: &Region<'_>, last: usize, separator: Option<u8>) -> bool {
    separator == Some(b'-') && last + 1 < region.groups.len() && region.between(last) == "-"
}

/// How the groups so far are written.
struct Form {
    /// All before the last are blocks of four, which may have lost the space between them.
    blocks: bool,
    single: bool,
    wide: bool,
}

/// Whether words for telephones, accounts, orders and the like are nearer than any for cards.
fn called_otherwise(region: &Region<'_>, start: usize) -> bool {
    let card = region.context.distance(CARD, start).unwrap_or(usize::MAX);
    let nearer = |class, most| region.context.distance(class, start).is_some_and(|other| other <= most && other < card);
    // The value of a member has its name, and no other.
    let most = name(region.text.as_bytes(), start).map_or(BEFORE, |name| start - name);
    nearer(PHONE, most) || nearer(OTHER_NUMBER, RIGHT_BEFORE)
}

fn is_printed(region: &Region<'_>, first: usize, count: usize) -> bool {
    PRINTED.iter().any(|form| form.len() == count && region.lengths(first, count).eq(form.iter().copied()))
}

fn fits(text: &str, asked: bool, otherwise: &dyn Fn() -> bool) -> bool {
    let digits = Digits::of(text);
    let values = digits.values();
    let issuer = digits.number(0..6);
    let known = || {
        ISSUERS.iter().any(|(from, to, lengths)| {
            (u64::from(*from)..=u64::from(*to)).contains(&issuer) && lengths.contains(&values.len())
        })
    };
    // A short number near words for other numbers is more likely one of those, with a digit that happens to fit.
    let other = || values.len() < 15 && otherwise();
    // Where the text speaks of cards, other numbers of this length are times in milliseconds.
    let asked = asked && values.len() > 13;
    luhn(values) && !uniform(values) && (asked || (known() && !other()))
}

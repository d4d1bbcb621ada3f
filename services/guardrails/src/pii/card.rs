//! Payment cards: 12 to 19 digits that pass Luhn and begin as an issuer's do.

use super::Taken;
use super::checksum::{luhn, uniform};
use crate::kind::Kind;
use crate::lexicon::class::{CARD, PHONE};
use crate::scan::{Digits, Region};

/// First six digits from, to, and the lengths that the issuer gives out. Others count where the text speaks of a card.
const ISSUERS: &[(u32, u32, &[usize])] = &[
    (180_000, 180_099, &[15]),                             // JCB
    (213_100, 213_199, &[15]),                             // JCB
    (220_000, 220_499, &[16, 17, 18, 19]),                 // Mir
    (222_100, 272_099, &[16]),                             // Mastercard
    (300_000, 305_999, &[14, 16, 17, 18, 19]),             // Diners Club
    (309_500, 309_599, &[14, 16, 17, 18, 19]),             // Diners Club
    (340_000, 349_999, &[15]),                             // American Express
    (352_800, 358_999, &[16, 17, 18, 19]),                 // JCB
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

/// How cards are printed, in groups, besides blocks of four.
const PRINTED: &[&[usize]] = &[&[4, 6, 5], &[4, 6, 4], &[4, 5, 4], &[6, 13], &[5, 5, 5], &[6, 6], &[6, 4, 6]];

pub(super) fn card(region: &Region<'_>, first: usize) -> Option<Taken> {
    let mut total = 0;
    let mut best = None;
    let asked = region.near(CARD, region.group(first).start);
    for count in 1..=region.groups.len().saturating_sub(first).min(19) {
        total += region.group(first + count - 1).len();
        if total > 19 {
            break;
        }
        if total >= 12 && fits(region, first, count, asked) {
            best = Some(count);
        }
    }
    let count = best?;
    Some(Taken::new(region, first, count, Kind::Card, "card"))
}

fn fits(region: &Region<'_>, first: usize, count: usize, asked: bool) -> bool {
    let separator = if count > 1 { region.between(first) } else { "-" };
    if !matches!(separator, " " | "-" | "." | "/") || !region.separated_by(first, count, separator) {
        return false;
    }
    let lengths: Vec<usize> = region.lengths(first, count).collect();
    let single = count >= 12 && lengths.iter().all(|length| *length == 1);
    // Blocks of four may have lost the space between them.
    let blocks = lengths.iter().rev().skip(1).all(|length| length % 4 == 0);
    let printed = blocks || single || PRINTED.contains(&lengths.as_slice());
    if !(printed || asked && lengths.iter().all(|length| *length >= 2)) {
        return false;
    }
    let digits = Digits::of(region.span(first, count));
    let values = digits.values();
    if !luhn(values) || uniform(values) {
        return false;
    }
    let issuer = digits.number(0..6);
    let known = ISSUERS.iter().any(|(from, to, lengths)| {
        (u64::from(*from)..=u64::from(*to)).contains(&issuer) && lengths.contains(&values.len())
    });
    // A short number near words for telephones is more likely one, with a digit that happens to fit.
    let telephone = values.len() < 15 && region.near(PHONE, region.group(first).start);
    asked || (known && !telephone)
}

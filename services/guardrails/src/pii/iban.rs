//! Bank accounts: a country, its length, and mod 97.

use super::checksum::mod_97;
use crate::scan::Peek;

/// What begins at a place.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Iban {
    No,
    /// An account number up to there.
    Until(usize),
    /// It may become one: the text ends before it does.
    Open,
}

/// Countries with the length of their account numbers.
const LENGTHS: &[(&[u8; 2], usize)] = &[
    (b"AD", 24),
    (b"AE", 23),
    (b"AL", 28),
    (b"AT", 20),
    (b"AZ", 28),
    (b"BA", 20),
    (b"BE", 16),
    (b"BG", 22),
    (b"BH", 22),
    (b"BI", 27),
    (b"BR", 29),
    (b"BY", 28),
    (b"CH", 21),
    (b"CR", 22),
    (b"CY", 28),
    (b"CZ", 24),
    (b"DE", 22),
    (b"DJ", 27),
    (b"DK", 18),
    (b"DO", 28),
    (b"EE", 20),
    (b"EG", 29),
    (b"ES", 24),
    (b"FI", 18),
    (b"FK", 18),
    (b"FO", 18),
    (b"FR", 27),
    (b"GB", 22),
    (b"GE", 22),
    (b"GI", 23),
    (b"GL", 18),
    (b"GR", 27),
    (b"GT", 28),
    (b"HN", 28),
    (b"HR", 21),
    (b"HU", 28),
    (b"IE", 22),
    (b"IL", 23),
    (b"IQ", 23),
    (b"IS", 26),
    (b"IT", 27),
    (b"JO", 30),
    (b"KW", 30),
    (b"KZ", 20),
    (b"LB", 28),
    (b"LC", 32),
    (b"LI", 21),
    (b"LT", 20),
    (b"LU", 20),
    (b"LV", 21),
    (b"LY", 25),
    (b"MC", 27),
    (b"MD", 24),
    (b"ME", 22),
    (b"MK", 19),
    (b"MN", 20),
    (b"MR", 27),
    (b"MT", 31),
    (b"MU", 30),
    (b"NI", 28),
    (b"NL", 18),
    (b"NO", 15),
    (b"OM", 23),
    (b"PK", 24),
    (b"PL", 28),
    (b"PS", 29),
    (b"PT", 25),
    (b"QA", 29),
    (b"RO", 24),
    (b"RS", 22),
    (b"RU", 33),
    (b"SA", 24),
    (b"SC", 31),
    (b"SD", 18),
    (b"SE", 24),
    (b"SI", 19),
    (b"SK", 24),
    (b"SM", 27),
    (b"SO", 23),
    (b"ST", 25),
    (b"SV", 28),
    (b"TL", 23),
    (b"TN", 24),
    (b"TR", 26),
    (b"UA", 29),
    (b"VA", 22),
    (b"VG", 24),
    (b"XK", 20),
    (b"YE", 30),
];

/// Looks at a token that begins with a letter and follows none.
pub(crate) fn iban(text: &str, start: usize, more: bool) -> Iban {
    let bytes = text.as_bytes();
    let country = [bytes.at(start).to_ascii_uppercase(), bytes.at(start + 1).to_ascii_uppercase()];
    let Some((_, length)) = LENGTHS.iter().find(|(code, _)| **code == country) else { return Iban::No };
    if !bytes.at(start + 2).is_ascii_digit() || !bytes.at(start + 3).is_ascii_digit() {
        return Iban::No;
    }
    let mut characters = Vec::with_capacity(*length);
    let mut at = start;
    while characters.len() < *length {
        let byte = bytes.at(at);
        if byte.is_ascii_alphanumeric() {
            characters.push(byte);
        } else if !matches!(byte, b' ' | b'-' | b'.') || !bytes.at(at + 1).is_ascii_alphanumeric() {
            return if more && at + 1 >= bytes.len() { Iban::Open } else { Iban::No };
        }
        at += 1;
    }
    if more && at >= bytes.len() {
        return Iban::Open;
    }
    let (head, body) = characters.split_at(4.min(characters.len()));
    let sound = mod_97(body.iter().chain(head).copied()) == 1;
    let ends = !bytes.at(at).is_ascii_alphanumeric();
    if sound && ends { Iban::Until(at) } else { Iban::No }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn accounts_are_found_as_they_are_written() {
        for text in
            ["DE89370400440532013000", "DE89 3704 0044 0532 0130 00", "gb82west12345698765432", "NO93-8601-1117-947"]
        {
            assert_eq!(iban(text, 0, false), Iban::Until(text.len()), "{text}");
        }
        for text in
            ["DE88370400440532013000", "DE8937040044053201300", "XX89370400440532013000", "DE893704004405320130001"]
        {
            assert_eq!(iban(text, 0, false), Iban::No, "{text}");
        }
        assert_eq!(iban("DE89 3704 00", 0, true), Iban::Open);
    }
}

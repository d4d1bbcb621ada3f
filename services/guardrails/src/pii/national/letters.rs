//! Numbers that have letters in them: their form tells more, and most have a check letter besides.

use crate::scan::{Digits, Peek, Region};

pub(crate) const LONGEST: usize = 20;
const ALPHABET: &[u8] = b"0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

/// Which country's number begins a text, and how long it is. `token`: how long the first run of letters and digits is.
pub(crate) fn lettered(text: &str, token: usize, asked: bool) -> Option<(usize, &'static str)> {
    let upper = text.get(..token)?.to_ascii_uppercase();
    let whole = |rule: Option<&'static str>| rule.map(|rule| (token, rule));
    let shape: String = upper.bytes().map(|byte| if byte.is_ascii_digit() { '9' } else { 'A' }).collect();
    match shape.as_str() {
        "99999999A" => whole(dni(&upper).then_some("es-dni")),
        "A9999999A" => whole(nie(&upper).then_some("es-nie").or_else(|| nric(&upper).then_some("sg-nric"))),
        "AA999999A" => whole(nino(&upper).then_some("uk-nino")),
        "AAAAA9999A" => whole((pan(&upper) && (asked || upper == text.get(..token)?)).then_some("in-pan")),
        "AAAAAA99A99A999A" => whole(codice_fiscale(&upper).then_some("it-codice-fiscale")),
        "99999999A999" => whole(pension(&upper).then_some("de-pension")),
        "99AAAAA9999A9AA" | "99AAAAA9999A9A9" => whole(gstin(&upper).then_some("in-gstin")),
        "99999999999999999A" => whole(chinese(&upper).then_some("cn-resident-id")),
        "AAAA999999AAAAAA99" | "AAAA999999AAAAAAA9" => whole(curp(&upper).then_some("mx-curp")),
        _ => None,
    }
}

/// `131052-308T`, which begins as a number.
pub(super) fn finnish(text: &str, start: usize) -> Option<usize> {
    let id = text.get(start..start + 11)?;
    let bytes = id.as_bytes();
    let sign = matches!(bytes.at(6), b'-' | b'+' | b'A'..=b'F' | b'U'..=b'Y');
    let placed = bytes.iter().enumerate().all(|(at, byte)| matches!(at, 6 | 10) || byte.is_ascii_digit());
    if !sign || !placed || text.as_bytes().at(start + 11).is_ascii_alphanumeric() {
        return None;
    }
    let digits = Digits::of(&format!("{}{}", id.get(..6)?, id.get(7..10)?));
    let check = b"0123456789ABCDEFHJKLMNPRSTUVWXY".get(usize::try_from(digits.number(0..9) % 31).ok()?)?;
    let born = (1..=31).contains(&digits.number(0..2)) && (1..=12).contains(&digits.number(2..4));
    (born && bytes.at(10).to_ascii_uppercase() == *check).then_some(11)
}

/// Ids as they are printed: `12345678-Z`, `X-1234567-L`, and `AB 12 34 56 C`, of which the first letters may have left
/// already. Gives from where to where, over how many groups.
pub(super) fn printed(region: &Region<'_>, first: usize) -> Option<(usize, usize, usize, &'static str)> {
    let (group, bytes) = (region.group(first), region.text.as_bytes());
    let count = if group.len() == 2 { 3 } else { 1 };
    let (start, end) = (group.start, region.group(first + count - 1).end);
    let last = bytes.at(end + 1).to_ascii_uppercase();
    let sign = if count == 3 { b' ' } else { b'-' };
    let closed = bytes.at(end) == sign && last.is_ascii_uppercase() && !bytes.at(end + 2).is_ascii_alphanumeric();
    if !closed || first + count > region.groups.len() {
        return None;
    }
    let stands_alone = |at: usize| !bytes.before(at).is_ascii_alphanumeric() && bytes.before(at) != b'-';
    let digits: String = region.span(first, count).chars().filter(char::is_ascii_digit).collect();
    let before = |length: usize| {
        let from = start.checked_sub(length + 1).filter(|from| stands_alone(*from))?;
        (bytes.before(start) == sign).then(|| region.text.get(from..start - 1))?.map(str::to_ascii_uppercase)
    };
    let with = |letters: &str| format!("{letters}{digits}{}", char::from(last));
    match (group.len(), count) {
        (8, _) if stands_alone(start) && dni(&with("")) => Some((start, end + 2, 1, "es-dni")),
        (7, _) if nie(&with(&before(1)?)) => Some((start - 2, end + 2, 1, "es-nie")),
        (2, 3) if digits.len() == 6 && region.separated_by(first, 3, " ") => {
            let letters = before(2).filter(|letters| letters.bytes().all(|byte| byte.is_ascii_uppercase()))?;
            nino(&with(&letters)).then_some((start, end + 2, 3, "uk-nino"))
        }
        _ => None,
    }
}

fn number(text: &str, range: std::ops::Range<usize>) -> u64 {
    text.get(range).and_then(|part| part.parse().ok()).unwrap_or(u64::MAX)
}

fn control_letter(value: u64) -> u8 {
    b"TRWAGMYFPDXBNJZSQVHLCKE".at(usize::try_from(value % 23).unwrap_or_default())
}

fn dni(text: &str) -> bool {
    control_letter(number(text, 0..8)) == text.as_bytes().at(8)
}

fn nie(text: &str) -> bool {
    let Some(first) = b"XYZ".iter().position(|letter| *letter == text.as_bytes().at(0)) else { return false };
    let value = first as u64 * 10_000_000 + number(text, 1..8);
    control_letter(value) == text.as_bytes().at(8)
}

fn nric(text: &str) -> bool {
    let bytes = text.as_bytes();
    let sum: usize = [2, 7, 6, 5, 4, 3, 2]
        .iter()
        .enumerate()
        .map(|(at, weight)| usize::from(bytes.at(at + 1) - b'0') * weight)
        .sum();
    let (letters, more): (&[u8], usize) = match bytes.at(0) {
        b'S' => (b"JZIHGFEDCBA", 0),
        b'T' => (b"JZIHGFEDCBA", 4),
        b'F' => (b"XWUTRQPNMLK", 0),
        b'G' => (b"XWUTRQPNMLK", 4),
        b'M' => (b"XWUTRQPNJLK", 3),
        _ => return false,
    };
    letters.at((sum + more) % 11) == bytes.at(8)
}

fn nino(text: &str) -> bool {
    let bytes = text.as_bytes();
    let first = !matches!(bytes.at(0), b'D' | b'F' | b'I' | b'Q' | b'U' | b'V');
    let second = !matches!(bytes.at(1), b'D' | b'F' | b'I' | b'O' | b'Q' | b'U' | b'V');
    let given = !matches!(text.get(..2), Some("BG" | "GB" | "KN" | "NK" | "NT" | "TN" | "ZZ"));
    first && second && given && (b'A'..=b'D').contains(&bytes.at(8))
}

fn pan(text: &str) -> bool {
    b"PCHFATBLJG".contains(&text.as_bytes().at(3)) && number(text, 5..9) > 0
}

fn place(byte: u8) -> usize {
    ALPHABET.iter().position(|known| *known == byte).unwrap_or_default()
}

fn codice_fiscale(text: &str) -> bool {
    const ODD: [usize; 36] = [
        1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 1, 0, 5, 7, 9, 13, 15, 17, 19, 21, 2, 4, 18, 20, 11, 3, 6, 8, 12, 14, 16,
        10, 22, 25, 24, 23,
    ];
    let sum: usize = text
        .bytes()
        .take(15)
        .enumerate()
        .map(|(at, byte)| {
            let place = place(byte);
            if at % 2 == 0 {
                ODD.get(place).copied().unwrap_or_default()
            } else {
                place - if place > 9 { 10 } else { 0 }
            }
        })
        .sum();
    usize::from(text.as_bytes().at(15)) == usize::from(b'A') + sum % 26
}

fn pension(text: &str) -> bool {
    let letter = u64::from(text.as_bytes().at(8).saturating_sub(b'A')) + 1;
    let all = format!("{}{letter:02}{}", text.get(..8).unwrap_or_default(), text.get(9..11).unwrap_or_default());
    let sum: u64 = all
        .bytes()
        .zip([2_u64, 1, 2, 5, 7, 1, 2, 1, 2, 1, 2, 1])
        .map(|(byte, weight)| {
            let product = u64::from(byte - b'0') * weight;
            product / 10 + product % 10
        })
        .sum();
    let born = (1..=12).contains(&number(text, 4..6));
    born && sum % 10 == number(text, 11..12)
}

fn gstin(text: &str) -> bool {
    let sum: usize = text
        .bytes()
        .take(14)
        .enumerate()
        .map(|(at, byte)| {
            let product = place(byte) * (at % 2 + 1);
            product / 36 + product % 36
        })
        .sum();
    (1..=38).contains(&number(text, 0..2)) && ALPHABET.at((36 - sum % 36) % 36) == text.as_bytes().at(14)
}

fn chinese(text: &str) -> bool {
    let weights = [7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2];
    let sum: u32 = text.bytes().zip(weights).map(|(byte, weight)| u32::from(byte - b'0') * weight).sum();
    text.ends_with('X') && sum % 11 == 2 && (1900..=2100).contains(&number(text, 6..10))
}

fn curp(text: &str) -> bool {
    const LETTERS: &str = "0123456789ABCDEFGHIJKLMN\u{d1}OPQRSTUVWXYZ";
    let value = |byte: u8| LETTERS.chars().position(|letter| letter as u32 == u32::from(byte)).unwrap_or_default();
    let sum: usize = text.bytes().take(17).enumerate().map(|(at, byte)| value(byte) * (18 - at)).sum();
    (10 - sum % 10) % 10 == usize::from(text.as_bytes().at(17).saturating_sub(b'0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn check_letters_tell_right_from_wrong() {
        for (id, rule) in [
            ("12345678Z", "es-dni"),
            ("X1234567L", "es-nie"),
            ("S1234567D", "sg-nric"),
            ("AB123456C", "uk-nino"),
            ("RSSMRA85T10A562S", "it-codice-fiscale"),
            ("27AAPFU0939F1ZV", "in-gstin"),
            ("11010519491231002X", "cn-resident-id"),
            ("65180539W001", "de-pension"),
            ("T1234567J", "sg-nric"),
            ("F1234567N", "sg-nric"),
            ("G1234567X", "sg-nric"),
            ("ABCPE1234F", "in-pan"),
            ("HEGG560427MVZRRL04", "mx-curp"),
        ] {
            assert_eq!(lettered(id, id.len(), false), Some((id.len(), rule)), "{id}");
        }
        for id in [
            "12345678A",
            "X1234567A",
            "RSSMRA85T10A562T",
            "27AAPFU0939F1ZW",
            "AB123456Z",
            "BG123456A",
            "abcdefgh1",
            "T1234567K",
            "ABCDE1234F",
            "HEGG560427MVZRRL05",
            "65180539W002",
            "11010519491231003X",
        ] {
            assert_eq!(lettered(id, id.len(), false), None, "{id}");
        }
        assert_eq!(finnish("131052-308T", 0), Some(11));
        assert_eq!(finnish("131052-308U", 0), None);
    }
}

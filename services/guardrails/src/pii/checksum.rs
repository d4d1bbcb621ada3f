//! Check digits.

/// Cards, and half of the world's identity numbers.
pub(super) fn luhn(digits: &[u8]) -> bool {
    let sum: u32 = digits
        .iter()
        .rev()
        .enumerate()
        .map(|(place, digit)| {
            let digit = u32::from(*digit);
            if place % 2 == 0 { digit } else { digit * 2 / 10 + digit * 2 % 10 }
        })
        .sum();
    sum.is_multiple_of(10)
}

/// The sum of digits times weights.
pub(super) fn weighted(digits: &[u8], weights: &[u32]) -> u32 {
    digits.iter().zip(weights).map(|(digit, weight)| u32::from(*digit) * weight).sum()
}

const VERHOEFF_TURNS: [&[u8; 10]; 8] = [
    b"0123456789",
    b"1576283094",
    b"5803796142",
    b"8916043527",
    b"9453126870",
    b"4286573901",
    b"2793806415",
    b"7046913258",
];
const VERHOEFF_PRODUCTS: [&[u8; 10]; 10] = [
    b"0123456789",
    b"1234067895",
    b"2340178956",
    b"3401289567",
    b"4012395678",
    b"5987604321",
    b"6598710432",
    b"7659821043",
    b"8765932104",
    b"9876543210",
];

/// Aadhaar.
pub(super) fn verhoeff(digits: &[u8]) -> bool {
    let mut check = 0_u8;
    for (place, digit) in digits.iter().rev().enumerate() {
        let turned = entry(&VERHOEFF_TURNS, place % 8, *digit);
        check = entry(&VERHOEFF_PRODUCTS, check as usize, turned);
    }
    check == 0
}

fn entry(table: &[&[u8; 10]], row: usize, column: u8) -> u8 {
    table.get(row).and_then(|row| row.get(column as usize)).map_or(0, |digit| digit - b'0')
}

/// ISO 7064 mod 11,10: German and Croatian numbers.
pub(super) fn mod_11_10(digits: &[u8]) -> bool {
    let Some((check, body)) = digits.split_last() else { return false };
    let product = body.iter().fold(10_u32, |product, digit| {
        let sum = (u32::from(*digit) + product) % 10;
        (if sum == 0 { 10 } else { sum }) * 2 % 11
    });
    (11 - product) % 10 == u32::from(*check)
}

/// ISO 7064 mod 97,10 over letters and digits, letters as 10 to 35.
pub(super) fn mod_97(characters: impl Iterator<Item = u8>) -> u32 {
    characters.fold(0, |rest, byte| match byte {
        b'0'..=b'9' => (rest * 10 + u32::from(byte - b'0')) % 97,
        _ => (rest * 100 + u32::from((byte | 0x20).wrapping_sub(b'a')) + 10) % 97,
    })
}

/// Whether all digits are the same.
pub(super) fn uniform(digits: &[u8]) -> bool {
    digits.windows(2).all(|pair| pair.first() == pair.last())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn digits(text: &str) -> Vec<u8> {
        text.bytes().map(|byte| byte - b'0').collect()
    }

    #[test]
    fn check_digits_tell_right_from_wrong() {
        assert!(luhn(&digits("4111111111111111")) && !luhn(&digits("4111111111111112")));
        assert!(verhoeff(&digits("234567890124")) && !verhoeff(&digits("234567890123")));
        assert!(mod_11_10(&digits("86095742719")) && !mod_11_10(&digits("86095742718")));
        assert_eq!(mod_97("370400440532013000DE89".bytes()), 1);
    }
}

//! What is written in base64, hexadecimal or percent signs, read as text, so that it can be looked at like any other.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

use crate::scan::Peek;

/// Runs shorter than this say too little when decoded.
pub(crate) const SHORTEST: usize = 16;
/// How often what was decoded is decoded again.
pub(crate) const DEEPEST: u8 = 2;
const SHORTEST_HEX: usize = 24;

const CONFIG: GeneralPurposeConfig = GeneralPurposeConfig::new()
    .with_decode_padding_mode(DecodePaddingMode::Indifferent)
    .with_decode_allow_trailing_bits(true);
const STANDARD: GeneralPurpose = GeneralPurpose::new(&alphabet::STANDARD, CONFIG);
const URL_SAFE: GeneralPurpose = GeneralPurpose::new(&alphabet::URL_SAFE, CONFIG);

/// The parts of a run that are text when decoded, each with its place.
pub(crate) fn texts(run: &str, percent: bool) -> Vec<(usize, usize, String)> {
    let mut found = Vec::new();
    if percent && let Some(text) = percent_decoded(run) {
        found.push((0, run.len(), text));
    }
    let bytes = run.as_bytes();
    let mut at = 0;
    while at < bytes.len() {
        if !in_token(bytes.at(at)) {
            at += 1;
            continue;
        }
        let start = at;
        while in_token(bytes.at(at)) {
            at += 1;
        }
        let mut end = at;
        while bytes.at(end) == b'=' && end < at + 2 {
            end += 1;
        }
        let token = run.get(start..at).unwrap_or_default();
        if token.len() >= SHORTEST
            && let Some(text) = hex(token).or_else(|| base64(token))
        {
            found.push((start, end, text));
        }
        at = end.max(at);
    }
    found
}

const fn in_token(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'-' | b'_')
}

fn hex(token: &str) -> Option<String> {
    if token.len() < SHORTEST_HEX
        || !token.len().is_multiple_of(2)
        || !token.bytes().all(|byte| byte.is_ascii_hexdigit())
    {
        return None;
    }
    readable(hex::decode(token).ok()?)
}

fn base64(token: &str) -> Option<String> {
    // The first characters tell most of what is not text, at little cost.
    let head = token.get(..12)?;
    let engine = if token.contains(['-', '_']) { &URL_SAFE } else { &STANDARD };
    let first = engine.decode(head).ok()?;
    if first.iter().any(|byte| byte.is_ascii_control() && !byte.is_ascii_whitespace())
        || first.iter().filter(|byte| byte.is_ascii()).count() < 3
    {
        return None;
    }
    readable(engine.decode(token).ok()?)
}

/// Bytes that are text, and mostly text that somebody could have written.
fn readable(bytes: Vec<u8>) -> Option<String> {
    let text = String::from_utf8(bytes).ok()?;
    let odd = text.chars().filter(|one| one.is_control() && !one.is_whitespace()).count();
    (odd == 0 && text.len() >= 8).then_some(text)
}

fn percent_decoded(run: &str) -> Option<String> {
    let bytes = run.as_bytes();
    let mut decoded = Vec::with_capacity(bytes.len());
    let (mut at, mut count) = (0, 0);
    while at < bytes.len() {
        let value = |place: usize| (bytes.at(place) as char).to_digit(16);
        match (bytes.at(at), value(at + 1), value(at + 2)) {
            (b'%', Some(high), Some(low)) => {
                decoded.push(u8::try_from(high * 16 + low).unwrap_or_default());
                at += 3;
                count += 1;
            }
            (byte, ..) => {
                decoded.push(if byte == b'+' { b' ' } else { byte });
                at += 1;
            }
        }
    }
    if count < 2 { None } else { String::from_utf8(decoded).ok() }
}

/// A text as it reads from its end, and with each letter thirteen places further (`rot13`).
pub(crate) fn turned(text: &str) -> [String; 2] {
    let rotated = |one: char| match one {
        'a'..='m' | 'A'..='M' => char::from_u32(one as u32 + 13).unwrap_or(one),
        'n'..='z' | 'N'..='Z' => char::from_u32(one as u32 - 13).unwrap_or(one),
        other => other,
    };
    [text.chars().rev().collect(), text.chars().map(rotated).collect()]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn encodings_are_read_and_words_are_not() {
        let decoded = |run: &str| texts(run, run.contains('%')).into_iter().map(|(.., text)| text).collect::<Vec<_>>();
        assert_eq!(decoded("NDExMSAxMTExIDExMTEgMTExMQ=="), ["4111 1111 1111 1111"]);
        assert_eq!(decoded("34313131203131313120313131312031313131"), ["4111 1111 1111 1111"]);
        assert_eq!(decoded("jane%40example.com%20x"), ["jane@example.com x"]);
        assert_eq!(decoded("internationalization"), Vec::<String>::new());
    }
}

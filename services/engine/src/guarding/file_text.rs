//! The texts of a file, found by its content. The declared media type is the sender's word and hides nothing.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig};

/// Accepts base64 with and without padding, as senders write it.
const LENIENT: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new()
        .with_decode_padding_mode(DecodePaddingMode::Indifferent)
        .with_decode_allow_trailing_bits(true),
);
/// The share of printable text, in percent, from which bytes that are not quite UTF-8 are scanned as text. Compressed and
/// encrypted data has about 40.
const PRINTABLE_PERCENT: usize = 60;

/// Decodes base64 of either alphabet, padded or not, with line breaks and spaces in it.
pub(super) fn decode(payload: &str) -> Option<Vec<u8>> {
    let normal: Vec<u8> = payload
        .trim_end_matches(|end: char| end == '=' || end.is_ascii_whitespace())
        .bytes()
        .filter(|byte| !byte.is_ascii_whitespace())
        .map(|byte| match byte {
            b'-' => b'+',
            b'_' => b'/',
            byte => byte,
        })
        .collect();
    LENIENT.decode(normal).ok()
}

/// How a text is written as bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Encoding {
    Utf8,
    Utf16Le { marked: bool },
    Utf16Be { marked: bool },
}

/// One way to read a file as text.
#[derive(Debug)]
pub(super) struct Reading {
    pub(super) text: String,
    pub(super) encoding: Encoding,
    /// Written in its encoding again, the text is the same file.
    pub(super) is_exact: bool,
}

/// All ways to read a file that could show a text to its receiver; none for a binary file. `declared`: the media type says
/// that it is a text.
pub(super) fn readings(bytes: &[u8], declared: bool) -> Vec<Reading> {
    match bytes {
        [] => return Vec::new(),
        [0xff, 0xfe, rest @ ..] if is_utf16(rest, u16::from_le_bytes) || declared => {
            return vec![Reading::of(bytes, rest, Encoding::Utf16Le { marked: true })];
        }
        [0xfe, 0xff, rest @ ..] if is_utf16(rest, u16::from_be_bytes) || declared => {
            return vec![Reading::of(bytes, rest, Encoding::Utf16Be { marked: true })];
        }
        _ => {}
    }
    let valid = std::str::from_utf8(bytes).is_ok();
    let mut all = Vec::new();
    if valid || declared || is_mostly_printable(bytes) {
        all.push(Reading::of(bytes, bytes, Encoding::Utf8));
    }
    // Text without zero bytes that is valid UTF-8 is meant as such.
    if !valid || bytes.contains(&0) {
        if is_utf16(bytes, u16::from_le_bytes) {
            all.push(Reading::of(bytes, bytes, Encoding::Utf16Le { marked: false }));
        }
        if is_utf16(bytes, u16::from_be_bytes) {
            all.push(Reading::of(bytes, bytes, Encoding::Utf16Be { marked: false }));
        }
    }
    all
}

impl Reading {
    fn of(file: &[u8], rest: &[u8], encoding: Encoding) -> Self {
        let text = match encoding {
            Encoding::Utf8 => String::from_utf8_lossy(rest).into_owned(),
            Encoding::Utf16Le { .. } => String::from_utf16_lossy(&units(rest, u16::from_le_bytes)),
            Encoding::Utf16Be { .. } => String::from_utf16_lossy(&units(rest, u16::from_be_bytes)),
        };
        let is_exact = encoding.write(&text) == file;
        Self { text, encoding, is_exact }
    }
}

impl Encoding {
    pub(super) fn write(self, text: &str) -> Vec<u8> {
        let wide = |mark: &[u8], bytes: fn(u16) -> [u8; 2]| {
            mark.iter().copied().chain(text.encode_utf16().flat_map(bytes)).collect()
        };
        match self {
            Self::Utf8 => text.as_bytes().to_vec(),
            Self::Utf16Le { marked } => wide(if marked { b"\xff\xfe" } else { b"" }, u16::to_le_bytes),
            Self::Utf16Be { marked } => wide(if marked { b"\xfe\xff" } else { b"" }, u16::to_be_bytes),
        }
    }
}

fn units(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|two| read(*two)).collect()
}

/// Either every unit is one that texts have, or most are of the scripts that rules are about.
fn is_utf16(bytes: &[u8], read: fn([u8; 2]) -> u16) -> bool {
    let (pairs, _) = bytes.as_chunks();
    let (mut latin, mut foreign) = (0, 0);
    for unit in char::decode_utf16(pairs.iter().map(|two| read(*two))) {
        match unit {
            Ok('\t' | '\n' | '\r' | ' '..='~' | '\u{a0}'..='\u{24f}') => latin += 1,
            Ok('\u{e000}'..='\u{f8ff}' | '\u{fff0}'..='\u{ffff}') | Err(_) => foreign += 1,
            Ok(character) => foreign += usize::from(character.is_control()),
        }
    }
    !pairs.is_empty() && (foreign == 0 || latin * 100 >= pairs.len() * PRINTABLE_PERCENT)
}

fn is_mostly_printable(bytes: &[u8]) -> bool {
    let readable = |character: char| matches!(character, '\t' | '\n' | '\r') || !character.is_control();
    let of_chunk = |chunk: &str| chunk.chars().filter(|one| readable(*one)).map(char::len_utf8).sum::<usize>();
    let printable: usize = bytes.utf8_chunks().map(|chunk| of_chunk(chunk.valid())).sum();
    printable * 100 >= bytes.len() * PRINTABLE_PERCENT
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_decoded_in_every_form() {
        for written in ["aGk/Pz4+", "aGk_Pz4-", "aGk/\r\nPz4+", " aGk/ Pz4+ "] {
            assert_eq!(decode(written).as_deref(), Some(b"hi??>>".as_slice()), "{written:?}");
        }
        for written in ["aGk=", "aGk", "aGk==", "aGl"] {
            assert!(decode(written).is_some(), "{written:?}");
        }
        assert_eq!(decode("not base64!"), None);
    }

    #[test]
    fn text_is_found_in_every_encoding() {
        let text = "Write to jane@example.com";
        let chinese = "\u{8bf7}\u{7ed9}\u{6211}\u{5199}\u{4fe1}";
        for (marked, written) in [(true, text), (false, text), (true, chinese), (false, chinese)] {
            for encoding in [Encoding::Utf8, Encoding::Utf16Le { marked }, Encoding::Utf16Be { marked }] {
                let found = readings(&encoding.write(written), false);
                let same = |reading: &Reading| reading.text == written && reading.is_exact;
                assert!(found.iter().any(same), "{written} as {encoding:?}: {found:?}");
            }
        }
    }

    #[test]
    fn text_with_a_few_foreign_bytes_is_scanned_and_is_not_exact() {
        let found = readings(b"\xffcaf\xe9: jane@example.com", false);
        assert!(found.iter().any(|one| one.text.contains("jane@example.com") && !one.is_exact), "{found:?}");
    }

    #[test]
    fn binary_files_are_not_texts() {
        // A generator of bytes that look compressed.
        let mut state = 0x9e37_79b9_7f4a_7c15_u64;
        let noise: Vec<u8> = std::iter::repeat_with(|| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            (state >> 56) as u8
        })
        .take(4096)
        .collect();
        assert!(readings(&noise, false).is_empty());
        let picture = [b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".as_slice(), &noise].concat();
        assert!(readings(&picture, false).is_empty());
    }
}

//! Blocks, and the files in them that are texts.

use base64::Engine as _;
use base64::alphabet;
use base64::engine::DecodePaddingMode;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig, STANDARD};
use pleat_domain::Block;
use pleat_guardrails::Side;

use super::{BlockedBy, Watch};

impl Watch {
    /// The texts of blocks, and of files that are texts, whatever they are said to be.
    pub(super) fn blocks(&mut self, side: Side, blocks: &mut Vec<Block>, at: &str) -> Result<(), BlockedBy> {
        let payloads: Vec<String> = blocks.iter_mut().filter_map(payload).map(std::mem::take).collect();
        let seen = self.readable(side, blocks, at);
        let mut kept = payloads.into_iter();
        let mut outcome = seen;
        for (index, block) in blocks.iter_mut().enumerate() {
            let says_text = says_text(block);
            let Some((place, original)) = payload(block).and_then(|place| Some((place, kept.next()?))) else {
                continue;
            };
            *place = original;
            if outcome.is_ok() {
                outcome = self.file(side, place, says_text, &format!("{at}/{index}"));
            }
        }
        outcome
    }

    /// A file in base64. One that is not quite a text is read as far as it is, and not written anew unless its checks
    /// let pass what they cannot finish. One that is no text at all is not looked at; one that nobody can decode is
    /// what checks could not look at.
    fn file(&mut self, side: Side, payload: &mut String, says_text: bool, at: &str) -> Result<(), BlockedBy> {
        let Some(bytes) = decoded(payload) else {
            return self.judge(side, self.guard.unread(side), at, false).map(drop);
        };
        let Some(Text { mut text, exact }) = Text::of(bytes, says_text) else { return Ok(()) };
        let before = text.clone();
        self.readable(side, &mut text, at)?;
        if text == before {
            return Ok(());
        }
        if !exact {
            let verdict = self.guard.unfinished(side);
            self.judge(side, verdict, at, false)?;
        }
        *payload = STANDARD.encode(text);
        Ok(())
    }
}

/// Base64 however it is written: with either alphabet, with or without padding, on one line or many.
fn decoded(payload: &str) -> Option<Vec<u8>> {
    const ANY: GeneralPurpose = GeneralPurpose::new(
        &alphabet::STANDARD,
        GeneralPurposeConfig::new()
            .with_decode_padding_mode(DecodePaddingMode::Indifferent)
            .with_decode_allow_trailing_bits(true),
    );
    if let Ok(bytes) = ANY.decode(payload) {
        return Some(bytes);
    }
    let plain = |byte: u8| match byte {
        b'-' => Some(b'+'),
        b'_' => Some(b'/'),
        b'=' => None,
        byte if byte.is_ascii_whitespace() => None,
        byte => Some(byte),
    };
    ANY.decode(payload.bytes().filter_map(plain).collect::<Vec<u8>>()).ok()
}

/// What a file says.
struct Text {
    text: String,
    /// Written in UTF-8, it is the same file.
    exact: bool,
}

impl Text {
    /// Decided by the bytes: what a file is said to be counts only where they are not quite a text. `None`: it is none.
    fn of(bytes: Vec<u8>, says_text: bool) -> Option<Self> {
        let wide = match bytes.as_slice() {
            [0xFF, 0xFE, rest @ ..] => Some(units(rest, u16::from_le_bytes)),
            [0xFE, 0xFF, rest @ ..] => Some(units(rest, u16::from_be_bytes)),
            _ => None,
        };
        if let Some(units) = wide {
            return Some(Self { text: String::from_utf16_lossy(&units), exact: false });
        }
        // A text in UTF-16 without a mark has zeros between its letters.
        if bytes.contains(&0) {
            let readings = [u16::from_le_bytes, u16::from_be_bytes].map(|read| units(&bytes, read));
            if let Some(units) = readings.iter().find(|units| is_written(units)) {
                return Some(Self { text: String::from_utf16_lossy(units), exact: false });
            }
        }
        match String::from_utf8(bytes) {
            Ok(text) => Some(Self { text, exact: true }),
            Err(error) if says_text || is_mostly_text(error.as_bytes()) => {
                Some(Self { text: String::from_utf8_lossy(error.as_bytes()).into_owned(), exact: false })
            }
            Err(_) => None,
        }
    }
}

/// Whether units are those of a text: half of them letters, digits and signs of ASCII at least, or one in eight where the
/// rest is no control character.
fn is_written(units: &[u16]) -> bool {
    let ascii = units.iter().filter(|unit| (0x20..0x7F).contains(*unit) || matches!(**unit, 9 | 10 | 13)).count();
    let controls = units.iter().filter(|unit| **unit < 0x20 && !matches!(**unit, 9 | 10 | 13)).count();
    ascii * 2 >= units.len() || (ascii * 8 >= units.len() && controls * 32 <= units.len())
}

/// Whether at most one byte in ten is none of a text: pictures, sounds and archives have far more.
fn is_mostly_text(bytes: &[u8]) -> bool {
    let strange = |byte: &&u8| !matches!(**byte, 9 | 10 | 13 | 0x20..=0x7E);
    bytes.iter().filter(strange).count() * 10 <= bytes.len()
}

fn units(bytes: &[u8], read: fn([u8; 2]) -> u16) -> Vec<u16> {
    bytes.as_chunks().0.iter().map(|two| read(*two)).collect()
}

/// What a block carries in base64.
fn payload(block: &mut Block) -> Option<&mut String> {
    match block {
        Block::Image { data, .. } | Block::Audio { data, .. } => Some(data),
        Block::Resource { resource, .. } => resource.blob.as_mut(),
        _ => None,
    }
}

fn says_text(block: &Block) -> bool {
    let Block::Resource { resource, .. } = block else { return false };
    let kind = resource.mime_type.as_deref().unwrap_or("text/plain").to_ascii_lowercase();
    kind.starts_with("text/") || ["json", "xml", "yaml", "csv", "javascript"].iter().any(|word| kind.contains(word))
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "tests fail by panicking")]

    use super::*;

    const WORDS: &str = "write to jane@example.com";

    fn said(base64: &str, says_text: bool) -> Option<String> {
        Text::of(decoded(base64).unwrap(), says_text).map(|text| text.text)
    }

    #[test]
    fn base64_is_read_however_it_is_written() {
        let plain = STANDARD.encode(WORDS);
        let unpadded = plain.trim_end_matches('=').to_owned();
        for base64 in [plain.clone(), unpadded, format!("{}\r\n{}", &plain[..8], &plain[8..]), plain.replace('Y', "Y ")]
        {
            assert_eq!(said(&base64, false).as_deref(), Some(WORDS), "{base64}");
        }
        assert_eq!(decoded("_-_-"), decoded("/+/+"));
        assert!(decoded("not base64!").is_none());
    }

    #[test]
    fn files_are_texts_by_their_bytes() {
        let wide = |units: fn(u16) -> [u8; 2]| WORDS.encode_utf16().flat_map(units).collect::<Vec<u8>>();
        let marked = [b"\xff\xfe".to_vec(), wide(u16::to_le_bytes)].concat();
        for bytes in [wide(u16::to_le_bytes), wide(u16::to_be_bytes), marked, WORDS.as_bytes().to_vec()] {
            assert_eq!(said(&STANDARD.encode(&bytes), false).as_deref(), Some(WORDS), "{bytes:?}");
        }
        let nearly = [b"\xff".as_slice(), WORDS.as_bytes()].concat();
        assert!(said(&STANDARD.encode(nearly), false).unwrap().contains("jane@example.com"));
    }

    #[test]
    fn pictures_are_no_texts() {
        let mut picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR".to_vec();
        picture.extend((0..2000_u32).map(|at| at.wrapping_mul(2_654_435_761).to_be_bytes()[0]));
        assert_eq!(said(&STANDARD.encode(&picture), false), None);
        assert!(said(&STANDARD.encode(&picture), true).is_some(), "one that says it is a text is read as far as it is");
    }
}

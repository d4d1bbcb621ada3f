//! Blocks, and the files in them that are texts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pleat_domain::Block;
use pleat_guardrails::Side;

use super::{BlockedBy, Watch};

impl Watch {
    /// The texts of blocks, and files that are texts.
    pub(super) fn blocks(&mut self, side: Side, blocks: &mut Vec<Block>, at: &str) -> Result<(), BlockedBy> {
        let payloads: Vec<String> = blocks.iter_mut().filter_map(payload).map(std::mem::take).collect();
        let seen = self.readable(side, blocks, at);
        let mut kept = payloads.into_iter();
        let mut outcome = seen;
        for (index, block) in blocks.iter_mut().enumerate() {
            let is_text = is_text_file(block);
            let Some((place, original)) = payload(block).and_then(|place| Some((place, kept.next()?))) else {
                continue;
            };
            *place = original;
            if is_text && outcome.is_ok() {
                outcome = self.file(side, place, &format!("{at}/{index}"));
            }
        }
        outcome
    }

    /// A text in base64. One that is not quite a text is read as far as it is, and not written anew unless its checks
    /// let pass what they cannot finish.
    fn file(&mut self, side: Side, payload: &mut String, at: &str) -> Result<(), BlockedBy> {
        let bytes = STANDARD.decode(payload.as_bytes()).unwrap_or_default();
        let Text { mut text, exact } = Text::of(bytes);
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

/// What a file says.
struct Text {
    text: String,
    /// Written in UTF-8, it is the same file.
    exact: bool,
}

impl Text {
    fn of(bytes: Vec<u8>) -> Self {
        let wide = match bytes.as_slice() {
            [0xFF, 0xFE, rest @ ..] => Some(units(rest, u16::from_le_bytes)),
            [0xFE, 0xFF, rest @ ..] => Some(units(rest, u16::from_be_bytes)),
            _ => None,
        };
        if let Some(units) = wide {
            return Self { text: String::from_utf16_lossy(&units), exact: false };
        }
        match String::from_utf8(bytes) {
            Ok(text) => Self { text, exact: true },
            Err(error) => Self { text: String::from_utf8_lossy(error.as_bytes()).into_owned(), exact: false },
        }
    }
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

fn is_text_file(block: &Block) -> bool {
    let Block::Resource { resource, .. } = block else { return false };
    let kind = resource.mime_type.as_deref().unwrap_or("text/plain");
    kind.starts_with("text/") || ["json", "xml", "yaml", "csv", "javascript"].iter().any(|word| kind.contains(word))
}

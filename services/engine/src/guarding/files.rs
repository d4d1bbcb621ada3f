//! Blocks, and the files in them. A file is scanned if its content can be read as text.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use pleat_domain::Block;
use pleat_guardrails::Side;

use super::file_text::{self, Reading};
use super::{BlockedBy, Watch};

impl Watch {
    /// Scans the texts of blocks, and their files.
    pub(super) fn blocks(&mut self, side: Side, blocks: &mut Vec<Block>, at: &str) -> Result<(), BlockedBy> {
        let payloads: Vec<String> = blocks.iter_mut().filter_map(payload).map(std::mem::take).collect();
        let seen = self.readable(side, blocks, at);
        let mut kept = payloads.into_iter();
        let mut outcome = seen;
        for (index, block) in blocks.iter_mut().enumerate() {
            let declared = is_declared_text(block);
            let Some((place, original)) = payload(block).and_then(|place| Some((place, kept.next()?))) else {
                continue;
            };
            *place = original;
            if outcome.is_ok() {
                outcome = self.file(side, place, declared, &format!("{at}/{index}"));
            }
        }
        outcome
    }

    /// Scans a file in base64 that can be read as text, in every way that it can. A file that is not quite a text is
    /// rewritten only where the checks let pass what they cannot finish; a payload that is not base64 is decided by the
    /// checks' `on_error`.
    fn file(&mut self, side: Side, payload: &mut String, declared: bool, at: &str) -> Result<(), BlockedBy> {
        let Some(bytes) = file_text::decode(payload) else {
            self.readable(side, payload, at)?;
            return self.judge(side, self.guard.unread(side), at, false).map(drop);
        };
        let mut rewritten = None;
        for Reading { mut text, encoding, is_exact } in file_text::readings(&bytes, declared) {
            let before = text.clone();
            self.readable(side, &mut text, at)?;
            if text == before {
                continue;
            }
            // A file that says something else in another encoding cannot be redacted in both.
            if !is_exact || rewritten.is_some() {
                let verdict = self.guard.unfinished(side);
                self.judge(side, verdict, at, false)?;
            }
            rewritten.get_or_insert_with(|| STANDARD.encode(encoding.write(&text)));
        }
        if let Some(rewritten) = rewritten {
            *payload = rewritten;
        }
        Ok(())
    }
}

/// What a block carries in base64.
fn payload(block: &mut Block) -> Option<&mut String> {
    match block {
        Block::Image { data, .. } | Block::Audio { data, .. } => Some(data),
        Block::Resource { resource, .. } => resource.blob.as_mut(),
        _ => None,
    }
}

/// Whether the media type says that a file is a text. Any other file is scanned if its content is one.
fn is_declared_text(block: &Block) -> bool {
    let Block::Resource { resource, .. } = block else { return false };
    let kind = resource.mime_type.as_deref().unwrap_or("text/plain").to_ascii_lowercase();
    kind.starts_with("text/") || ["json", "xml", "yaml", "csv", "javascript"].iter().any(|word| kind.contains(word))
}

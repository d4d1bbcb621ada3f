//! A message of several texts, which are the input together: what is split over them is found in the message, so that
//! the input is made of its texts anew.

use pleat_domain::json::{self, Raw};
use pleat_domain::{Block, Message};
use pleat_guardrails::Side;
use serde_json::Value;

use super::{BlockedBy, Watch};

/// Where in the input the texts of the message are, joined; nowhere where the input was made of something else.
pub(super) fn joined_in(input: &Raw, message: &Message) -> Option<String> {
    let whole = joined(message)?;
    match serde_json::from_str(input.get()).ok()? {
        Value::String(text) if text == whole => Some(String::new()),
        Value::Object(members) if members.len() == 1 => {
            let (name, value) = members.iter().next()?;
            (value.as_str() == Some(whole.as_str())).then(|| format!("/{}", name.replace('~', "~0").replace('/', "~1")))
        }
        _ => None,
    }
}

impl Watch {
    pub(super) fn joined(&mut self, input: &mut Raw, place: &str, message: &mut Message) -> Result<(), BlockedBy> {
        self.message(message)?;
        let Some(whole) = joined(message) else { return Ok(()) };
        let mut value: Value = serde_json::from_str(input.get()).unwrap_or_default();
        if let Some(text) = value.pointer_mut(place) {
            *text = Value::String(whole.clone());
        }
        *input = json::raw(&value);
        self.raw(Side::Input, input, "", true)?;
        let looked: Value = serde_json::from_str(input.get()).unwrap_or_default();
        match looked.pointer(place).and_then(Value::as_str) {
            Some(text) if text == whole => {}
            // Something was in the whole that is in no text and over no edge: the message says no more than the input.
            text => gather(message, text.unwrap_or_default()),
        }
        Ok(())
    }
}

/// As the doors join them. `None`: they are not several.
fn joined(message: &Message) -> Option<String> {
    let texts: Vec<&str> = message.content.iter().filter_map(text_of).collect();
    (texts.len() > 1).then(|| texts.join("\n"))
}

fn text_of(block: &Block) -> Option<&str> {
    match block {
        Block::Text { text, .. } => Some(text),
        _ => None,
    }
}

/// Puts a text into the place of the first, and nothing into those of the others.
fn gather(message: &mut Message, whole: &str) {
    let mut rest = whole;
    for block in &mut message.content {
        if let Block::Text { text, .. } = block {
            *text = std::mem::take(&mut rest).to_owned();
        }
    }
}

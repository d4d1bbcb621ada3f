//! Parts of a 0.1 message as content blocks. `view` writes them back: what is read here returns unchanged.
//!
//! A part's `metadata` is a block's `_meta`, a file's name its `name`; a link without a name is named by its address.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pleat_domain::content::{Block, EmbeddedResource};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::error::InvalidParams;
use crate::fields::Fields;

pub(super) const META: &str = "_meta";
pub(super) const NAME: &str = "name";
/// Begins the address of an embedded file that came without one; what follows is the part's place in its message.
pub(super) const ATTACHMENT: &str = "attachment:";

pub(super) fn read_all(parts: &RawValue, pointer: &str) -> Result<Vec<Block>, InvalidParams> {
    let parts: Vec<&RawValue> =
        serde_json::from_str(parts.get()).map_err(|_| InvalidParams::new("`parts` must be an array", pointer))?;
    if parts.is_empty() {
        return Err(InvalidParams::new("`parts` must have at least one part", pointer));
    }
    parts.into_iter().enumerate().map(|(index, part)| read(part, index, pointer)).collect()
}

fn read(part: &RawValue, index: usize, pointer: &str) -> Result<Block, InvalidParams> {
    let fields = Fields::read(part, "part", format!("{pointer}/{index}"))?;
    // Answers carry both names, and clients send back what they got.
    let tag = if fields.get("type").is_none() && fields.get("kind").is_some() { "kind" } else { "type" };
    let kind = fields.required_string(tag)?;
    let mut extra = Map::new();
    if let Some(metadata) = fields.map("metadata")? {
        extra.insert(META.to_owned(), Value::Object(metadata));
    }
    match kind.as_str() {
        "text" => Ok(Block::Text { text: fields.required_string("text")?, extra }),
        "data" => Ok(Block::Data { data: data(&fields)?, extra }),
        "file" => {
            let file =
                fields.object("file")?.ok_or_else(|| fields.invalid("file", "is missing; it must be an object"))?;
            read_file(&file, index, extra)
        }
        _ => Err(fields.invalid(tag, "must be `text`, `file` or `data`")),
    }
}

fn data(fields: &Fields<'_>) -> Result<Value, InvalidParams> {
    let raw = fields.present("data").ok_or_else(|| fields.invalid("data", "is missing; it may be any JSON"))?;
    serde_json::from_str(raw.get()).map_err(|_| fields.invalid("data", "is not JSON"))
}

fn read_file(file: &Fields<'_>, index: usize, mut extra: Map<String, Value>) -> Result<Block, InvalidParams> {
    let (name, mime_type) = (file.string("name")?, file.string("mimeType")?);
    match (file.string("bytes")?, file.string("uri")?) {
        (Some(_), Some(_)) => Err(file.invalid("uri", "and `bytes` exclude each other; send one of them")),
        (None, None) => Err(file.invalid("bytes", "and `uri` are both missing; send one of them")),
        (None, Some(uri)) if uri.is_empty() => Err(file.invalid("uri", "must not be empty")),
        (None, Some(uri)) => {
            let name = name.unwrap_or_else(|| uri.clone());
            Ok(Block::ResourceLink { uri, name, mime_type, extra })
        }
        (Some(bytes), None) => {
            if STANDARD.decode(&bytes).is_err() {
                return Err(file.invalid("bytes", "must be base64, with its padding"));
            }
            extra.extend(name.map(|name| (NAME.to_owned(), Value::String(name))));
            Ok(embed(bytes, mime_type, index, extra))
        }
    }
}

fn embed(data: String, mime_type: Option<String>, index: usize, extra: Map<String, Value>) -> Block {
    match mime_type {
        Some(mime_type) if mime_type.starts_with("image/") => Block::Image { data, mime_type, extra },
        Some(mime_type) if mime_type.starts_with("audio/") => Block::Audio { data, mime_type, extra },
        mime_type => {
            let uri = format!("{ATTACHMENT}{index}");
            let resource = EmbeddedResource { uri, mime_type, text: None, blob: Some(data), extra: Map::new() };
            Block::Resource { resource, extra }
        }
    }
}

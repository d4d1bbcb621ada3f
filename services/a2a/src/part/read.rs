//! Parts as they are sent, read into content blocks. A fault names its place.

use base64::Engine;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD};
use pleat_domain::content::{Block, Data, EmbeddedResource};
use pleat_domain::json::Raw;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use super::{ATTACHMENT, MEDIA_TYPE, META, NAME, WRAPPED};
use crate::error::InvalidParams;
use crate::fields::Fields;

/// How a part says what it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Form {
    /// By `type`, or by `kind` where that is missing: clients send back what they got.
    Type,
    /// By `kind`.
    Kind,
    /// By the member that it has.
    Member,
}

/// All parts of a message; there must be one.
pub(crate) fn all(parts: &RawValue, pointer: &str, form: Form) -> Result<Vec<Block>, InvalidParams> {
    let parts: Vec<&RawValue> =
        serde_json::from_str(parts.get()).map_err(|_| InvalidParams::new("`parts` must be an array", pointer))?;
    if parts.is_empty() {
        return Err(InvalidParams::new("`parts` must have at least one part", pointer));
    }
    let read =
        |(index, part)| one(part, format!("{pointer}/{index}"), form).map(|given: Given| given.into_block(index));
    parts.into_iter().enumerate().map(read).collect()
}

fn one(part: &RawValue, pointer: String, form: Form) -> Result<Given, InvalidParams> {
    let fields = Fields::read(part, "part", pointer)?.by_both_names(form == Form::Member);
    match form {
        Form::Type => tagged(&fields, if fields.get("type").is_none() { "kind" } else { "type" }, "type"),
        Form::Kind => tagged(&fields, "kind", "kind"),
        Form::Member => untagged(&fields),
    }
}

struct Given {
    body: Body,
    name: Option<String>,
    media_type: Option<String>,
    metadata: Option<Map<String, Value>>,
}

enum Body {
    Text(String),
    Data(Raw),
    Bytes(String),
    Link(String),
}

/// `tag` is where the kind is looked for, `expected` what the fault calls it when it is nowhere.
fn tagged(fields: &Fields<'_>, tag: &str, expected: &str) -> Result<Given, InvalidParams> {
    let kind = match fields.get(tag) {
        Some(_) => fields.required_string(tag)?,
        None => fields.required_string(expected)?,
    };
    let metadata = metadata(fields)?;
    match kind.as_str() {
        "text" => Ok(Given::new(Body::Text(fields.required_string("text")?), metadata)),
        "data" => Ok(unwrapped(data(fields)?, metadata)),
        "file" => {
            let missing = || fields.invalid("file", "is missing; it must be an object");
            file(&fields.object("file")?.ok_or_else(missing)?, metadata)
        }
        _ => Err(fields.invalid(tag, "must be `text`, `file` or `data`")),
    }
}

fn file(file: &Fields<'_>, metadata: Option<Map<String, Value>>) -> Result<Given, InvalidParams> {
    let (name, media_type) = (file.string("name")?, file.string("mimeType")?);
    let body = match (file.string("bytes")?, file.string("uri")?) {
        (Some(_), Some(_)) => return Err(file.invalid("uri", "and `bytes` exclude each other; send one of them")),
        (None, None) => return Err(file.invalid("bytes", "and `uri` are both missing; send one of them")),
        (None, Some(uri)) => link(file, "uri", uri)?,
        (Some(bytes), None) => self::bytes(file, "bytes", bytes)?,
    };
    Ok(Given { body, name, media_type, metadata })
}

fn untagged(fields: &Fields<'_>) -> Result<Given, InvalidParams> {
    let members: Vec<&str> = ["text", "raw", "url"].into_iter().filter(|name| fields.get(name).is_some()).collect();
    let has_data = fields.present("data").is_some();
    let body = match (members.as_slice(), has_data) {
        ([], false) => return Err(fields.fault("a part must have one of `text`, `raw`, `url` and `data`")),
        (["text"], false) => Body::Text(fields.required_string("text")?),
        (["raw"], false) => bytes(fields, "raw", fields.required_string("raw")?)?,
        (["url"], false) => link(fields, "url", fields.required_string("url")?)?,
        ([], true) => Body::Data(data(fields)?.to_owned()),
        _ => return Err(fields.fault("a part must have only one of `text`, `raw`, `url` and `data`")),
    };
    // In ProtoJSON, what is empty is not there.
    let name = fields.string("filename")?.filter(|name| !name.is_empty());
    let media_type = fields.string("mediaType")?.filter(|name| !name.is_empty());
    Ok(Given { body, name, media_type, metadata: metadata(fields)? })
}

/// What says nothing is not there.
fn metadata(fields: &Fields<'_>) -> Result<Option<Map<String, Value>>, InvalidParams> {
    Ok(fields.map("metadata")?.filter(|metadata| !metadata.is_empty()))
}

fn data<'a>(fields: &Fields<'a>) -> Result<&'a RawValue, InvalidParams> {
    fields.present("data").ok_or_else(|| fields.invalid("data", "is missing; it may be any JSON"))
}

fn link(fields: &Fields<'_>, name: &str, uri: String) -> Result<Body, InvalidParams> {
    if uri.is_empty() { Err(fields.invalid(name, "must not be empty")) } else { Ok(Body::Link(uri)) }
}

/// Any of base64's alphabets, with its padding or without, as ProtoJSON has it; kept in the common one.
fn bytes(fields: &Fields<'_>, name: &str, text: String) -> Result<Body, InvalidParams> {
    if STANDARD.decode(&text).is_ok() {
        return Ok(Body::Bytes(text));
    }
    let decoded = [STANDARD_NO_PAD, URL_SAFE, URL_SAFE_NO_PAD].iter().find_map(|engine| engine.decode(&text).ok());
    decoded.map(|bytes| Body::Bytes(STANDARD.encode(bytes))).ok_or_else(|| fields.invalid(name, "must be base64"))
}

/// A value that is no object comes in one that is marked.
fn unwrapped(data: &RawValue, metadata: Option<Map<String, Value>>) -> Given {
    let marked = metadata.as_ref().is_some_and(|metadata| metadata.get(WRAPPED) == Some(&Value::Bool(true)));
    let inner =
        Some(data).filter(|_| marked).and_then(|data| Fields::try_read(data, "")).and_then(|data| data.only("value"));
    match inner {
        Some(value) => {
            let mut metadata = metadata.unwrap_or_default();
            metadata.remove(WRAPPED);
            Given::new(Body::Data(value.to_owned()), Some(metadata).filter(|metadata| !metadata.is_empty()))
        }
        None => Given::new(Body::Data(data.to_owned()), metadata),
    }
}

impl Given {
    const fn new(body: Body, metadata: Option<Map<String, Value>>) -> Self {
        Self { body, name: None, media_type: None, metadata }
    }

    fn into_block(self, index: usize) -> Block {
        let Self { body, name, media_type, metadata } = self;
        let mut extra = Map::new();
        extra.extend(metadata.map(|metadata| (META.to_owned(), Value::Object(metadata))));
        match body {
            Body::Text(text) => {
                describe(&mut extra, name, media_type);
                Block::Text { text, extra }
            }
            Body::Data(data) => {
                describe(&mut extra, name, media_type);
                Block::Data { data: Data(data), extra }
            }
            Body::Bytes(data) => {
                describe(&mut extra, name, None);
                embed(data, media_type, index, extra)
            }
            Body::Link(uri) => {
                let name = name.unwrap_or_else(|| uri.clone());
                Block::ResourceLink { uri, name, mime_type: media_type, extra }
            }
        }
    }
}

fn describe(extra: &mut Map<String, Value>, name: Option<String>, media_type: Option<String>) {
    extra.extend(name.map(|name| (NAME.to_owned(), Value::String(name))));
    extra.extend(media_type.map(|kind| (MEDIA_TYPE.to_owned(), Value::String(kind))));
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

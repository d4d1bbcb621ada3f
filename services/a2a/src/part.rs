//! Content blocks as the parts of a message: what all families of the protocol have in common of it.
//!
//! A part's `metadata` is a block's `_meta`, a file's name its `name`; a link without a name is named by its address.
//! Blocks that are not public have no part. The way back is in `read`: what is read there is written here unchanged.

pub(crate) mod read;

use std::borrow::Cow;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use pleat_domain::content::{Block, EmbeddedResource};
use serde::Serialize;
use serde_json::value::RawValue;
use serde_json::{Map, Value};

use crate::value::text_of;

const META: &str = "_meta";
const NAME: &str = "name";
const MEDIA_TYPE: &str = "mimeType";
/// Begins the address of an embedded file that came without one; what follows is the part's place in its message.
const ATTACHMENT: &str = "attachment:";
/// What the reference libraries mark a 0.3 data part with that stands for a value which is no object.
const WRAPPED: &str = "data_part_compat";

#[derive(Debug)]
pub(crate) struct Part<'a> {
    pub body: Body<'a>,
    pub name: Option<&'a str>,
    pub media_type: Option<&'a str>,
    pub metadata: Option<Metadata<'a>>,
}

#[derive(Debug)]
pub(crate) enum Body<'a> {
    Text(Cow<'a, str>),
    Data(Data<'a>),
    /// Base64.
    Bytes(Cow<'a, str>),
    Link(&'a str),
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Data<'a> {
    Raw(&'a RawValue),
    Wrapped { value: Box<Data<'a>> },
}

impl Data<'_> {
    fn is_object(&self) -> bool {
        match self {
            Self::Raw(raw) => raw.get().starts_with('{'),
            Self::Wrapped { .. } => true,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(untagged)]
pub(crate) enum Metadata<'a> {
    Given(&'a Map<String, Value>),
    /// Where an embedded resource came from: a file part has no room for an address beside its bytes.
    Address {
        uri: &'a str,
    },
    Wrapped {
        #[serde(flatten)]
        given: Option<&'a Map<String, Value>>,
        #[serde(rename = "data_part_compat")]
        wrapped: bool,
    },
}

impl<'a> Part<'a> {
    pub fn text(text: impl Into<Cow<'a, str>>) -> Self {
        Self::of(Body::Text(text.into()))
    }

    /// A value: a text for a string, data for everything else.
    pub fn value(value: &'a RawValue) -> Self {
        if value.get().starts_with('"') { Self::text(text_of(value)) } else { Self::of(Body::Data(Data::Raw(value))) }
    }

    pub fn of_block(block: &'a Block) -> Option<Self> {
        let (part, extra) = match block {
            Block::Text { text, extra } => (Self::text(text.as_str()).described(extra), extra),
            Block::Data { data, extra } => (Self::of(Body::Data(Data::Raw(&data.0))).described(extra), extra),
            Block::Image { data, mime_type, extra } | Block::Audio { data, mime_type, extra } => {
                let body = Body::Bytes(Cow::Borrowed(data.as_str()));
                (Self { name: text_in(extra, NAME), media_type: Some(mime_type.as_str()), ..Self::of(body) }, extra)
            }
            Block::ResourceLink { uri, name, mime_type, extra } => {
                let name = (name != uri).then_some(name.as_str());
                (Self { name, media_type: mime_type.as_deref(), ..Self::of(Body::Link(uri)) }, extra)
            }
            Block::Resource { resource, extra } => (Self::embedded(resource, extra), extra),
            _ => return None,
        };
        let given = extra.get(META).and_then(Value::as_object).map(Metadata::Given);
        Some(Self { metadata: given.or(part.metadata), ..part })
    }

    /// 0.3 has data parts for objects only: any other value is wrapped into one, and marked.
    pub fn wrapped(self) -> Self {
        match self.body {
            Body::Data(data) if !data.is_object() => {
                let given = match self.metadata {
                    Some(Metadata::Given(given)) => Some(given),
                    _ => None,
                };
                let body = Body::Data(Data::Wrapped { value: Box::new(data) });
                Self { body, metadata: Some(Metadata::Wrapped { given, wrapped: true }), ..self }
            }
            body => Self { body, ..self },
        }
    }

    const fn of(body: Body<'a>) -> Self {
        Self { body, name: None, media_type: None, metadata: None }
    }

    fn described(self, extra: &'a Map<String, Value>) -> Self {
        Self { name: text_in(extra, NAME), media_type: text_in(extra, MEDIA_TYPE), ..self }
    }

    fn embedded(resource: &'a EmbeddedResource, extra: &'a Map<String, Value>) -> Self {
        let bytes = match (&resource.blob, &resource.text) {
            (Some(blob), _) => Cow::Borrowed(blob.as_str()),
            (None, text) => Cow::Owned(STANDARD.encode(text.as_deref().unwrap_or_default())),
        };
        let address = (!resource.uri.starts_with(ATTACHMENT)).then_some(resource.uri.as_str());
        let last_segment = address.and_then(|uri| uri.rsplit('/').next()).filter(|name| !name.is_empty());
        Self {
            name: text_in(extra, NAME).or(last_segment),
            media_type: resource.mime_type.as_deref(),
            metadata: address.map(|uri| Metadata::Address { uri }),
            ..Self::of(Body::Bytes(bytes))
        }
    }
}

fn text_in<'a>(extra: &'a Map<String, Value>, key: &str) -> Option<&'a str> {
    extra.get(key)?.as_str()
}

/// A part that says its kind: 0.3 and, with one more word for it, 0.1.
#[derive(Debug, Serialize)]
pub(crate) struct Tagged<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    r#type: Option<&'static str>,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<File<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct File<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    name: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    bytes: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    uri: Option<&'a str>,
}

impl<'a> Tagged<'a> {
    /// `typed`: says its kind as `type` too.
    pub fn new(part: Part<'a>, typed: bool) -> Self {
        let Part { body, name, media_type: mime_type, metadata } = part;
        let (kind, text, file, data) = match body {
            Body::Text(text) => ("text", Some(text), None, None),
            Body::Data(data) => ("data", None, None, Some(data)),
            Body::Bytes(bytes) => ("file", None, Some(File { name, mime_type, bytes: Some(bytes), uri: None }), None),
            Body::Link(uri) => ("file", None, Some(File { name, mime_type, bytes: None, uri: Some(uri) }), None),
        };
        Self { r#type: typed.then_some(kind), kind, text, file, data, metadata }
    }
}

/// A part that is told by its member: 1.0.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Untagged<'a> {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    raw: Option<Cow<'a, str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    url: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    data: Option<Data<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    filename: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    media_type: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    metadata: Option<Metadata<'a>>,
}

impl<'a> Untagged<'a> {
    pub fn new(part: Part<'a>) -> Self {
        let Part { body, name: filename, media_type, metadata } = part;
        let mut view = Self { text: None, raw: None, url: None, data: None, filename, media_type, metadata };
        match body {
            Body::Text(text) => view.text = Some(text),
            Body::Bytes(bytes) => view.raw = Some(bytes),
            Body::Link(uri) => view.url = Some(uri),
            Body::Data(data) => view.data = Some(data),
        }
        view
    }
}

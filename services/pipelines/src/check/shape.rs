//! What is known of a value before there is one.

use serde_json::Value;

use crate::fault::similar;
use crate::reference::Segment;
use crate::schema::{Property, Types, View};

#[derive(Debug, Clone)]
pub(super) enum Shape<'a> {
    Unknown,
    Schema(View<'a>),
    Literal(&'a Value),
    /// A whole number.
    Number,
    /// Any number of these.
    List(Box<Self>),
    /// These, in this order.
    Tuple(Vec<Self>),
    /// Exactly these keys.
    Object(Vec<(&'a str, Self)>),
}

pub(super) enum Reach<'a> {
    Found(Shape<'a>),
    /// It may be there, though the schema speaks of others only.
    Unspoken,
    Never,
}

impl<'a> Shape<'a> {
    pub(super) fn types(&self) -> Types {
        match self {
            Self::Unknown => Types::ANY,
            Self::Schema(view) => view.types(),
            Self::Literal(value) => Types::of_value(value),
            Self::Number => Types::INTEGER,
            Self::List(_) | Self::Tuple(_) => Types::ARRAY,
            Self::Object(_) => Types::OBJECT,
        }
    }

    /// One step into it.
    pub(super) fn reach(&self, segment: &Segment) -> Reach<'a> {
        match (self, segment) {
            (Self::Schema(view), Segment::Key(key)) => match view.property(key) {
                Property::Known(view) => Reach::Found(Self::Schema(view)),
                Property::Unknown => Reach::Found(Self::Unknown),
                Property::Unspoken => Reach::Unspoken,
                Property::Never => Reach::Never,
            },
            (Self::Schema(view), Segment::Index(index)) => {
                if !view.types().overlap(Types::ARRAY) {
                    return Reach::Never;
                }
                let item = view.item(usize::try_from(*index).ok());
                Reach::Found(item.map_or(Self::Unknown, Self::Schema))
            }
            (Self::Object(entries), Segment::Key(key)) => {
                let found = entries.iter().find(|(name, _)| name == key);
                found.map_or(Reach::Never, |(_, shape)| Reach::Found(shape.clone()))
            }
            (Self::List(item), Segment::Index(_)) => Reach::Found((**item).clone()),
            (Self::Tuple(items), Segment::Index(index)) => {
                let found = usize::try_from(*index).ok().and_then(|index| items.get(index));
                found.map_or(Reach::Never, |shape| Reach::Found(shape.clone()))
            }
            (Self::Unknown, _) => Reach::Found(Self::Unknown),
            _ => Reach::Never,
        }
    }

    /// A key that may have been meant.
    pub(super) fn similar(&self, segment: &Segment) -> Option<&'a str> {
        let Segment::Key(key) = segment else { return None };
        match self {
            Self::Schema(view) => similar(key, view.properties()),
            Self::Object(entries) => similar(key, entries.iter().map(|(name, _)| *name)),
            _ => None,
        }
    }

    /// What each of its items is.
    pub(super) fn any_item(&self) -> Self {
        match self {
            Self::Schema(view) => view.item(None).map_or(Self::Unknown, Self::Schema),
            Self::List(item) => (**item).clone(),
            Self::Tuple(items) if items.len() == 1 => items.first().cloned().unwrap_or(Self::Unknown),
            _ => Self::Unknown,
        }
    }
}

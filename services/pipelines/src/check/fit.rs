//! Whether what a mapping gives can be what a schema wants. A fault is what can never work; what is merely not promised
//! is a warning.

use std::collections::HashSet;

use super::shape::Shape;
use crate::document::Node;
use crate::fault::{Report, below};
use crate::schema::{Property, Types, View};

/// How deep two schemas are compared.
const DEPTH: usize = 8;
/// How much is compared for one step, in properties and in values of schemas that literals are held against. What is
/// beyond it is left to the check of each call.
const WORK: usize = 20_000;
/// Compiling a schema costs as much as comparing this many properties, for each of its values.
const COMPILING: usize = 4;

pub(super) struct Fit {
    /// Whose schema it is, as messages name it.
    callee: String,
    /// What it is given, as messages name it.
    all: &'static str,
    /// Nothing is mapped: what came before is passed on whole.
    whole: bool,
    work: usize,
    found: Vec<Finding>,
}

struct Finding {
    pointer: String,
    message: String,
    hint: String,
    certain: bool,
}

impl Fit {
    pub(super) const fn new(callee: String, all: &'static str, whole: bool) -> Self {
        Self { callee, all, whole, work: WORK, found: Vec::new() }
    }

    pub(super) fn check(mut self, given: &Shape<'_>, wanted: View<'_>, pointer: &str) -> Self {
        self.fit(given, wanted, Place { pointer, path: "", depth: 0 });
        self
    }

    pub(super) fn report(self, root: &Node, report: &mut Report) {
        for Finding { pointer, message, hint, certain } in self.found {
            if certain { report.at(root, &pointer, message, hint) } else { report.warn(root, &pointer, message, hint) }
        }
    }

    fn may(&mut self, work: usize) -> bool {
        let left = self.work.checked_sub(work);
        self.work = left.unwrap_or(0);
        left.is_some()
    }

    fn fit(&mut self, given: &Shape<'_>, wanted: View<'_>, place: Place<'_>) {
        if !self.may(1) {
            return;
        }
        let types = (given.types(), wanted.types());
        if !types.0.overlap(types.1) {
            let message =
                format!("{} wants {} as {}, and this is {}", self.callee, place.shown(self.all), types.1, types.0);
            let hint = match given {
                Shape::Literal(serde_json::Value::String(_)) => {
                    "write numbers, true, false and null without `literal:`"
                }
                _ => "map something of that type",
            };
            return self.find(place, true, message, hint.into());
        }
        match given {
            Shape::Literal(value) => {
                if self.may(wanted.weight().saturating_mul(COMPILING))
                    && let Some(error) = wanted.refuses(value)
                {
                    let message = format!("{} does not accept {}: {error}", self.callee, place.shown(self.all));
                    self.find(place, true, message, "write a value that its schema allows".into());
                }
            }
            Shape::Object(entries) => self.object(entries, wanted, place),
            Shape::Schema(view) => self.schemas(*view, wanted, place),
            Shape::Tuple(items) => {
                for (index, item) in items.iter().enumerate() {
                    if let Some(wanted) = wanted.item(Some(index)) {
                        let (pointer, path) = (below(place.pointer, index), format!("{}[{index}]", place.path));
                        self.fit(item, wanted, place.at(&pointer, &path));
                    }
                }
            }
            Shape::Unknown | Shape::Number | Shape::List(_) => {}
        }
    }

    fn object(&mut self, entries: &[(&str, Shape<'_>)], wanted: View<'_>, place: Place<'_>) {
        let names: HashSet<&str> = entries.iter().map(|(name, _)| *name).collect();
        for key in wanted.required().filter(|key| !names.contains(key)) {
            let message = format!("{} needs {}, which is not mapped", self.callee, place.key(key));
            self.find(place, true, message, format!("map it, for example `{key}: $input.{key}`"));
        }
        for (key, shape) in entries {
            // Of a group that is passed on whole there is nothing in the text that each key stands for.
            let pointer = if self.whole { place.pointer.to_owned() } else { below(place.pointer, key) };
            let path = place.key_path(key);
            match wanted.property(key) {
                Property::Known(wanted) => self.fit(shape, wanted, place.at(&pointer, &path)),
                Property::Never => {
                    let hint = match crate::fault::similar(key, wanted.properties()) {
                        Some(one) => format!("did you mean `{one}`?"),
                        None => "take it out".to_owned(),
                    };
                    let message = format!("{} takes no {}", self.callee, place.key(key));
                    self.find(place.at(&pointer, &path), true, message, hint);
                }
                Property::Unspoken | Property::Unknown => {}
            }
        }
    }

    /// One schema's values where another's are wanted.
    fn schemas(&mut self, given: View<'_>, wanted: View<'_>, place: Place<'_>) {
        let objects = given.types().within(Types::OBJECT) || wanted.types().within(Types::OBJECT);
        if !objects || place.depth >= DEPTH {
            return;
        }
        for key in wanted.required() {
            if !self.may(1) {
                return;
            }
            let hint = format!("map it: `input_mapping: {{{key}: …}}`");
            match given.property(key) {
                Property::Never => {
                    let message =
                        format!("{} needs {}, and what it is given never has that", self.callee, place.key(key));
                    self.find(place, true, message, hint);
                }
                Property::Unspoken => {
                    let message =
                        format!("{} needs {}, and what it is given does not promise that", self.callee, place.key(key));
                    self.find(place, false, message, hint);
                }
                Property::Known(view) => self.property(key, view, wanted, place),
                Property::Unknown => {}
            }
        }
        let required: HashSet<&str> = wanted.required().collect();
        for key in given.required() {
            if !self.may(1) {
                return;
            }
            match (wanted.property(key), given.property(key)) {
                (Property::Never, _) => {
                    let message =
                        format!("{} takes no {}, and what it is given always has that", self.callee, place.key(key));
                    self.find(place, true, message, "map only what it takes".into());
                }
                (Property::Known(_), Property::Known(view)) if !required.contains(key) => {
                    self.property(key, view, wanted, place);
                }
                _ => {}
            }
        }
    }

    fn property(&mut self, key: &str, given: View<'_>, wanted: View<'_>, place: Place<'_>) {
        if let Property::Known(wanted) = wanted.property(key) {
            let path = place.key_path(key);
            self.fit(
                &Shape::Schema(given),
                wanted,
                Place { pointer: place.pointer, path: &path, depth: place.depth + 1 },
            );
        }
    }

    fn find(&mut self, place: Place<'_>, certain: bool, message: String, hint: String) {
        self.found.push(Finding { pointer: place.pointer.to_owned(), message, hint, certain });
    }
}

/// Where in the document, and where in what the callee is given.
#[derive(Clone, Copy)]
struct Place<'a> {
    pointer: &'a str,
    path: &'a str,
    depth: usize,
}

impl Place<'_> {
    fn at<'a>(&self, pointer: &'a str, path: &'a str) -> Place<'a> {
        Place { pointer, path, depth: self.depth + 1 }
    }

    fn key_path(&self, key: &str) -> String {
        if self.path.is_empty() { key.to_owned() } else { format!("{}.{key}", self.path) }
    }

    fn key(&self, key: &str) -> String {
        format!("`{}`", self.key_path(key))
    }

    fn shown(&self, all: &str) -> String {
        if self.path.is_empty() { all.to_owned() } else { format!("`{}`", self.path) }
    }
}

//! The strict check against an oracle: serde_json with a tree, of which depth, values and keys are then counted.
#![no_main]

use std::fmt;

use libfuzzer_sys::fuzz_target;
use pleat_domain::JsonFault;
use pleat_domain::json::{check, checked};
use pleat_domain::limits::{JSON_DEPTH, JSON_VALUES};
use serde::Deserialize;
use serde::de::{Deserializer, MapAccess, SeqAccess, Visitor};

fuzz_target!(|bytes: &[u8]| {
    let verdict = check(bytes);
    assert_eq!(std::str::from_utf8(bytes).is_err(), verdict == Err(JsonFault::NotUtf8));
    match serde_json::from_slice::<Tree>(bytes) {
        Ok(tree) => {
            let (depth, values, twice) = (tree.depth, tree.values, tree.twice);
            assert_eq!(verdict.is_ok(), depth <= JSON_DEPTH && values <= JSON_VALUES && !twice, "{verdict:?}");
        }
        Err(_) => assert!(verdict.is_err(), "no parser would take it"),
    }
    if verdict.is_ok() {
        let text = String::from_utf8(bytes.to_vec()).expect("it was checked");
        let raw = checked(text.clone()).expect("it was checked");
        assert_eq!(raw.get(), text.trim_matches([' ', '\t', '\n', '\r']), "a payload travels as it came");
    }
});

/// How a text is built, remembered from reading it. A scalar has no depth.
struct Tree {
    depth: usize,
    values: usize,
    twice: bool,
}

impl<'de> Deserialize<'de> for Tree {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Reader)
    }
}

struct Reader;

const LEAF: Tree = Tree { depth: 0, values: 1, twice: false };

impl<'de> Visitor<'de> for Reader {
    type Value = Tree;

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_bool<E>(self, _: bool) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_i64<E>(self, _: i64) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_u64<E>(self, _: u64) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_f64<E>(self, _: f64) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_str<E>(self, _: &str) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_unit<E>(self) -> Result<Tree, E> {
        Ok(LEAF)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Tree, A::Error> {
        let mut tree = LEAF;
        while let Some(item) = items.next_element::<Tree>()? {
            tree.add(&item);
        }
        Ok(Tree { depth: tree.depth + 1, ..tree })
    }

    fn visit_map<A: MapAccess<'de>>(self, mut entries: A) -> Result<Tree, A::Error> {
        let (mut tree, mut keys) = (LEAF, Vec::new());
        while let Some((key, value)) = entries.next_entry::<String, Tree>()? {
            tree.add(&value);
            keys.push(key);
        }
        let count = keys.len();
        keys.sort();
        keys.dedup();
        Ok(Tree { depth: tree.depth + 1, twice: tree.twice || keys.len() < count, ..tree })
    }
}

impl Tree {
    fn add(&mut self, other: &Self) {
        self.depth = self.depth.max(other.depth);
        self.values += other.values;
        self.twice |= other.twice;
    }
}

//! The memory of compiled patterns: limited for each, and for all of a schema.

use std::collections::HashMap;

use regex::RegexBuilder;
use serde_json::Value;

use crate::positions::Positions;
use crate::schema::Refused;

/// The most that one compiled pattern may take, in bytes.
pub const PATTERN_BYTES: usize = 512 * 1024;
/// The most that those of one schema may take together.
const ALL_BYTES: usize = 4 * 1024 * 1024;
/// A pattern's tables for searching, made as they are needed.
pub(crate) const SEARCH_BYTES: usize = 256 * 1024;

/// About what the patterns of a schema take; a pattern that occurs twice is compiled once.
pub(crate) fn weigh(schema: &Value, positions: &Positions) -> Result<usize, Refused> {
    let mut sizes: HashMap<&str, usize> = HashMap::new();
    let mut total = 0_usize;
    for position in &positions.all {
        let Some(members) = schema.pointer(&position.pointer).and_then(Value::as_object) else { continue };
        let own = members.get("pattern").and_then(Value::as_str);
        let names = members.get("patternProperties").and_then(Value::as_object).into_iter().flat_map(|map| map.keys());
        for pattern in own.into_iter().chain(names.map(String::as_str)) {
            if sizes.contains_key(pattern) {
                continue;
            }
            let size = size(pattern);
            sizes.insert(pattern, size);
            total += size;
            if total > ALL_BYTES {
                let text = format!("its patterns need more than {} MiB when compiled", ALL_BYTES / (1024 * 1024));
                return Err(Refused::at(&position.pointer, format!("{text}: use fewer, or smaller repetitions")));
            }
        }
    }
    Ok(total)
}

/// The least limit that it compiles under.
fn size(pattern: &str) -> usize {
    let fits = |limit: &usize| RegexBuilder::new(pattern).size_limit(*limit).build().is_ok();
    [16, 64, 256].iter().map(|kib| kib * 1024).find(fits).unwrap_or(PATTERN_BYTES)
}

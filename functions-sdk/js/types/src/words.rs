//! Finds what the syntax tree has no place for: modifiers and marks between two places of a text, comments left out.

use std::ops::Range;

/// The words and single other characters of `source` within `range`.
pub fn words(source: &str, range: Range<usize>) -> impl Iterator<Item = (Range<usize>, &str)> {
    let mut at = range.start;
    std::iter::from_fn(move || {
        at = skip(source, at);
        let rest = source.get(at..range.end).filter(|rest| !rest.is_empty())?;
        let length = rest.find(|character: char| !is_part(character)).unwrap_or(rest.len());
        let length = if length == 0 { rest.chars().next().map_or(1, char::len_utf8) } else { length };
        let found = at..at + length;
        at = found.end;
        Some((found.clone(), source.get(found)?))
    })
}

/// Where the next thing begins that is neither white space nor a comment.
fn skip(source: &str, mut at: usize) -> usize {
    loop {
        let Some(rest) = source.get(at..) else { return at };
        let trimmed = rest.trim_start();
        at += rest.len() - trimmed.len();
        let comment = if trimmed.starts_with("//") {
            trimmed.find('\n')
        } else if trimmed.starts_with("/*") {
            trimmed.find("*/").map(|end| end + 2)
        } else {
            return at;
        };
        at += comment.unwrap_or(trimmed.len());
    }
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

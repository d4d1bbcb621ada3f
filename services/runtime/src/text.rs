//! Guests write what they like; here it is cut to size and made safe to show.

use std::borrow::Cow;
use std::fmt::Write;

/// The longest beginning of `text` that has at most `most` bytes and ends between characters.
pub(crate) fn cut(text: &str, most: usize) -> &str {
    text.get(..text.floor_char_boundary(most)).unwrap_or(text)
}

/// Control characters (a terminal obeys some of them) are spelled out. Line breaks and tabs stay: a stack trace is
/// one message of several lines.
pub(crate) fn escaped(text: &str) -> Cow<'_, str> {
    let harmless = |character: char| !character.is_control() || matches!(character, '\n' | '\t');
    if text.chars().all(harmless) {
        return Cow::Borrowed(text);
    }
    let mut safe = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if harmless(character) {
            safe.push(character);
        } else {
            // Writing to a String cannot fail.
            let _ = write!(safe, "{}", character.escape_unicode());
        }
    }
    Cow::Owned(safe)
}

/// A count of bytes as people read it.
pub(crate) fn bytes(count: usize) -> String {
    const MIB: usize = 1 << 20;
    const KIB: usize = 1 << 10;
    match count {
        _ if count >= MIB && count.is_multiple_of(MIB) => format!("{} MiB", count / MIB),
        _ if count >= KIB && count.is_multiple_of(KIB) => format!("{} KiB", count / KIB),
        _ => format!("{count} bytes"),
    }
}

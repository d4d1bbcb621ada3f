//! Hardware addresses: six pairs of hex digits, or three groups of four.

use crate::scan::Peek;

pub(crate) const SHORTEST: usize = 14;

/// The addresses in a run.
pub(crate) fn macs(run: &str) -> Vec<(usize, usize)> {
    let bytes = run.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at + SHORTEST <= bytes.len() {
        let begins = bytes.at(at).is_ascii_hexdigit() && !bytes.before(at).is_ascii_alphanumeric();
        match begins.then(|| end(bytes, at)).flatten() {
            Some(end) => {
                found.push((at, end));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

fn end(bytes: &[u8], start: usize) -> Option<usize> {
    let (size, separator) = match (bytes.at(start + 2), bytes.at(start + 4)) {
        (separator @ (b':' | b'-'), _) => (2, separator),
        (_, b'.') => (4, b'.'),
        _ => return None,
    };
    let length = if size == 2 { 17 } else { 14 };
    let text = bytes.get(start..start + length)?;
    let shaped = text
        .iter()
        .enumerate()
        .all(|(at, byte)| if at % (size + 1) == size { *byte == separator } else { byte.is_ascii_hexdigit() });
    let next = bytes.at(start + length);
    let goes_on = next == separator && bytes.at(start + length + 1).is_ascii_hexdigit();
    let ends = !next.is_ascii_alphanumeric() && !goes_on;
    let goes_back = bytes.before(start) == separator && bytes.before(start.wrapping_sub(1)).is_ascii_hexdigit();
    let first = text.first()?;
    let varied = text.iter().any(|byte| *byte != separator && !byte.eq_ignore_ascii_case(first));
    (shaped && ends && varied && !goes_back).then_some(start + length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_in_each_notation() {
        for text in ["00:1A:2B:3C:4D:5E", "00-1a-2b-3c-4d-5e", "0012.3456.789a"] {
            assert_eq!(macs(text), [(0, text.len())], "{text}");
        }
        for text in
            ["00:1A:2B:3C:4D", "FF:FF:FF:FF:FF:FF", "10:2F:33-AC-29-C3", "ZZ:ZZ:ZZ:ZZ:ZZ:ZZ", "00:1A:2B:3C:4D:5E:77:88"]
        {
            assert!(macs(text).is_empty(), "{text}");
        }
    }
}

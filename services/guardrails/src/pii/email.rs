//! Email addresses: around each `@` of a run, what can be a mailbox on its left and a host on its right.

use crate::scan::Peek;

const LONGEST_LOCAL: usize = 64;
const LONGEST_HOST: usize = 253;

/// The addresses in a run.
pub(crate) fn emails(run: &str) -> impl Iterator<Item = (usize, usize)> + '_ {
    let bytes = run.as_bytes();
    let mut from = 0;
    bytes.iter().enumerate().filter(|(_, byte)| **byte == b'@').filter_map(move |(at, _)| {
        let start = local(bytes, from, at)?;
        let end = host(bytes, at + 1)?;
        // `git@host:path` is where a repository is.
        if bytes.get(start..at) == Some(b"git") && bytes.at(end) == b':' {
            return None;
        }
        from = end;
        Some((start, end))
    })
}

const fn in_local(byte: u8) -> bool {
    byte.is_ascii_alphanumeric()
        || byte >= 0x80
        || matches!(
            byte,
            b'.' | b'_' | b'%' | b'+' | b'-' | b'\'' | b'&' | b'#' | b'$' | b'!' | b'*' | b'=' | b'~' | b'^'
        )
}

fn local(bytes: &[u8], from: usize, at: usize) -> Option<usize> {
    let mut start = at;
    while start > from && at - start < LONGEST_LOCAL && in_local(bytes.before(start)) {
        start -= 1;
    }
    // Not the middle of a character, and not the punctuation before the address.
    while start < at && !(bytes.at(start).is_ascii_alphanumeric() || bytes.at(start) >= 0xc0 || bytes.at(start) == b'_')
    {
        start += 1;
    }
    // `to=me@example.com` and `mailto:` have a name before the address.
    let named = bytes.get(start..at)?.iter().rposition(|byte| *byte == b'=').map_or(start, |place| start + place + 1);
    (named < at && bytes.before(at) != b'.').then_some(named)
}

fn host(bytes: &[u8], start: usize) -> Option<usize> {
    let mut end = start;
    let fits = |byte: u8| byte.is_ascii_alphanumeric() || byte >= 0x80 || matches!(byte, b'.' | b'-');
    while end - start < LONGEST_HOST && fits(bytes.at(end)) {
        end += 1;
    }
    // The end of the sentence is no part of the host.
    while end > start && matches!(bytes.before(end), b'.' | b'-') {
        end -= 1;
    }
    let mut name = bytes.get(start..end)?;
    // A label behind the last that cannot be one: `me@example.com.Then`.
    loop {
        let dot = name.iter().rposition(|byte| *byte == b'.')?;
        let last = name.get(dot + 1..)?;
        let letters = last.iter().take_while(|byte| byte.is_ascii_alphabetic() || **byte >= 0x80).count();
        if last.starts_with(b"xn--") || (letters >= 2 && letters == last.len()) {
            break;
        }
        // Something else that was written right behind it.
        if letters >= 2 {
            name = name.get(..dot + 1 + letters)?;
            break;
        }
        name = name.get(..dot)?;
    }
    let labels = name.split(|byte| *byte == b'.');
    let sound = |label: &[u8]| !label.is_empty() && label.len() <= 63 && label.first() != Some(&b'-');
    labels.clone().all(sound).then_some(start + name.len())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        emails(text).map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn addresses_are_told_from_what_surrounds_them() {
        for (text, expected) in [
            ("a@b.co", "a@b.co"),
            ("(first.last+tag@sub.example.co.uk).", "first.last+tag@sub.example.co.uk"),
            ("mailto:me@example.com", "me@example.com"),
            ("?to=me@example.com&x=1", "me@example.com"),
            ("o'neil@example.ie", "o'neil@example.ie"),
            ("user@xn--80ak6aa92e.com", "user@xn--80ak6aa92e.com"),
            ("'quoted@example.org'", "quoted@example.org"),
            ("jane@example.com4111", "jane@example.com"),
            ("x@10.example.museum", "x@10.example.museum"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
        assert_eq!(found("a@b.co/c@d.org"), ["a@b.co", "c@d.org"]);
    }

    #[test]
    fn what_is_no_address_is_left() {
        for text in
            ["@handle", "a@b", "a@", "a@b.", "a@.com", "user@localhost", "a.@b.com", "v1@2.3", "@@@@@", "a@b..com"]
        {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}

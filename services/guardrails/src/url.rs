//! Addresses in text, and what is suspicious about them.

use crate::scan::Peek;

/// Schemes that run or carry something instead of leading somewhere.
const ACTIVE: &[&str] = &["javascript:", "data:text/html", "vbscript:"];
/// A query longer than this carries more than a question.
const LONG_QUERY: usize = 256;
/// Pictures have short queries, if any: the style of a badge, not what was said.
const LONG_IMAGE_QUERY: usize = 32;
/// A label of a host name longer than this carries data.
const LONG_LABEL: usize = 40;

/// The addresses in a run.
pub(crate) fn find(run: &str) -> Vec<(usize, usize)> {
    let bytes = run.as_bytes();
    let mut found: Vec<(usize, usize)> = Vec::new();
    let lower_starts =
        |at: usize, word: &str| run.get(at..at + word.len()).is_some_and(|text| text.eq_ignore_ascii_case(word));
    let mut at = 0;
    while at < bytes.len() {
        let begins = !bytes.before(at).is_ascii_alphanumeric()
            && (["https://", "http://", "ftp://", "wss://", "ws://", "//", "www."]
                .iter()
                .any(|word| lower_starts(at, word))
                || ACTIVE.iter().any(|word| lower_starts(at, word)));
        if begins && run.is_char_boundary(at) {
            let end = end(run, at);
            if host(run.get(at..end).unwrap_or_default()).is_some() || ACTIVE.iter().any(|word| lower_starts(at, word))
            {
                found.push((at, end));
                at = end.max(at + 1);
                continue;
            }
        }
        at += 1;
    }
    found
}

fn end(run: &str, start: usize) -> usize {
    let rest = run.get(start..).unwrap_or_default();
    let bracketed = run.as_bytes().before(start) == b'(';
    let stop = if bracketed { rest.find(')').unwrap_or(rest.len()) } else { rest.len() };
    start + rest.get(..stop).unwrap_or_default().trim_end_matches(['.', '!', '?', '\'', ')', ']', ':']).len()
}

/// The host of an address, in lower case, without user, port and the last dot.
pub(crate) fn host(address: &str) -> Option<String> {
    let rest = address.split_once("//").map_or(address, |(_, rest)| rest);
    let authority = rest.split(['/', '?', '#', '\\']).next()?;
    let host = authority.rsplit('@').next()?;
    let host =
        if host.starts_with('[') { host.split(']').next()?.trim_start_matches('[') } else { host.split(':').next()? };
    let host = host.trim_end_matches('.').to_lowercase();
    let named = host.contains('.') || host == "localhost" || host.contains(':');
    (named && !host.starts_with('.')).then_some(host)
}

/// Whether a host is a domain or inside it: `*.example.com` and `example.com` mean the same.
pub(crate) fn within(host: &str, domain: &str) -> bool {
    let domain = domain.trim_start_matches("*.");
    host == domain || host.strip_suffix(domain).is_some_and(|rest| rest.ends_with('.'))
}

/// What makes an address look as if it carried data away. `image`: it is the source of a picture in Markdown, which
/// is fetched without anybody asking.
pub(crate) fn suspicion(address: &str, image: bool) -> Option<&'static str> {
    let lower = address.to_ascii_lowercase();
    if ACTIVE.iter().any(|word| lower.starts_with(word)) {
        return Some("active-scheme");
    }
    let query = address.split_once('?').map_or("", |(_, query)| query);
    if image && (query.len() >= LONG_IMAGE_QUERY || ["%20", "%40", "+"].iter().any(|space| query.contains(space))) {
        return Some("image-with-query");
    }
    if query.len() > LONG_QUERY {
        return Some("long-query");
    }
    let authority = lower
        .split_once("//")
        .map_or(lower.as_str(), |(_, rest)| rest)
        .split(['/', '?', '#'])
        .next()
        .unwrap_or_default();
    if authority.contains('@') {
        return Some("credentials");
    }
    if authority.split('.').any(|label| label.len() > LONG_LABEL) {
        return Some("data-in-host");
    }
    let carries = query.split('&').filter_map(|pair| pair.split_once('=')).any(|(_, value)| encoded(value));
    let placed = query.contains("{{") || query.contains("%7B%7B") || query.contains("${");
    if carries {
        Some("encoded-query")
    } else if placed {
        Some("template-in-query")
    } else {
        None
    }
}

/// A value that is text when decoded.
fn encoded(value: &str) -> bool {
    value.len() >= 32
        && crate::decode::texts(value, false).iter().any(|(.., text)| text.contains(' ') || text.contains('@'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_found_with_their_hosts() {
        for (run, address, named) in [
            ("https://Example.com/a?b=c.", "https://Example.com/a?b=c", "example.com"),
            ("(http://a.b.org/x)", "http://a.b.org/x", "a.b.org"),
            ("www.example.org", "www.example.org", "www.example.org"),
            ("![x](https://evil.test/p.png?q=1)", "https://evil.test/p.png?q=1", "evil.test"),
            ("http://user:pw@[::1]:80/", "http://user:pw@[::1]:80/", "::1"),
        ] {
            let found: Vec<_> = find(run).into_iter().map(|(start, end)| &run[start..end]).collect();
            assert_eq!(found, [address], "{run}");
            assert_eq!(host(address).as_deref(), Some(named), "{run}");
        }
        assert!(find("a//b and/or c:d").is_empty());
    }

    #[test]
    fn domains_hold_what_is_inside_them() {
        assert!(within("a.example.com", "example.com") && within("example.com", "*.example.com"));
        assert!(!within("notexample.com", "example.com") && !within("example.com.evil.test", "example.com"));
    }

    #[test]
    fn what_carries_data_away_is_suspicious() {
        for (address, image, rule) in [
            ("https://evil.test/p.png?q=the+password+is+x", true, Some("image-with-query")),
            ("https://img.shields.io/badge.svg?branch=master", true, None),
            ("https://example.com/search?q=hello", false, None),
            ("javascript:alert(1)", false, Some("active-scheme")),
            ("https://user@evil.test/", false, Some("credentials")),
            ("https://x.test/?d=bXkgcGFzc3dvcmQgaXMgaHVudGVyMiBhbmQgbW9yZQ==", false, Some("encoded-query")),
        ] {
            assert_eq!(suspicion(address, image), rule, "{address}");
        }
    }
}

//! Addresses of machines: IPv4 among numbers, IPv6 in runs with colons.

use std::net::Ipv6Addr;

use super::Taken;
use crate::kind::Kind;
use crate::lexicon::class::VERSION;
use crate::scan::{Peek, Region};

pub(super) fn ipv4(region: &Region<'_>, first: usize) -> Option<Taken> {
    if first + 4 > region.groups.len() || !region.separated_by(first, 4, ".") {
        return None;
    }
    let fits = |at: usize| {
        let text = region.span(first + at, 1);
        text.len() <= 3 && (text.len() == 1 || !text.starts_with('0')) && text.parse::<u8>().is_ok()
    };
    let start = region.group(first).start;
    let before = region.byte(start.wrapping_sub(1));
    // More than four, or a plus before them: a telephone, or an outline.
    let longer = first + 4 < region.groups.len() && region.between(first + 3) == ".";
    if !(0..4).all(fits) || longer || matches!(before, b'.' | b'+') || region.context.near(VERSION, start, 12) {
        return None;
    }
    Some(Taken::new(region, first, 4, Kind::Ip, "ipv4"))
}

/// The IPv6 addresses in a run.
pub(crate) fn ipv6(run: &str) -> Vec<(usize, usize)> {
    let bytes = run.as_bytes();
    let part = |byte: u8| byte.is_ascii_hexdigit() || matches!(byte, b':' | b'.');
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !part(bytes.at(at)) {
            at += 1;
            continue;
        }
        let start = at;
        while part(bytes.at(at)) {
            at += 1;
        }
        let joined = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80;
        let candidate = run.get(start..at).unwrap_or_default();
        if candidate.len() > 45
            || candidate.bytes().filter(|byte| *byte == b':').count() < 2
            || joined(bytes.before(start))
            || joined(bytes.at(at))
        {
            continue;
        }
        if let Some((from, to)) = address(candidate) {
            let zone = zone(bytes, start + to);
            found.push((start + from, zone));
        }
    }
    found
}

/// A name before it (`src:`), or the end of the sentence behind it, is no part of the address.
fn address(candidate: &str) -> Option<(usize, usize)> {
    let end = candidate.trim_end_matches('.').len();
    let ends = [end, candidate.trim_end_matches(['.', ':']).len()];
    let starts = [0, usize::from(candidate.starts_with(':'))];
    if let Some(end) = before_port(candidate) {
        return Some((0, end));
    }
    for (start, end) in starts.into_iter().flat_map(|start| ends.map(|end| (start, end))) {
        let text = candidate.get(start..end)?;
        // `::` alone is nobody's address, and `a::b` is a path.
        let told = text.bytes().any(|byte| byte.is_ascii_digit()) || text.len() > 12;
        if text.len() > 2 && told && text.parse::<Ipv6Addr>().is_ok() {
            return Some((start, end));
        }
    }
    None
}

/// Where an address of all its eight groups ends that has a port behind it.
fn before_port(candidate: &str) -> Option<usize> {
    let (address, port) = candidate.rsplit_once(':')?;
    let whole = address.bytes().filter(|byte| *byte == b':').count() == 7 && port.parse::<u16>().is_ok();
    (whole && address.parse::<Ipv6Addr>().is_ok()).then_some(address.len())
}

/// `fe80::1%eth0`.
fn zone(bytes: &[u8], end: usize) -> usize {
    if bytes.at(end) != b'%' || !bytes.at(end + 1).is_ascii_alphanumeric() {
        return end;
    }
    (end + 1..end + 17).find(|at| !bytes.at(*at).is_ascii_alphanumeric()).unwrap_or(end)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&str> {
        ipv6(text).into_iter().map(|(start, end)| &text[start..end]).collect()
    }

    #[test]
    fn addresses_of_the_new_protocol_are_found() {
        for (text, expected) in [
            ("2001:db8::1", "2001:db8::1"),
            ("[2001:db8::1]:8080", "2001:db8::1"),
            ("fe80::1%eth0", "fe80::1%eth0"),
            ("::ffff:192.0.2.1", "::ffff:192.0.2.1"),
            ("src=::1", "::1"),
            ("ee24:cb1f:1430:5b30:4ed5:75a3:bee7:5486:5432", "ee24:cb1f:1430:5b30:4ed5:75a3:bee7:5486"),
            ("2400:c401::5054:ff:fe1b:b031.", "2400:c401::5054:ff:fe1b:b031"),
        ] {
            assert_eq!(found(text), [expected], "{text}");
        }
    }

    #[test]
    fn times_ratios_and_paths_are_none() {
        for text in [
            "12:34:56",
            "1:2:3:4",
            "std::cout",
            "a::b::c",
            "::",
            ":::",
            "aa:bb:cc:dd:ee:ff",
            "A::B",
            "2001::25de::cade",
            "ee24:cb1f:1430:5b30:4ed5:75a3:bee7:5486:5432:1",
            "ee24:cb1f:1430:5b30:4ed5:75a3:bee7:5486:99999",
            "fe80::1text",
        ] {
            assert!(found(text).is_empty(), "{text}");
        }
    }
}

//! Secrets: keys in the formats of their providers, private keys, tokens, and values behind words for secrets.

mod assigned;
mod formats;

pub(crate) use assigned::{assignment, value_behind};

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;

use crate::kind::Kind;
use crate::scan::Peek;
use formats::{Body, FORMATS, Format};

/// A private key that is longer than this is no key.
const LONGEST_PRIVATE_KEY: usize = 16 * 1024;
const END: &str = "-----END";

/// Whether a rule is for keys of a cloud, which are personal data's business too.
pub(crate) fn is_cloud(rule: &str) -> bool {
    formats::CLOUDS.contains(&rule)
}

/// The keys in a run.
pub(crate) fn keys(run: &str) -> Vec<(usize, usize, Kind, &'static str)> {
    let bytes = run.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        let begins = bytes.at(at).is_ascii_alphanumeric() && !in_word(bytes.before(at));
        if !begins {
            at += 1;
            continue;
        }
        match key(run, at).or_else(|| token(run, at)) {
            Some((end, kind, rule)) => {
                found.push((at, end, kind, rule));
                at = end;
            }
            None => at += 1,
        }
    }
    found
}

const fn in_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || byte == b'_' || byte >= 0x80
}

fn key(run: &str, start: usize) -> Option<(usize, Kind, &'static str)> {
    let rest = run.get(start..)?;
    let first = rest.as_bytes().at(0);
    let formats = formats::starting(first);
    formats.iter().filter_map(|at| FORMATS.get(*at)).find_map(|format| {
        let end = matched(rest, format)?;
        Some((start + end, Kind::ApiKey, format.rule))
    })
}

fn matched(rest: &str, format: &Format) -> Option<usize> {
    let body = rest.strip_prefix(format.prefix)?;
    let length = body.bytes().take_while(|byte| format.body.has(*byte)).count();
    if length < format.fewest || length > format.most {
        return None;
    }
    let end = format.prefix.len() + length;
    let next = rest.as_bytes().at(end);
    let text = rest.get(format.prefix.len()..end)?;
    let varied = format.body != Body::Word || distinct(text) >= 6;
    (!next.is_ascii_alphanumeric() && varied).then_some(end)
}

fn distinct(text: &str) -> usize {
    let mut seen = [false; 256];
    text.bytes().for_each(|byte| {
        if let Some(place) = seen.get_mut(byte as usize) {
            *place = true;
        }
    });
    seen.iter().filter(|one| **one).count()
}

/// A JSON web token: three parts, of which the first is a header.
fn token(run: &str, start: usize) -> Option<(usize, Kind, &'static str)> {
    let rest = run.get(start..)?;
    if !rest.starts_with("eyJ") {
        return None;
    }
    let fits = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_');
    let part = |from: usize| rest.get(from..).unwrap_or_default().bytes().take_while(fits).count();
    let header = part(0);
    let payload = part(header + 1);
    let dots = rest.as_bytes().at(header) == b'.' && rest.as_bytes().at(header + 1 + payload) == b'.';
    if !dots || header < 12 || payload < 4 {
        return None;
    }
    let decoded = URL_SAFE_NO_PAD.decode(rest.get(..header)?).ok()?;
    let is_header =
        decoded.first() == Some(&b'{') && std::str::from_utf8(&decoded).is_ok_and(|text| text.contains("\"alg\""));
    let end = header + 2 + payload + part(header + 2 + payload);
    is_header.then_some((start + end, Kind::Token, "jwt"))
}

/// Where a private key ends that begins here. `None` outside: the text ends before it is known.
pub(crate) fn private_key(text: &str, start: usize, more: bool) -> Option<Option<usize>> {
    let bytes = text.as_bytes();
    let rest = bytes.get(start..(start + LONGEST_PRIVATE_KEY).min(bytes.len())).unwrap_or_default();
    let complete = !more || rest.len() == LONGEST_PRIVATE_KEY;
    let header = rest.iter().skip(10).take(64).position(|byte| *byte == b'-').map(|at| at + 10);
    let Some(header) = header else { return if complete || rest.len() > 74 { Some(None) } else { None } };
    let label = std::str::from_utf8(rest.get(..header).unwrap_or_default()).unwrap_or_default();
    if !label.contains("PRIVATE KEY") {
        return Some(None);
    }
    let body = std::str::from_utf8(rest.get(header..).unwrap_or_default());
    let body =
        body.or_else(|error| std::str::from_utf8(rest.get(header..header + error.valid_up_to()).unwrap_or_default()));
    let Some(end) = body.unwrap_or_default().find(END) else {
        // Cut off or not, what follows the header is the key: to the next empty line, or all of it.
        let stop = body.unwrap_or_default().find("\n\n").map_or(rest.len(), |at| header + at);
        return complete.then(|| Some(floor(text, start + stop)));
    };
    let tail = header + end + END.len();
    let close = rest.get(tail..).unwrap_or_default().iter().take(80).position(|byte| *byte == b'\n');
    let line = close.map_or((rest.len() - tail).min(80), |at| at);
    if more && close.is_none() && rest.len() - tail < 80 {
        return None;
    }
    let line = rest.get(tail..tail + line).unwrap_or_default();
    let dashes = line.windows(5).position(|five| five == b"-----").map_or(0, |at| at + 5);
    Some(Some(floor(text, start + tail + dashes)))
}

fn floor(text: &str, mut at: usize) -> usize {
    while !text.is_char_boundary(at) {
        at -= 1;
    }
    at
}

/// Bits of information per character.
pub(crate) fn entropy(text: &str) -> f64 {
    let mut counts = [0_u32; 256];
    for byte in text.bytes() {
        if let Some(count) = counts.get_mut(byte as usize) {
            *count += 1;
        }
    }
    let total = text.len() as f64;
    counts
        .iter()
        .filter(|count| **count > 0)
        .map(|count| {
            let share = f64::from(*count) / total;
            -share * share.log2()
        })
        .sum()
}

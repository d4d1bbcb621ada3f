//! What the words and signs around a number say about it: whether it is a telephone, and where its extension ends.

use super::Lead;
use crate::lexicon::class::{ID, NUMBER, OTHER_NUMBER, PHONE, WHOSE};
use crate::lexicon::classes_of;
use crate::scan::{BEHIND, Peek, Region};

/// Words behind a number that say whose telephone it is.
const BEHIND_WORDS: &[&str] = &["office", "home", "work", "mobile", "cell", "fax", "phone", "tel", "direct", "desk"];
/// Words before a number that do so.
const LABELS: &[&str] = &["office", "home", "work", "mobile", "cell", "direct", "desk", "main", "ph"];
/// Names of members that say nothing of their values.
const NAMELESS: &[&[u8]] = &[b"value", b"number", b"text", b"content", b"data"];
const LONGEST_LABEL: usize = 12;
const LONGEST_NAME: usize = 40;

/// Whether the words around say that it is a telephone.
pub(super) fn asked(region: &Region<'_>, lead: &Lead, first: usize, count: usize) -> bool {
    let context = region.context;
    let plain = count == 1;
    let labelled = labelled(region, lead.start);
    if behind(region, region.group(first + count - 1).end) || (!plain && labelled) {
        return true;
    }
    // The value of a member has its name, and no other.
    if let Some(name) = name(region.text.as_bytes(), lead.start)
        && !labelled
        && !context.hinted(PHONE)
    {
        let inside = |class| context.near(class, lead.start, lead.start - name);
        return inside(PHONE) || (inside(NUMBER) && inside(WHOSE));
    }
    let other = context.distance(OTHER_NUMBER, lead.start).unwrap_or(usize::MAX);
    if let Some(distance) = context.distance(PHONE, lead.start) {
        return distance <= crate::scan::BEFORE && (context.hinted(PHONE) || other > distance);
    }
    let numbered = context.near(NUMBER, lead.start, BEHIND) && context.near(WHOSE, lead.start, 40);
    numbered && other > 40 && (!plain || (9..=11).contains(&region.group(first).len()))
}

/// Whether the number was called something else just before.
pub(super) fn otherwise(region: &Region<'_>, start: usize) -> bool {
    let context = region.context;
    let other = context.distance(OTHER_NUMBER, start).unwrap_or(usize::MAX);
    other <= 16 && context.distance(PHONE, start).is_none_or(|distance| distance > other)
}

/// Whether it was called an employer's number, or one for taxes. `ein` in small letters is a German article.
pub(super) fn employs(region: &Region<'_>, start: usize) -> bool {
    let from = start.saturating_sub(LONGEST_LABEL);
    let before = region.text.as_bytes().get(from..start).unwrap_or_default().trim_ascii_end();
    let named = before.strip_suffix(b":").unwrap_or(before).ends_with(b"EIN");
    named || region.context.near(ID, start, LONGEST_LABEL)
}

/// A word right behind the number: `555 1234 office`, `-Fax`.
fn behind(region: &Region<'_>, end: usize) -> bool {
    // No further than a stream waits for.
    let most = end + BEHIND;
    let end = extension(region.text, end).unwrap_or(end);
    let bytes = region.text.as_bytes();
    let Some(start) = (end..end + 4).find(|at| bytes.at(*at).is_ascii_alphabetic()) else { return false };
    if !bytes.get(end..start).unwrap_or_default().iter().all(|byte| matches!(byte, b' ' | b'-' | b'(' | b',')) {
        return false;
    }
    let Some(stop) = (start..most).find(|at| !bytes.at(*at).is_ascii_alphabetic()) else { return false };
    let word = region.text.get(start..stop).unwrap_or_default();
    let gap = start - end;
    // `phone=` names what follows it.
    let names = matches!(bytes.at(stop), b'=' | b':');
    gap > 0
        && !names
        && (BEHIND_WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
            || (word.len() > 3 && classes_of(word) & PHONE != 0))
}

/// Where the name begins whose value this is: `id=`, `"id": "`, and `Case id: ` at the beginning of a line.
pub(in crate::pii) fn name(bytes: &[u8], start: usize) -> Option<usize> {
    let quote = |byte: u8| matches!(byte, b'"' | b'\'');
    let back = |mut at: usize, fits: &dyn Fn(u8) -> bool| {
        let least = at.saturating_sub(LONGEST_NAME);
        while at > least && fits(bytes.before(at)) {
            at -= 1;
        }
        at
    };
    let in_name = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-' | b'.') || byte >= 0x80;
    let value = start - usize::from(start > 0 && quote(bytes.before(start)));
    if bytes.before(value) == b'=' {
        let from = back(value - 1, &in_name);
        let telling = !NAMELESS.iter().any(|name| bytes.get(from..value - 1) == Some(name));
        return (from < value - 1 && telling).then_some(from);
    }
    let sign = back(value, &|byte| byte == b' ');
    if bytes.before(sign) != b':' {
        return None;
    }
    let quoted = sign > 1 && quote(bytes.at(sign - 2));
    let end = sign - 1 - usize::from(quoted);
    if quoted {
        let from = back(end, &in_name);
        let telling = !NAMELESS.iter().any(|name| bytes.get(from..end) == Some(name));
        return (from < end && telling).then_some(from);
    }
    let from = back(end, &|byte| in_name(byte) || matches!(byte, b' ' | b'(' | b')' | b'*' | b'\''));
    (from < end && (from == 0 || bytes.before(from) == b'\n')).then_some(from)
}

/// A word right before the number: `work 057-46-30`.
fn labelled(region: &Region<'_>, start: usize) -> bool {
    let before = region.text.get(start.saturating_sub(LONGEST_LABEL)..start).unwrap_or_default();
    let word = before.trim_end_matches([' ', ':', '.']);
    before.len() - word.len() <= 2
        && LABELS.iter().any(|label| {
            let from = word.len().checked_sub(label.len());
            let joined = from.and_then(|from| word.as_bytes().get(from.checked_sub(1)?));
            from.and_then(|from| word.get(from..)).is_some_and(|last| last.eq_ignore_ascii_case(label))
                && !joined.is_some_and(u8::is_ascii_alphanumeric)
        })
}

/// A number before a capital is a house number more often than a telephone.
pub(in crate::pii) fn before_a_name(region: &Region<'_>, end: usize) -> bool {
    region.byte(end) == b' ' && region.byte(end + 1).is_ascii_uppercase()
}

/// Whether an extension begins here: `x123`, `ext. 123`.
pub(crate) fn has_extension(text: &str, end: usize) -> bool {
    extension(text, end).is_some()
}

pub(super) fn extension(text: &str, end: usize) -> Option<usize> {
    let bytes = text.as_bytes();
    let mut at = end;
    while at < end + 2 && matches!(bytes.at(at), b' ' | b',') {
        at += 1;
    }
    let word = ["extension", "ext.", "ext", "x"]
        .into_iter()
        .find(|word| text.get(at..at + word.len()).is_some_and(|found| found.eq_ignore_ascii_case(word)))?;
    at += word.len();
    if word.len() > 1 && matches!(bytes.at(at), b' ' | b':') {
        at += 1;
    }
    let stop = (at..at + 7).find(|place| !bytes.at(*place).is_ascii_digit())?;
    (stop > at && !bytes.at(stop).is_ascii_alphanumeric()).then_some(stop)
}

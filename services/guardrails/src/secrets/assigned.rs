//! Values behind words for secrets: `password: …`, `api_key=…`, and members that are called so.

use super::entropy;
use crate::kind::Kind;
use crate::lexicon::class::{PASSWORD, SECRET};
use crate::lexicon::{Classes, classes_of};
use crate::scan::{Context, Peek};

type Value = (usize, usize, Kind, &'static str);

/// How far behind the word its value may begin.
const BEHIND: usize = 24;
const SHORTEST_PASSWORD: usize = 6;
const SHORTEST_KEY: usize = 16;
const LONGEST: usize = 512;
/// Bits per character that chosen words do not reach.
const RANDOM: f64 = 3.2;

/// A word for secrets and its value in one run: `password=hunter2`.
pub(crate) fn assignment(run: &str, assigns: bool) -> Option<Value> {
    if !assigns || run.len() > 2 * LONGEST {
        return None;
    }
    let at = run.find(['=', ':'])?;
    // A path of a program: `password::hash`.
    if run.get(at..)?.starts_with("::") {
        return None;
    }
    let classes = name(run.get(..at)?);
    let start =
        at + 1 + run.get(at + 1..)?.bytes().take_while(|byte| matches!(byte, b'=' | b':' | b'\'' | b'/')).count();
    if run.get(at..)?.starts_with("://") {
        return in_address(run, at);
    }
    judge(run, start, classes)
}

/// `scheme://user:password@host`.
fn in_address(run: &str, at: usize) -> Option<Value> {
    let rest = run.get(at + 3..)?;
    let host = rest.find(['@', '/', '?', '#']).filter(|end| rest.as_bytes().at(*end) == b'@')?;
    let colon = rest.get(..host)?.find(':')?;
    let (start, end) = (at + 3 + colon + 1, at + 3 + host);
    (end > start + 2).then_some((start, end, Kind::Password, "address-password"))
}

/// A run that is the value of a word before it.
pub(crate) fn value_behind(text: &str, start: usize, run: &str, context: &Context) -> Option<Value> {
    let start_of_run = start;
    for class in [PASSWORD, SECRET] {
        let Some(distance) = context.distance(class, start_of_run).filter(|distance| *distance <= BEHIND) else {
            continue;
        };
        let between = text.get(start_of_run.saturating_sub(distance)..start_of_run).unwrap_or_default();
        let says = context.hinted(class) && start_of_run == 0;
        let assigned = between.contains([':', '=']) || between.contains(" is ") || between.contains(" ist ");
        if says || assigned {
            if is_redacted(run) {
                return None;
            }
            let skipped = run.bytes().take_while(|byte| matches!(byte, b'\'' | b'(' | b'[')).count();
            return judge(run, skipped, class);
        }
    }
    None
}

/// The classes of the last words of a name: `DB_PASSWORD`, `apiKey`, `"client-secret`.
fn name(left: &str) -> Classes {
    let from = left.len().saturating_sub(40);
    let left = (from..=left.len()).find_map(|at| left.get(at..)).unwrap_or_default();
    let word = left.trim_end_matches(|one: char| !one.is_ascii_alphanumeric());
    let begins =
        word.rfind(|one: char| !one.is_ascii_alphanumeric() && one != '_' && one != '-').map_or(0, |at| at + 1);
    let word = word.get(begins..).unwrap_or_default();
    let bare: String = word.chars().filter(char::is_ascii_alphanumeric).collect();
    let mut classes = classes_of(&bare);
    let mut start = 0;
    for (at, byte) in word.bytes().enumerate() {
        let camel = byte.is_ascii_uppercase() && at > 0 && word.as_bytes().at(at - 1).is_ascii_lowercase();
        if camel || !byte.is_ascii_alphanumeric() {
            classes |= classes_of(word.get(start..at).unwrap_or_default());
            start = if camel { at } else { at + 1 };
        }
    }
    classes | classes_of(word.get(start..).unwrap_or_default())
}

fn judge(run: &str, start: usize, classes: Classes) -> Option<Value> {
    let tail = run.get(start..)?;
    let value = tail.trim_end_matches(['.', '\'', ')', ']', ':', '?']);
    let value = value.split(['&', '\'']).next().unwrap_or_default();
    if value.len() > LONGEST || placeholder(value) {
        return None;
    }
    let end = start + value.len();
    let kinds = [u8::is_ascii_lowercase, u8::is_ascii_uppercase, u8::is_ascii_digit, u8::is_ascii_punctuation];
    let mixed = kinds.iter().filter(|kind| value.bytes().any(|byte| kind(&byte))).count();
    let digits = value.bytes().any(|byte| byte.is_ascii_digit());
    if classes & PASSWORD != 0 && value.len() >= SHORTEST_PASSWORD && mixed >= 2 && (digits || mixed >= 3) {
        return Some((start, end, Kind::Password, "password"));
    }
    let random = value.len() >= SHORTEST_KEY && digits && mixed >= 2 && entropy(value) >= RANDOM;
    (classes & (SECRET | PASSWORD) != 0 && random).then_some((start, end, Kind::ApiKey, "generic-key"))
}

/// `[PASSWORD_1]`: something was found here before.
fn is_redacted(run: &str) -> bool {
    let inner = run.trim_start_matches(['\'', '(']).strip_prefix('[').and_then(|rest| rest.split_once(']'));
    let parts = inner.and_then(|(label, _)| label.rsplit_once('_'));
    parts.is_some_and(|(label, number)| {
        let is_label = !label.is_empty() && label.bytes().all(|byte| byte.is_ascii_uppercase() || byte == b'_');
        is_label && !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit())
    })
}

/// What stands where a secret belongs, and is none: `${TOKEN}`, `****`, `[PASSWORD_1]`, `https://…`.
fn placeholder(value: &str) -> bool {
    let starts =
        ["$", "*", "%", "[", "<", "{", "http", "/", "xxx", "your", "example", "process.env", "os.environ", "env."];
    let lower = value.get(..12.min(value.len())).unwrap_or(value).to_ascii_lowercase();
    starts.iter().any(|start| lower.starts_with(start))
        || value.contains("...")
        || value.contains('@') && value.contains('.') && !value.contains(':')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_redacted_is_known() {
        assert!(["[PASSWORD_1]", "'[API_KEY_12]'", "([PASSWORD_3])!"].into_iter().all(is_redacted));
        assert!(!["[hunter2x9]", "[Pass_1]", "[PASSWORD]", "PASSWORD_1", "[_1]"].into_iter().any(is_redacted));
    }

    #[test]
    fn values_behind_names_are_found() {
        for (run, value) in [
            ("password=hunter2x", "hunter2x"),
            ("DB_PASSWORD=S3cret!word", "S3cret!word"),
            ("apiKey:9f8e7d6c5b4a39281706abcd", "9f8e7d6c5b4a39281706abcd"),
            ("postgres://app:s3cr3t@db/x", "s3cr3t"),
        ] {
            let found = assignment(run, true).map(|(start, end, ..)| &run[start..end]);
            assert_eq!(found, Some(value), "{run}");
        }
        for run in [
            "password=required",
            "password=${PASSWORD}",
            "token:expired",
            "key=value",
            "note=hunter2x",
            "https://example.com/a1",
            "password::sha2x",
        ] {
            assert_eq!(assignment(run, true), None, "{run}");
        }
    }
}

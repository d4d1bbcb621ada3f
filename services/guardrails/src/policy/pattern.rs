//! A tenant's pattern: bounded in size, run on pieces of bounded length, and refused where it could only do harm.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

use crate::work::Work;

/// The longest pattern, in characters.
const LONGEST: usize = 1024;
/// The most that a compiled pattern may take, in bytes.
const LARGEST: usize = 512 * 1024;
/// Sizes that are tried: the first that is enough is about what a pattern takes.
const SIZES: [usize; 4] = [LARGEST / 32, LARGEST / 8, LARGEST / 2, LARGEST];
const DEEPEST: u32 = 24;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Regex,
    /// About what it takes in memory.
    pub(super) bytes: usize,
    /// How far behind a match the search for it may have looked.
    reach: usize,
}

impl Pattern {
    /// Compiles a pattern with flags as JavaScript names them.
    pub(super) fn new(pattern: &str, flags: &str) -> Result<Self, String> {
        if pattern.chars().count() > LONGEST {
            return Err(format!("the pattern is longer than {LONGEST} characters"));
        }
        if let Some(unknown) = flags.chars().find(|flag| !"gimsuvxy".contains(*flag)) {
            return Err(format!(
                "the flag `{unknown}` is unknown: use `i`, `m`, `s`, `x`, `u`, or `g`, which changes nothing"
            ));
        }
        let has = |flag: char| flags.contains(flag);
        let hir = regex_syntax::ParserBuilder::new()
            .nest_limit(DEEPEST)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .build()
            .parse(pattern)
            .map_err(|error| explain(&error))?;
        if hir.properties().minimum_len().is_none_or(|length| length == 0) {
            return Err("the pattern matches the empty text, and so everywhere".to_owned());
        }
        if catastrophic(&hir) {
            return Err("the pattern repeats what is repeated already, as `(a+)+` does: one repetition says the same"
                .to_owned());
        }
        let mut builder = RegexBuilder::new(pattern);
        builder
            .nest_limit(DEEPEST)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .dfa_size_limit(LARGEST);
        let compiled = |bytes: &usize| Some((builder.clone().size_limit(*bytes).build().ok()?, *bytes));
        let (regex, bytes) = SIZES.iter().find_map(compiled).ok_or_else(|| {
            format!("the pattern needs more than {} KiB when compiled: use smaller repetitions", LARGEST / 1024)
        })?;
        let longest = hir.properties().maximum_len().unwrap_or(usize::MAX);
        Ok(Self { regex, bytes, reach: if looks_ahead(&hir, false) { longest } else { 0 } })
    }

    /// The places where the pattern matches in a piece of text; those that touch are one. Searching on behind each match
    /// may look at what was looked at before, which is why pieces are short and why that is counted. False: it is too
    /// much.
    pub(crate) fn find(&self, piece: &str, work: &mut Work, mut found: impl FnMut(usize, usize)) -> bool {
        let mut run: Option<(usize, usize)> = None;
        for one in self.regex.find_iter(piece) {
            let rest = piece.len() - one.start();
            if !work.spend(self.reach.min(rest)) {
                return false;
            }
            run = match run {
                Some((start, end)) if end == one.start() => Some((start, one.end())),
                Some((start, end)) => {
                    found(start, end);
                    Some((one.start(), one.end()))
                }
                None => Some((one.start(), one.end())),
            };
        }
        if let Some((start, end)) = run {
            found(start, end);
        }
        true
    }
}

/// The part of the message that says what is wrong, without the drawing of where.
fn explain(error: &regex_syntax::Error) -> String {
    let text = error.to_string();
    let last = text.lines().rev().find(|line| line.starts_with("error: ")).unwrap_or("error: not understood");
    format!("the pattern is not understood: {}", last.trim_start_matches("error: "))
}

/// Whether an endless repetition is repeated endlessly with nothing else in between.
fn catastrophic(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            (repetition.max.is_none_or(|max| max > 16) && endless(&repetition.sub)) || catastrophic(&repetition.sub)
        }
        HirKind::Capture(capture) => catastrophic(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(catastrophic),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// Whether it can be one endless repetition and nothing besides.
fn endless(hir: &Hir) -> bool {
    let optional = |part: &Hir| part.properties().minimum_len() == Some(0);
    match hir.kind() {
        HirKind::Repetition(repetition) => repetition.max.is_none() || endless(&repetition.sub),
        HirKind::Capture(capture) => endless(&capture.sub),
        HirKind::Alternation(parts) => parts.iter().any(endless),
        HirKind::Concat(parts) => parts.iter().enumerate().any(|(at, part)| {
            endless(part) && parts.iter().enumerate().all(|(other, part)| other == at || optional(part))
        }),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// Repetitions up to this are not long.
const SHORT: u32 = 16;

/// Whether a search may look far behind the match that it gives: where a long repetition has to be followed by something,
/// and there is a match without all of it. `avoidable`: this part of the pattern is such.
fn looks_ahead(hir: &Hir, avoidable: bool) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => {
            looks_ahead(&repetition.sub, avoidable || repetition.max != Some(1) || repetition.min == 0)
        }
        HirKind::Capture(capture) => looks_ahead(&capture.sub, avoidable),
        HirKind::Alternation(parts) => parts.iter().any(|part| looks_ahead(part, true)),
        HirKind::Concat(parts) => {
            let open = |(at, part): (usize, &Hir)| is_long(part) && parts.iter().skip(at + 1).any(is_needed);
            (avoidable && parts.iter().enumerate().any(open)) || parts.iter().any(|part| looks_ahead(part, avoidable))
        }
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

/// Whether a text without it is no match: also where it is a place only.
fn is_needed(hir: &Hir) -> bool {
    matches!(hir.kind(), HirKind::Look(_)) || hir.properties().minimum_len().is_none_or(|length| length > 0)
}

fn is_long(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Repetition(repetition) => repetition.max.is_none_or(|max| max > SHORT) || is_long(&repetition.sub),
        HirKind::Capture(capture) => is_long(&capture.sub),
        HirKind::Concat(parts) | HirKind::Alternation(parts) => parts.iter().any(is_long),
        HirKind::Empty | HirKind::Literal(_) | HirKind::Class(_) | HirKind::Look(_) => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn patterns_that_do_harm_are_refused() {
        for bad in [
            "(a+)+$",
            "(a*)*b",
            "(?:x+|y)+",
            "a*",
            "",
            "(",
            "a{1000}{1000}",
            "(?:a{100}){100}{100}",
            r"(\w)\1",
            "(?=a)b",
        ] {
            assert!(Pattern::new(bad, "").is_err(), "{bad}");
        }
        assert!(Pattern::new(&"a".repeat(LONGEST + 1), "").is_err());
        assert!(Pattern::new("a", "q").is_err());
    }

    fn found(pattern: &str, piece: &str) -> Vec<(usize, usize)> {
        let mut all = Vec::new();
        assert!(
            Pattern::new(pattern, "i").unwrap().find(piece, &mut Work::default(), |start, end| all.push((start, end)))
        );
        all
    }

    #[test]
    fn ordinary_patterns_are_taken() {
        for good in [r"(?:\w+\s)+end", r"PRJ-\d{4,6}", r"\bfoo.*bar\b", "(a|b)+", r"[A-Z]{2}\d+"] {
            assert!(Pattern::new(good, "gi").is_ok(), "{good}");
        }
        assert_eq!(found("prj-[0-9]+", "a PRJ-12 prj-3"), [(2, 8), (9, 14)]);
        for (pattern, far) in [
            (r"\w+", false),
            (r"\d{4}", false),
            (r"[a-z]+ [a-z]+", false),
            (r"\b\S+ly\b", false),
            (r".*[^A-Z]|[A-Z]", true),
            (r"a(?:\w*b)?", true),
            (r"[A-Z]{1,900}b|[A-Z]", true),
        ] {
            assert_eq!(Pattern::new(pattern, "").unwrap().reach > 0, far, "{pattern}");
        }
        assert_eq!(found("[a-z]", "abc de"), [(0, 3), (4, 6)], "what touches is one");
    }
}

//! A tenant's pattern: bounded in size, run on pieces of bounded length, and refused where it could only do harm.

use regex::{Regex, RegexBuilder};
use regex_syntax::hir::{Hir, HirKind};

/// The longest pattern, in characters.
const LONGEST: usize = 1024;
/// The most that a compiled pattern may take, in bytes.
const LARGEST: usize = 512 * 1024;
const DEEPEST: u32 = 24;

/// A compiled pattern.
#[derive(Debug, Clone)]
pub(crate) struct Pattern {
    regex: Regex,
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
        let regex = RegexBuilder::new(pattern)
            .nest_limit(DEEPEST)
            .case_insensitive(has('i'))
            .multi_line(has('m'))
            .dot_matches_new_line(has('s'))
            .ignore_whitespace(has('x'))
            .size_limit(LARGEST)
            .dfa_size_limit(4 * LARGEST)
            .build()
            .map_err(|_| {
                format!("the pattern needs more than {} KiB when compiled: use smaller repetitions", LARGEST / 1024)
            })?;
        Ok(Self { regex })
    }

    /// The places where the pattern matches in a piece of text. Searching on behind each match may look at the whole
    /// piece again, which is why pieces are short.
    pub(crate) fn find(&self, piece: &str) -> impl Iterator<Item = (usize, usize)> {
        self.regex.find_iter(piece).map(|one| (one.start(), one.end()))
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

    #[test]
    fn ordinary_patterns_are_taken() {
        for good in [r"(?:\w+\s)+end", r"PRJ-\d{4,6}", r"\bfoo.*bar\b", "(a|b)+", r"[A-Z]{2}\d+"] {
            assert!(Pattern::new(good, "gi").is_ok(), "{good}");
        }
        assert_eq!(
            Pattern::new("prj-[0-9]+", "i").unwrap().find("a PRJ-12 prj-3").collect::<Vec<_>>(),
            [(2, 8), (9, 14)]
        );
    }
}

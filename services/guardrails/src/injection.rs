//! Prompt injection by heuristics: signs of chat templates, and words that stand together as they do in injections.
//!
//! Not more than that: a text that asks for something unwanted in ordinary words passes. Each rule counts once with
//! its weight, and a text is taken for an injection when the sum reaches the threshold.

mod rules;

use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use crate::kind::Kind;
use crate::lexicon::Classes;
use crate::lexicon::class::{AI, CODE, INJECTION, LOOSE, PERSONA, PHRASE, PROMPT, SEND, SYSTEM};
use crate::scan::{Hit, Match};
use rules::{RULES, Rule, SIGNS};

/// What reaches this counts, unless a policy says otherwise.
pub(crate) const THRESHOLD: f32 = 0.9;

/// How much a text looks like an injection, and where.
#[derive(Debug, Default)]
pub(crate) struct Judgement {
    pub(crate) score: f32,
    pub(crate) matches: Vec<Match>,
}

impl Judgement {
    fn count(&mut self, start: usize, end: usize, rule: &'static str, weight: f32) {
        if !self.matches.iter().any(|one| one.rule == rule) {
            self.score += weight;
        }
        self.matches.push(Match { start, end, kind: Kind::Injection, rule });
    }
}

const SHORTEST_SIGN: usize = 6;
/// Words with which signs are found.
const SIGNALS: Classes = SYSTEM | PROMPT | PHRASE | AI | SEND | CODE | LOOSE;
/// More signs than this in one text tell nothing new.
const MOST_MATCHES: usize = 64;

pub(crate) fn judge(text: &str, hits: &[Hit]) -> Judgement {
    let mut judgement = Judgement::default();
    // Every sign has one of these characters, or a word that was noted.
    let signs = hits.iter().any(|hit| hit.classes & SIGNALS != 0)
        || (text.len() >= SHORTEST_SIGN
            && (memchr::memchr3(b'<', b'[', b'#', text.as_bytes()).is_some()
                || memchr::memchr(b'{', text.as_bytes()).is_some()));
    if let Some(signs) = AUTOMATON.as_ref().filter(|_| signs) {
        for found in signs.find_iter(text) {
            let Some((_, rule, weight)) = SIGNS.get(found.pattern().as_usize()) else { continue };
            judgement.count(found.start(), found.end(), rule, *weight);
            if judgement.matches.len() > MOST_MATCHES {
                return judgement;
            }
        }
    }
    for (first, hit) in hits.iter().enumerate() {
        let mut left = beginning(hit.classes);
        while left != 0 {
            if let Some(rule) = RULES.get(left.trailing_zeros() as usize)
                && let Some((start, end)) = stands(text, hits, first, rule)
            {
                judgement.count(start, end, rule.name, rule.weight);
            }
            left &= left - 1;
        }
        if judgement.matches.len() > MOST_MATCHES {
            break;
        }
    }
    judgement
}

/// The rules that begin with a word of some classes: a bit for each.
fn beginning(classes: Classes) -> u128 {
    let mut rules = 0;
    let mut left = classes & INJECTION;
    while left != 0 {
        rules |= BEGINNINGS.get(left.trailing_zeros() as usize).copied().unwrap_or_default();
        left &= left - 1;
    }
    rules
}

/// For each class, the rules that begin with it.
static BEGINNINGS: LazyLock<[u128; 64]> = LazyLock::new(|| {
    let begins = |class: usize, rule: &Rule| rule.steps.first().is_some_and(|(classes, _)| classes >> class & 1 == 1);
    let rules = |class: usize| {
        let all = RULES.iter().enumerate().filter(|(_, rule)| begins(class, rule));
        all.fold(0, |all, (at, _)| all | 1 << at)
    };
    std::array::from_fn(rules)
});

static AUTOMATON: LazyLock<Option<AhoCorasick>> = LazyLock::new(|| {
    AhoCorasick::builder().ascii_case_insensitive(true).build(SIGNS.iter().map(|(sign, ..)| sign)).ok()
});

/// Whether the words of a rule stand one behind the other from this hit on, each as near as the rule wants it.
fn stands(text: &str, hits: &[Hit], first: usize, rule: &Rule) -> Option<(usize, usize)> {
    let begin = hits.get(first)?;
    let mut steps = rule.steps.iter();
    let (classes, _) = steps.next()?;
    if begin.classes & classes == 0 || !shouted(text, begin, *classes) {
        return None;
    }
    let mut at = first;
    let mut last = begin;
    for (classes, gap) in steps {
        let limit = last.word + gap + 1;
        let next = hits.iter().enumerate().skip(at + 1).take_while(|(_, hit)| hit.word <= limit);
        let (found, hit) =
            next.into_iter().find(|(_, hit)| hit.classes & classes != 0 && shouted(text, hit, *classes))?;
        at = found;
        last = hit;
    }
    Some((begin.start, last.end))
}

/// Personas that are also names count in capitals only.
fn shouted(text: &str, hit: &Hit, classes: Classes) -> bool {
    if classes & PERSONA == 0 || hit.classes & !PERSONA & classes != 0 {
        return true;
    }
    let word = text.get(hit.start..hit.end).unwrap_or_default();
    word.len() > 4 || word.bytes().all(|byte| byte.is_ascii_uppercase())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_rule_has_its_bit() {
        assert!(RULES.len() <= u128::BITS as usize);
    }
}

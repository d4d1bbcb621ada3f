//! Measuring a policy against labelled texts: precision, recall and F1 per type.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::guard::{Guard, Side};
use crate::kind::Kind;

/// A labelled text: one line of a corpus.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Sample {
    pub text: String,
    #[serde(default)]
    pub spans: Vec<Span>,
    /// 1: an injection, 0: none.
    #[serde(default)]
    pub label: Option<u8>,
}

/// What a text has in it. Places are counted in characters.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
pub struct Span {
    pub start: usize,
    pub end: usize,
    #[serde(rename = "type")]
    pub kind: String,
}

/// A line that is no sample.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {message}")]
pub struct BadLine {
    pub line: usize,
    pub message: String,
}

/// Right, wrong and missed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    pub right: usize,
    pub wrong: usize,
    pub missed: usize,
}

impl Counts {
    pub fn precision(&self) -> f64 {
        ratio(self.right, self.right + self.wrong)
    }

    pub fn recall(&self) -> f64 {
        ratio(self.right, self.right + self.missed)
    }

    pub fn f1(&self) -> f64 {
        ratio(2 * self.right, 2 * self.right + self.wrong + self.missed)
    }
}

fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// How a policy did on a corpus.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize)]
pub struct Score {
    /// By type, in the words of policies. Types that no check knows have what was missed only.
    pub types: BTreeMap<String, Counts>,
    /// All types that checks know, together.
    pub together: Counts,
    /// Texts with a label: those that the injection check found, found wrongly and missed.
    pub labels: Counts,
    /// Texts with the label 0.
    pub benign: usize,
    /// Findings of types that the corpus labels nowhere: neither right nor wrong.
    pub unlabelled: usize,
}

impl Score {
    /// Of the benign texts, the share that was taken for injections.
    pub fn false_positive_rate(&self) -> f64 {
        if self.benign == 0 { 0.0 } else { ratio(self.labels.wrong, self.benign) }
    }
}

/// Reads a corpus: a JSON object a line, blank lines left out.
pub fn read(text: &str) -> Result<Vec<Sample>, BadLine> {
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines
        .map(|(at, line)| {
            let bad = |message: String| BadLine { line: at + 1, message };
            let sample: Sample = serde_json::from_str(line).map_err(|error| bad(error.to_string()))?;
            let length = sample.text.chars().count();
            match sample.spans.iter().find(|span| span.start >= span.end || span.end > length) {
                Some(span) => Err(bad(format!("the span {} to {} is not in the text", span.start, span.end))),
                None => Ok(sample),
            }
        })
        .collect()
}

/// Measures. A finding is right when it shares at least half of its characters with a span of its type, and the span
/// half of its own with it.
pub fn score(guard: &Guard, side: Side, samples: &[Sample]) -> Score {
    let mut score = Score::default();
    let labelled: Vec<&str> =
        samples.iter().flat_map(|sample| &sample.spans).map(|span| canonical(&span.kind)).collect();
    for sample in samples {
        let places: Vec<usize> = sample.text.char_indices().map(|(at, _)| at).collect();
        let character = |byte: usize| places.partition_point(|place| *place < byte);
        let mut found: Vec<(usize, usize, Kind)> = Vec::new();
        let mut injection = false;
        for place in guard.places(side, &sample.text) {
            injection |= place.kind == Kind::Injection;
            let one = (character(place.start), character(place.end), place.kind);
            if !found.contains(&one) {
                found.push(one);
            }
        }
        count_spans(&mut score, sample, &found, &labelled);
        if let Some(label) = sample.label {
            score.benign += usize::from(label == 0);
            score.labels.right += usize::from(injection && label != 0);
            score.labels.wrong += usize::from(injection && label == 0);
            score.labels.missed += usize::from(!injection && label != 0);
        }
    }
    for (name, counts) in &score.types {
        if Kind::ALL.iter().any(|kind| kind.name() == name) {
            score.together.right += counts.right;
            score.together.wrong += counts.wrong;
            score.together.missed += counts.missed;
        }
    }
    score
}

fn count_spans(score: &mut Score, sample: &Sample, found: &[(usize, usize, Kind)], labelled: &[&str]) {
    let mut used = vec![false; sample.spans.len()];
    for (start, end, kind) in found {
        let name = kind.name();
        if !labelled.contains(&name) {
            score.unlabelled += 1;
            continue;
        }
        let fits = |span: &Span| {
            let shared = span.end.min(*end).saturating_sub(span.start.max(*start));
            2 * shared >= span.end - span.start && 2 * shared >= end - start && canonical(&span.kind) == name
        };
        let hit = sample.spans.iter().zip(&mut used).find(|(span, used)| !**used && fits(span));
        let counts = score.types.entry(name.to_owned()).or_default();
        match hit {
            Some((_, used)) => {
                *used = true;
                counts.right += 1;
            }
            None => counts.wrong += 1,
        }
    }
    for (span, _) in sample.spans.iter().zip(&used).filter(|(_, used)| !**used) {
        score.types.entry(canonical(&span.kind).to_owned()).or_default().missed += 1;
    }
}

/// A type in our words. Corpora name them in many ways; what is unknown keeps its name.
fn canonical(name: &str) -> &str {
    const NAMES: &[(&str, &str)] = &[
        ("EMAIL_ADDRESS", "email"),
        ("EMAIL", "email"),
        ("CREDIT_CARD", "card"),
        ("CREDIT_CARD_NUMBER", "card"),
        ("CREDITCARDNUMBER", "card"),
        ("CARD", "card"),
        ("US_SSN", "ssn"),
        ("SSN", "ssn"),
        ("US_ITIN", "itin"),
        ("ITIN", "itin"),
        ("IBAN_CODE", "iban"),
        ("IBAN", "iban"),
        ("PHONE_NUMBER", "phone"),
        ("PHONE", "phone"),
        ("PHONENUMBER", "phone"),
        ("TELEPHONENUM", "phone"),
        ("IP_ADDRESS", "ip"),
        ("IP", "ip"),
        ("IPV4", "ip"),
        ("IPV6", "ip"),
        ("MAC_ADDRESS", "mac"),
        ("MAC", "mac"),
        ("CRYPTO", "wallet"),
        ("BITCOINADDRESS", "wallet"),
        ("API_KEY", "api-key"),
        ("PASSWORD", "password"),
        ("URL", "url"),
        ("NATIONAL_ID", "national-id"),
    ];
    NAMES.iter().find(|(known, _)| known.eq_ignore_ascii_case(name)).map_or(name, |(_, ours)| ours)
}

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

/// A type in our words. Corpora name them in many ways, with and without case, `_`, `-` and spaces; what is unknown keeps
/// its name.
fn canonical(name: &str) -> &str {
    const NAMES: &[(&str, &[&str])] = &[
        ("email", &["email", "emailaddress", "mail"]),
        ("card", &["card", "cardnumber", "creditcard", "creditcardnumber", "creditdebitcard", "paymentcard"]),
        ("ssn", &["ssn", "usssn", "socialsecuritynumber", "socialnumber", "socialnum", "socialsecurity"]),
        ("itin", &["itin", "usitin"]),
        ("iban", &["iban", "ibancode", "ibannumber"]),
        ("phone", &["phone", "phonenumber", "telephone", "telephonenumber", "telephonenum", "mobile", "mobilenumber"]),
        ("ip", &["ip", "ipaddress", "ipv4", "ipv6", "ipv4address", "ipv6address"]),
        ("mac", &["mac", "macaddress"]),
        ("wallet", &["wallet", "crypto", "cryptoaddress", "bitcoinaddress", "ethereumaddress", "litecoinaddress"]),
        ("api-key", &["apikey"]),
        ("password", &["password"]),
        ("url", &["url"]),
        ("national-id", &["nationalid", "nationalidnumber"]),
    ];
    let bare: String = name.chars().filter(char::is_ascii_alphanumeric).map(|one| one.to_ascii_lowercase()).collect();
    NAMES.iter().find(|(_, names)| names.contains(&bare.as_str())).map_or(name, |(ours, _)| ours)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_are_known_however_a_corpus_writes_them() {
        for (written, ours) in [
            ("CREDITCARD", "card"),
            ("credit-card", "card"),
            ("Credit Card Number", "card"),
            ("SOCIAL_SECURITY_NUMBER", "ssn"),
            ("US-SSN", "ssn"),
            ("EMAIL_ADDRESS", "email"),
            ("Phone-Number", "phone"),
            ("IPv6", "ip"),
            ("api_key", "api-key"),
            ("PERSON", "PERSON"),
        ] {
            assert_eq!(canonical(written), ours);
        }
    }
}

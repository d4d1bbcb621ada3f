//! What is shown: one row for each claim, with what was tried, what is allowed, what was seen. The table goes to
//! stdout; what is going on meanwhile, and each thing that should not have been seen, to stderr.

use std::io::Write;

/// Findings that are printed; more of the same say nothing new.
const SHOWN: usize = 10;

pub struct Row {
    name: String,
    tried: String,
    allowed: String,
    seen: String,
    verdict: Verdict,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Holds,
    Broken,
    /// A figure that is not judged.
    Shown,
}

impl Row {
    /// Nothing like what `found` describes may have been seen.
    pub fn none(name: &str, tried: impl Into<String>, found: &[String]) -> Self {
        for one in found.iter().take(SHOWN) {
            say(&format!("{name}: {one}"));
        }
        Self::judge(name, tried, "0".to_owned(), found.len().to_string(), found.is_empty())
    }

    pub fn at_most(name: &str, tried: impl Into<String>, most: f64, seen: f64, unit: &str) -> Self {
        Self::judge(name, tried, format!("{} {unit}", number(most)), format!("{} {unit}", number(seen)), seen <= most)
    }

    #[allow(dead_code, reason = "for rows to come")]
    pub fn at_least(name: &str, tried: impl Into<String>, least: f64, seen: f64, unit: &str) -> Self {
        let allowed = format!("{} {unit} or more", number(least));
        Self::judge(name, tried, allowed, format!("{} {unit}", number(seen)), seen >= least)
    }

    pub fn shown(name: &str, tried: impl Into<String>, seen: impl Into<String>) -> Self {
        let (name, tried, seen) = (name.to_owned(), tried.into(), seen.into());
        Self { name, tried, allowed: String::new(), seen, verdict: Verdict::Shown }
    }

    /// A time is judged only where the machine has nothing else to do: elsewhere it is shown.
    pub fn judged(mut self, judged: bool) -> Self {
        if !judged {
            self.verdict = Verdict::Shown;
        }
        self
    }

    pub fn is_broken(&self) -> bool {
        self.verdict == Verdict::Broken
    }

    fn judge(name: &str, tried: impl Into<String>, allowed: String, seen: String, holds: bool) -> Self {
        let verdict = if holds { Verdict::Holds } else { Verdict::Broken };
        Self { name: name.to_owned(), tried: tried.into(), allowed, seen, verdict }
    }

    fn cells(&self) -> [&str; 5] {
        let verdict = match self.verdict {
            Verdict::Holds => "holds",
            Verdict::Broken => "BROKEN",
            Verdict::Shown => "shown",
        };
        [&self.name, &self.tried, &self.allowed, &self.seen, verdict]
    }
}

/// As a table that can stand in a page of the documentation.
pub fn print(rows: &[Row]) {
    let head = ["name", "tried", "allowed", "seen", "verdict"];
    let lines: Vec<[&str; 5]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let widths: [usize; 5] =
        std::array::from_fn(|column| lines.iter().map(|line| line[column].chars().count()).max().unwrap_or(0));
    for (index, line) in lines.iter().enumerate() {
        let padded: Vec<String> = line.iter().zip(widths).map(|(cell, width)| format!("{cell:<width$}")).collect();
        print_line(&format!("| {} |", padded.join(" | ")));
        if index == 0 {
            print_line(&format!("| {} |", widths.map(|width| "-".repeat(width)).join(" | ")));
        }
    }
}

pub fn print_line(line: &str) {
    let _ = writeln!(std::io::stdout(), "{line}");
}

/// A line for who watches; nobody needs to.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// With thousands apart: these are counts.
pub fn grouped(count: usize) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (index, digit) in digits.chars().enumerate() {
        if index > 0 && (digits.len() - index).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 || value.fract() == 0.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

//! What is shown: one row per figure, the demand beside it, and whether it is met. The table is data and goes to
//! stdout; what is going on meanwhile goes to stderr.

use std::io::Write;
use std::path::Path;

use serde_json::{Value, json};

use crate::stats::Series;

pub struct Row {
    name: &'static str,
    what: String,
    unit: &'static str,
    figures: Series,
    demand: Option<Demand>,
}

#[derive(Debug, Clone, Copy)]
pub enum Demand {
    AtMost(f64),
    AtLeast(f64),
}

impl Row {
    /// A figure that is there to explain another.
    pub fn shown(name: &'static str, what: impl Into<String>, unit: &'static str, figures: Series) -> Self {
        Self { name, what: what.into(), unit, figures, demand: None }
    }

    pub fn demanded(mut self, demand: Demand) -> Self {
        self.demand = Some(demand);
        self
    }

    fn verdict(&self) -> &'static str {
        match self.demand {
            None => "",
            Some(Demand::AtMost(most)) if self.figures.median() <= most => "pass",
            Some(Demand::AtLeast(least)) if self.figures.median() >= least => "pass",
            Some(_) => "below",
        }
    }

    fn cells(&self) -> [String; 6] {
        let demand = match self.demand {
            None => String::new(),
            Some(Demand::AtMost(most)) => format!("<= {}", number(most)),
            Some(Demand::AtLeast(least)) => format!(">= {}", number(least)),
        };
        [
            self.name.to_owned(),
            self.what.clone(),
            format!("{} {}", number(self.figures.median()), self.unit),
            format!("{} - {}", number(self.figures.low()), number(self.figures.high())),
            demand,
            self.verdict().to_owned(),
        ]
    }

    fn to_json(&self) -> Value {
        let (most, least) = match self.demand {
            None => (None, None),
            Some(Demand::AtMost(most)) => (Some(most), None),
            Some(Demand::AtLeast(least)) => (None, Some(least)),
        };
        json!({
            "name": self.name,
            "what": self.what,
            "unit": self.unit,
            "median": self.figures.median(),
            "low": self.figures.low(),
            "high": self.figures.high(),
            "atMost": most,
            "atLeast": least,
            "verdict": self.verdict(),
        })
    }
}

pub fn print(rows: &[Row]) -> std::io::Result<()> {
    let head = ["name", "what", "median", "range", "demanded", "verdict"].map(str::to_owned);
    let lines: Vec<[String; 6]> = std::iter::once(head).chain(rows.iter().map(Row::cells)).collect();
    let width = |column: usize| lines.iter().filter_map(|line| line.get(column)).map(|cell| cell.chars().count()).max();
    let widths: Vec<usize> = (0..6).map(|column| width(column).unwrap_or(0)).collect();
    let mut out = std::io::stdout().lock();
    for (index, line) in lines.iter().enumerate() {
        let padded = line.iter().zip(&widths).map(|(cell, width)| format!("{cell:<width$}"));
        writeln!(out, "| {} |", padded.collect::<Vec<_>>().join(" | "))?;
        if index == 0 {
            let rules = widths.iter().map(|width| "-".repeat(*width));
            writeln!(out, "| {} |", rules.collect::<Vec<_>>().join(" | "))?;
        }
    }
    Ok(())
}

pub fn write_json(rows: &[Row], path: &Path) -> anyhow::Result<()> {
    let rows: Vec<Value> = rows.iter().map(Row::to_json).collect();
    std::fs::write(path, serde_json::to_vec_pretty(&json!({ "rows": rows }))?)?;
    Ok(())
}

/// A line for who watches; nobody needs to.
pub fn say(line: &str) {
    let _ = writeln!(std::io::stderr(), "{line}");
}

/// Three digits are all that a noisy machine can give.
fn number(value: f64) -> String {
    match value.abs() {
        size if size >= 100.0 => format!("{value:.0}"),
        size if size >= 10.0 => format!("{value:.1}"),
        _ => format!("{value:.2}"),
    }
}

//! What is wrong with a definition, shown where it is: the line, a mark under it, and what to do.

use anyhow::Result;
use pleat_pipelines::{Fault, Faults};
use reqwest::{RequestBuilder, StatusCode};
use serde::Deserialize;
use serde_json::Value;

use crate::client::{Client, checked};
use crate::problem::Problem;

/// A fault as the server tells it.
#[derive(Deserialize)]
struct Told {
    line: usize,
    column: usize,
    message: String,
    hint: String,
}

impl From<&Fault> for Told {
    fn from(fault: &Fault) -> Self {
        let place = |number: u32| usize::try_from(number).unwrap_or(usize::MAX);
        let (line, column) = (place(fault.position.line), place(fault.position.column));
        Self { line, column, message: fault.message.clone(), hint: fault.hint.clone() }
    }
}

/// Sends, and turns the server's list of faults into one that shows the text. `name` is what they are faults of.
pub(super) async fn answer(client: &Client, request: RequestBuilder, name: &str, text: Option<&str>) -> Result<Value> {
    let response = client.send(request).await?;
    if response.status() != StatusCode::UNPROCESSABLE_ENTITY {
        let body = checked(response).await?;
        return Ok(serde_json::from_str(&body).map_err(|source| Problem::Odd { url: client.url(), source })?);
    }
    let answer: Value = serde_json::from_str(&response.text().await?).unwrap_or_default();
    let details = answer.pointer("/error/details").cloned().unwrap_or_default();
    let faults = details.get("faults").cloned().unwrap_or_default();
    let told: Vec<Told> = serde_json::from_value(faults.clone()).unwrap_or_default();
    let more = details.get("more").and_then(Value::as_u64).unwrap_or(0);
    Err(Problem::Faulty { message: shown(name, text, &told, more), faults }.into())
}

/// The same for what was found without a server.
pub(super) fn found(name: &str, text: &str, faults: &Faults) -> Problem {
    let told: Vec<Told> = faults.faults.iter().map(Told::from).collect();
    let more = u64::try_from(faults.more).unwrap_or(u64::MAX);
    let message = shown(name, Some(text), &told, more);
    Problem::Faulty { message, faults: serde_json::to_value(&faults.faults).unwrap_or_default() }
}

fn shown(name: &str, text: Option<&str>, faults: &[Told], more: u64) -> String {
    let plain = name.trim_matches('`');
    let number = u64::try_from(faults.len()).unwrap_or(u64::MAX).saturating_add(more);
    let mut shown = format!("{name} has {number} fault{}", if number == 1 { "" } else { "s" });
    for fault in faults {
        shown.push_str(&format!("\n{plain}:{}:{}: {}", fault.line, fault.column, fault.message));
        if let Some(line) = text.and_then(|text| text.lines().nth(fault.line.saturating_sub(1))) {
            let line: String = line.chars().take(160).collect::<String>().replace('\t', " ");
            let mark = " ".repeat(fault.column.saturating_sub(1).min(160));
            shown.push_str(&format!("\n  {line}\n  {mark}^"));
        }
        shown.push_str(&format!("\n  hint: {}", fault.hint));
    }
    if more > 0 {
        shown.push_str(&format!("\nand {more} more"));
    }
    shown
}

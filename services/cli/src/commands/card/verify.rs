//! `pleat card verify`: is this card what it should be? Its fields, its signatures, and whether its doors answer.
//!
//! Anybody's card can be checked. No key of ours is sent along, no redirect is followed, and keys are believed only from
//! the card's own origin, unless the user says otherwise.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use anyhow::Result;
use clap::Args;
use futures::StreamExt;
use pleat_a2a::card::schema;
use pleat_a2a::card::signing::{self, Signature};
use pleat_engine::PublicKeys;
use reqwest::{Method, RequestBuilder, Url};
use serde_json::{Map, Value, json};

use super::interfaces;
use crate::client::Client;
use crate::commands::Context;
use crate::output::Table;
use crate::problem::Problem;
use crate::target::Target;

const EXAMPLES: &str = "\
Examples:
  pleat card verify https://agent.example.com
  pleat card verify http://127.0.0.1:8787/t/demo/.well-known/agent-card.json --json

Exit codes: 0 everything holds, 1 something does not.";

/// A card, or a set of keys: nothing that is larger is one.
const MOST: usize = 4 << 20;
/// How many faults of a card are said.
const SAID: usize = 5;

/// Check an agent's card: its fields, its signatures, and that its doors answer
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct VerifyArgs {
    /// The agent's URL, or that of its card
    #[arg(value_name = "URL")]
    agent: String,
    /// Believe the keys at this URL, wherever the card says they are
    #[arg(long, value_name = "URL")]
    keys: Option<String>,
}

/// What was found about one thing.
pub struct Finding {
    check: String,
    verdict: Verdict,
    found: String,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Verdict {
    Ok,
    Fail,
    Skipped,
}

impl Finding {
    pub fn ok(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self { check: check.into(), verdict: Verdict::Ok, found: found.into() }
    }

    pub fn fail(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self { check: check.into(), verdict: Verdict::Fail, found: found.into() }
    }

    pub fn skipped(check: impl Into<String>, found: impl Into<String>) -> Self {
        Self { check: check.into(), verdict: Verdict::Skipped, found: found.into() }
    }

    const fn verdict(&self) -> &'static str {
        match self.verdict {
            Verdict::Ok => "ok",
            Verdict::Fail => "fail",
            Verdict::Skipped => "skipped",
        }
    }
}

pub async fn run(args: &VerifyArgs, context: &Context<'_>) -> Result<()> {
    let url = card_url(&args.agent)?;
    let keys = args.keys.as_deref().map(parse_url).transpose()?;
    let client = Client::new(Target { url: url.clone(), key: None, tenant: None, key_file: None })?;
    let card = fetch_card(&client, &url).await?;
    let mut findings = vec![fields(&card), signatures(&client, &url, &card, keys).await];
    findings.extend(interfaces::check(&client, &card).await);
    show(&url, &findings, context)?;
    let failed = findings.iter().filter(|finding| finding.verdict == Verdict::Fail).count();
    if failed > 0 {
        let hint = "what says `fail` is the agent's to mend; do not trust it until then";
        return Err(Problem::failed(format!("{failed} of {} checks failed", findings.len()), hint).into());
    }
    Ok(())
}

fn card_url(text: &str) -> Result<Url, Problem> {
    let mut url = parse_url(text)?;
    if !url.path().ends_with(".json")
        && let Ok(mut segments) = url.path_segments_mut()
    {
        segments.pop_if_empty().extend([".well-known", "agent-card.json"]);
    }
    Ok(url)
}

fn parse_url(text: &str) -> Result<Url, Problem> {
    let parsed = Url::parse(text).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
    parsed.ok_or_else(|| {
        let hint = "give a whole URL, for example https://agent.example.com";
        Problem::usage(format!("`{text}` is no URL of an agent"), hint)
    })
}

async fn fetch_card(client: &Client, url: &Url) -> Result<Map<String, Value>> {
    let request = client.request(Method::GET, url.clone()).header("a2a-version", "1.0");
    match fetch(client, request).await {
        Ok(Value::Object(card)) => Ok(card),
        Ok(_) => Err(Problem::failed(format!("there is no card at {url}"), "check the URL").into()),
        Err(why) => Err(Problem::failed(format!("no card could be read at {url}: {why}"), "check the URL").into()),
    }
}

/// JSON of a good answer, or in a few words why there is none.
pub async fn fetch(client: &Client, request: RequestBuilder) -> Result<Value, String> {
    let (status, body) = exchange(client, request).await?;
    if status != 200 {
        return Err(format!("it answered {status}"));
    }
    serde_json::from_slice(&body).map_err(|_| "it is not JSON".to_owned())
}

/// Whatever comes back, bounded in size and time.
pub async fn exchange(client: &Client, request: RequestBuilder) -> Result<(u16, Vec<u8>), String> {
    let request = request.timeout(std::time::Duration::from_secs(15));
    let response = client.send(request).await.map_err(|error| error.to_string())?;
    let status = response.status().as_u16();
    let mut body = Vec::new();
    let mut chunks = response.bytes_stream();
    while let Some(chunk) = chunks.next().await {
        body.extend_from_slice(&chunk.map_err(|_| "the answer broke off".to_owned())?);
        if body.len() > MOST {
            return Err(format!("the answer is larger than {MOST} bytes"));
        }
    }
    Ok((status, body))
}

fn fields(card: &Map<String, Value>) -> Finding {
    let faults = schema::check(&Value::Object(card.clone()));
    if faults.is_empty() {
        let count = |name: &str| card.get(name).and_then(Value::as_array).map_or(0, Vec::len);
        let found = format!("A2A 1.0, {} skill(s), {} interface(s)", count("skills"), count("supportedInterfaces"));
        return Finding::ok("fields", found);
    }
    let place = |pointer: &str| if pointer.is_empty() { "the card".to_owned() } else { pointer.to_owned() };
    let mut said: Vec<String> =
        faults.iter().take(SAID).map(|fault| format!("{} {}", place(&fault.pointer), fault.message)).collect();
    if faults.len() > SAID {
        said.push(format!("and {} more", faults.len() - SAID));
    }
    Finding::fail("fields", said.join("; "))
}

/// One good signature is enough.
async fn signatures(client: &Client, url: &Url, card: &Map<String, Value>, given: Option<Url>) -> Finding {
    let entries = card.get("signatures").and_then(Value::as_array).map(Vec::as_slice).unwrap_or_default();
    if entries.is_empty() {
        return Finding::fail("signature", "the card is not signed");
    }
    let payloads = signing::payloads(card);
    let mut sets: HashMap<Url, Result<PublicKeys, String>> = HashMap::new();
    let mut why = String::new();
    for entry in entries {
        let (signature, source) = match source_of(entry, url, given.as_ref()) {
            Ok(found) => found,
            Err(reason) => {
                why = reason;
                continue;
            }
        };
        let keys = match sets.entry(source) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(unknown) => {
                let fetched = fetch_keys(client, unknown.key()).await;
                unknown.insert(fetched)
            }
        };
        match keys.as_ref().map_err(String::clone).and_then(|keys| judge(&signature, keys, &payloads)) {
            Ok(found) => return Finding::ok("signature", found),
            Err(reason) => why = reason,
        }
    }
    Finding::fail("signature", why)
}

/// The signature, and where its keys may be taken from.
fn source_of(entry: &Value, card: &Url, given: Option<&Url>) -> Result<(Signature, Url), String> {
    let signature = Signature::parse(entry).map_err(|error| format!("a signature cannot be read: {error}"))?;
    if let Some(given) = given {
        return Ok((signature, given.clone()));
    }
    let named = signature.key_set_url.as_deref().ok_or("the signature does not say where its keys are; pass --keys")?;
    let source = Url::parse(named).map_err(|_| "the signature's `jku` is no URL".to_owned())?;
    if source.origin() != card.origin() {
        return Err(format!("its keys are at another origin, {source}; pass --keys {source} if you trust that one"));
    }
    Ok((signature, source))
}

async fn fetch_keys(client: &Client, source: &Url) -> Result<PublicKeys, String> {
    let unusable = |why: String| format!("the keys at {source} cannot be used: {why}");
    let request = client.request(Method::GET, source.clone());
    let (status, body) = exchange(client, request).await.map_err(unusable)?;
    if status != 200 {
        return Err(unusable(format!("it answered {status}")));
    }
    PublicKeys::parse(&body).map_err(|error| unusable(error.to_string()))
}

fn judge(signature: &Signature, keys: &PublicKeys, payloads: &[(signing::Coverage, String)]) -> Result<String, String> {
    if !keys.has(&signature.key_id) {
        return Err(format!("its key `{}` is not published (any more)", signature.key_id));
    }
    let fits = |payload: &str| {
        let input = signature.input(payload);
        keys.check(&signature.key_id, &signature.algorithm, input.as_bytes(), &signature.signature)
    };
    let good = payloads.iter().find(|(_, payload)| fits(payload));
    let (coverage, _) = good.ok_or("no signature fits: the card was changed after it was signed")?;
    Ok(format!("{} by key {}, over {}", signature.algorithm, signature.key_id, coverage.as_str()))
}

fn show(url: &Url, findings: &[Finding], context: &Context<'_>) -> std::io::Result<()> {
    if context.output.json() {
        let rows = findings
            .iter()
            .map(|finding| json!({ "check": finding.check, "verdict": finding.verdict(), "found": finding.found }));
        return context.output.document(&json!({ "card": url.as_str(), "checks": rows.collect::<Vec<_>>() }));
    }
    context.output.note(url.as_str());
    let mut table = Table::new(&["CHECK", "", "FOUND"]);
    for finding in findings {
        table.row([finding.check.clone(), finding.verdict().to_owned(), finding.found.clone()]);
    }
    context.output.line(&table.render())
}

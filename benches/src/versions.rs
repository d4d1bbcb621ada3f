//! The same send in the words of each version of the protocol, on the whole path.

use serde_json::{Value, json};

use crate::http::Connection;
use crate::load::{self, Plan};
use crate::options::Options;
use crate::platform::{Platform, echo};
use crate::stats::Series;
use crate::table::{Demand, Row, say};

const CONNECTIONS: usize = 256;
const NAMES: [&str; 3] = ["versions.v01", "versions.v03", "versions.v1"];
const WHAT: [&str; 3] = ["tasks/send (0.1)", "message/send (0.3)", "SendMessage (1.0)"];

pub async fn measure(platform: &Platform, options: &Options) -> anyhow::Result<Vec<Row>> {
    let mut connection = Connection::open(platform.address).await?;
    platform.deploy(&mut connection, "version-echo", "echo.wasm", &echo()?).await?;
    let requests = requests().map(|body| platform.rpc(&body.to_string()));
    for request in &requests {
        let answer = connection.exchange(request).await?;
        let text = answer.text();
        anyhow::ensure!(answer.status == 200 && text.contains("The quick brown fox"), "echo: {text}");
    }
    let (mut rates, mut spread) = ([Series::default(), Series::default(), Series::default()], Series::default());
    for round in 0..options.rounds() {
        say(&format!("versions, round {} of {}", round + 1, options.rounds()));
        let mut now = Vec::new();
        for (request, rates) in requests.iter().zip(&mut rates) {
            let plan = Plan {
                address: platform.address,
                connections: CONNECTIONS,
                warm_up: options.warm_up(),
                lasting: options.round(),
            };
            let rate = load::run(&plan, request).await?.rate;
            rates.push(rate);
            now.push(rate);
        }
        let (slowest, fastest) =
            (now.iter().copied().fold(f64::MAX, f64::min), now.iter().copied().fold(0.0, f64::max));
        spread.push(slowest / fastest);
    }
    let rows = NAMES.into_iter().zip(WHAT).zip(rates).map(|((name, what), rates)| Row::shown(name, what, "/s", rates));
    let spread = Row::shown("versions.spread", "the slowest of the three against the fastest", "×", spread);
    Ok(rows.chain([spread.demanded(Demand::AtLeast(0.85))]).collect())
}

/// About 0.4 kB of input in one data part, and in each version the same.
fn requests() -> [Value; 3] {
    let text = "The quick brown fox jumps over the lazy dog and comes back. ".repeat(6);
    let data = json!({ "text": text.trim_end(), "numbers": [1, 2, 3] });
    let request = |method: &str, message: Value| {
        json!({ "jsonrpc": "2.0", "id": 1, "method": method,
                "params": { "message": message, "metadata": { "skill": "version-echo" } } })
    };
    let tagged = |tag: &str| json!({ "messageId": "m-1", "role": "user", "parts": [{ tag: "data", "data": data }] });
    [
        request("tasks/send", tagged("type")),
        request("message/send", tagged("kind")),
        request("SendMessage", json!({ "messageId": "m-1", "role": "ROLE_USER", "parts": [{ "data": data }] })),
    ]
}

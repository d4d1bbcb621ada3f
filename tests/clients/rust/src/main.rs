//! The official Rust client: every step that it can take, one line of JSON for each, as the scripts in Python and
//! JavaScript beside it do.
//!
//! usage: pleat-client URL JSONRPC|HTTP+JSON

mod agent;
mod steps;

use agent::Agent;
use anyhow::Context;

#[tokio::main(flavor = "current_thread")]
async fn main() -> anyhow::Result<()> {
    let mut arguments = std::env::args().skip(1);
    let usage = "usage: pleat-client URL JSONRPC|HTTP+JSON";
    let (url, binding) = (arguments.next().context(usage)?, arguments.next().context(usage)?);
    let (agent, card) = Agent::discover(&url, &binding).await?;
    steps::discover(&card);
    steps::tasks(&agent).await?;
    steps::turns(&agent).await?;
    steps::push(&agent).await?;
    steps::extended(&agent).await
}

//! What a caller may use, as `pleat keys create` and `pleat issuers add` both take it.

use clap::Args;
use serde_json::{Map, Value, json};

/// Within what the tenant may use.
#[derive(Args)]
pub struct LimitArgs {
    /// Requests per minute at most
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    rate: Option<u32>,
    /// Tasks running at once
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    concurrent: Option<u32>,
    /// CPU time per minute, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    cpu_per_minute: Option<u32>,
    /// CPU time per day, in milliseconds
    #[arg(long, value_name = "MS", value_parser = clap::value_parser!(u32).range(1..=1_000_000_000))]
    cpu_per_day: Option<u32>,
    /// Bytes stored per day: inputs, results and uploads together
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..=1_000_000_000_000_000))]
    bytes_per_day: Option<u64>,
}

impl LimitArgs {
    /// Adds those that were given to what is sent.
    pub fn put(&self, body: &mut Map<String, Value>) {
        let all = [
            ("requestsPerMinute", json!(self.rate)),
            ("concurrentTasks", json!(self.concurrent)),
            ("cpuMsPerMinute", json!(self.cpu_per_minute)),
            ("cpuMsPerDay", json!(self.cpu_per_day)),
            ("storedBytesPerDay", json!(self.bytes_per_day)),
        ];
        body.extend(all.into_iter().filter(|(_, most)| !most.is_null()).map(|(name, most)| (name.to_owned(), most)));
    }
}

//! What a call costs on a full platform, against one that has a single tenant. Rounds on both alternate, so that what
//! else the machine does falls on both.

use std::time::Duration;

use serde_json::json;

use crate::node::{Node, Tenant};
use crate::options::Scale;

/// The p50 of one tenant's calls among many against alone, and of calls that go round all tenants.
pub async fn ratios(alone: &Node, only: &Tenant, full: &Node, many: &[Tenant], scale: Scale) -> (f64, f64) {
    let calls = scale.pick(100, 500);
    let (mut among, mut round) = (Vec::new(), Vec::new());
    for turn in 0..scale.pick(2, 7) {
        let least = p50(alone, &[only], calls).await;
        among.push(p50(full, &[&many[0]], calls).await / least);
        let all: Vec<&Tenant> = many.iter().collect();
        round.push(p50(full, &all, calls).await / least);
        // The first round finds everything cold.
        if turn == 0 {
            among.clear();
            round.clear();
        }
    }
    (median(among), median(round))
}

async fn p50(node: &Node, tenants: &[&Tenant], calls: usize) -> f64 {
    let mut waits: Vec<Duration> = Vec::with_capacity(calls);
    for call in 0..calls {
        let called = node.call(tenants[call % tenants.len()], "echo", &json!({ "n": 1 })).await;
        assert_eq!(called.status, 200, "{}", called.body);
        waits.push(called.took);
    }
    waits.sort();
    waits[calls / 2].as_secs_f64()
}

fn median(mut figures: Vec<f64>) -> f64 {
    figures.sort_by(f64::total_cmp);
    figures[figures.len() / 2]
}

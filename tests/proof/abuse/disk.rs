//! Deploys that fill the disk: compiled code is limited, and a function whose code was evicted still answers.

use std::path::Path;

use serde_json::json;

use crate::node::Node;
use crate::options::Scale;
use crate::row::Row;

const MEBIBYTE: u64 = 1 << 20;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let (count, cap) = scale.pick((14, 48), (150, 256));
    let node = Node::start_with(&[("PLEAT_RUNTIME_CODE_CACHE_MIB", &cap.to_string())]).await;
    let tenant = node.tenant("filler").await;
    let mut most = 0;
    for index in 0..count {
        let script = format!("export const description = 'number {index}';\nexport default () => {index};\n");
        node.deploy(&tenant, &format!("filler-{index}"), "filler.js", script.into()).await;
        most = most.max(size(&node.data_dir().join("cache")));
    }
    let mut wrong = Vec::new();
    for index in [0, count / 2, count - 1] {
        let called = node.call(&tenant, &format!("filler-{index}"), &json!(null)).await;
        if called.body != json!(index) {
            wrong.push(format!("filler-{index}: {} {}", called.status, called.body));
        }
    }
    wrong.extend(node.faults());
    // The platform's own compiled code is beside the tenants'.
    let allowed = cap as f64 + 32.0;
    vec![
        Row::at_most(
            "abuse.disk",
            format!("{count} scripts deployed, {cap} MiB for compiled code: most on disk"),
            allowed,
            most as f64 / MEBIBYTE as f64,
            "MiB",
        ),
        Row::none("abuse.disk.evicted", "the same: functions that no longer answer", &wrong),
    ]
}

/// Bytes of all files below a directory.
fn size(directory: &Path) -> u64 {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let of = |entry: std::fs::DirEntry| match entry.metadata() {
        Ok(found) if found.is_dir() => size(&entry.path()),
        Ok(found) => found.len(),
        Err(_) => 0,
    };
    entries.map(of).sum()
}

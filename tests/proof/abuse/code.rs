//! Compiled code that was exchanged or altered on disk: it is not loaded, but compiled again from the source.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde_json::json;

use crate::harness::answering;
use crate::node::{Node, Tenant};
use crate::row::Row;

pub async fn prove() -> Vec<Row> {
    let node = Node::start().await;
    let tenant = node.tenant("exchange").await;
    let one = deployed(&node, &tenant, "one").await;
    let two = deployed(&node, &tenant, "two").await;
    let three = deployed(&node, &tenant, "three").await;
    let (project, database) = node.stop().await;
    let exchanged = exchange(&one, &two);
    let altered = alter(&three);
    let node = Node::open(project, database).await;
    let mut wrong = Vec::new();
    if exchanged == 0 || altered == 0 {
        wrong.push("no compiled code was found to exchange or alter".to_owned());
    }
    for name in ["one", "two", "three"] {
        let called = node.call(&tenant, name, &json!(null)).await;
        if called.body != json!(name) {
            wrong.push(format!("{name}: {} {}", called.status, called.body));
        }
    }
    wrong.extend(node.faults());
    vec![Row::none("abuse.code", "compiled code exchanged between functions, or altered: loaded", &wrong)]
}

/// Deploys a function that answers with its name; gives the files that this wrote.
async fn deployed(node: &Node, tenant: &Tenant, name: &str) -> BTreeSet<PathBuf> {
    let cache = node.data_dir().join("cache");
    let before = files(&cache);
    let source = answering(&json!({ "description": name }), &json!(name).to_string());
    node.deploy(tenant, name, &format!("{name}.wat"), source).await;
    files(&cache).difference(&before).cloned().collect()
}

fn files(directory: &Path) -> BTreeSet<PathBuf> {
    let mut found = BTreeSet::new();
    for entry in std::fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            found.extend(files(&path));
        } else {
            found.insert(path);
        }
    }
    found
}

/// Gives each file of one function the content of the other's file of the same kind; gives how many.
fn exchange(one: &BTreeSet<PathBuf>, two: &BTreeSet<PathBuf>) -> usize {
    let mut count = 0;
    for left in one {
        let Some(right) = two.iter().find(|right| right.extension() == left.extension()) else { continue };
        let (from_left, from_right) = (std::fs::read(left).expect("code"), std::fs::read(right).expect("code"));
        std::fs::write(left, from_right).expect("it can be written");
        std::fs::write(right, from_left).expect("it can be written");
        count += 1;
    }
    count
}

/// Changes the last byte of the largest file; gives how many were changed.
fn alter(files: &BTreeSet<PathBuf>) -> usize {
    let largest = files.iter().max_by_key(|path| path.metadata().map_or(0, |found| found.len()));
    let Some(path) = largest else { return 0 };
    let mut bytes = std::fs::read(path).expect("code");
    if let Some(last) = bytes.last_mut() {
        *last ^= 0xff;
    }
    std::fs::write(path, bytes).expect("it can be written");
    1
}

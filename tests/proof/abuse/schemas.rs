//! Schemas whose validation explodes, and patterns that compile to hundreds of megabytes.
//!
//! Each schema is refused at deploy, or every input of it is decided. The server's peak memory is that of the kernel's
//! own high-water mark.

use std::time::Duration;

use serde_json::{Value, json};

use crate::harness::answering;
use crate::memory::Memory;
use crate::node::{Node, Tenant};
use crate::options::Scale;
use crate::random::Random;
use crate::row::{Row, grouped};

const SEED: u64 = 0x5eed_5c4e;
/// A decision that takes longer has blocked the caller, whatever the machine is busy with.
const SLOW: Duration = Duration::from_secs(5);
const MEGABYTE: f64 = 1024.0;

pub async fn prove(scale: Scale) -> Vec<Row> {
    let node = Node::start().await;
    let tenant = node.tenant("schemas").await;
    let count = scale.pick(20, 500);
    let mut random = Random::new(SEED);
    node.deploy(&tenant, "warm", "warm.wat", answering(&json!({ "description": "first" }), "null")).await;
    Memory::reset_peak(node.process());
    let before = Memory::peak(node.process());
    let (mut undecided, mut refused, mut decided) = (Vec::new(), 0, 0);
    for index in 0..count {
        let schema = hostile_schema(&mut random, index);
        let manifest = json!({ "description": "hostile", "input": schema });
        let (status, body) = node.try_deploy(&tenant, "hostile", "hostile.wat", answering(&manifest, "null")).await;
        match status {
            200 | 201 => {}
            422 => {
                refused += 1;
                continue;
            }
            _ => {
                undecided.push(format!("schema {index}: deploy answered {status} {body}"));
                continue;
            }
        }
        for input in hostile_inputs(&mut random) {
            decided += 1;
            undecided.extend(fault(&node, &tenant, index, &input).await);
        }
    }
    undecided.extend(node.faults());
    let peak = Memory::peak(node.process()).since(before) / MEGABYTE;
    let tried = format!("{} hostile schemas ({refused} refused at deploy), {} inputs", count, grouped(decided));
    let mut rows = vec![
        Row::none("abuse.schemas", format!("{tried}: not decided, or after {} s", SLOW.as_secs()), &undecided),
        Row::at_most("abuse.schemas.peak", "the same: peak memory of the server, more than before", 64.0, peak, "MB"),
    ];
    rows.push(patterns(scale).await);
    rows
}

async fn fault(node: &Node, tenant: &Tenant, index: usize, input: &Value) -> Option<String> {
    let called = node.call(tenant, "hostile", input).await;
    let in_time = called.took < SLOW;
    let known = matches!(called.status, 200 | 400 | 413 | 422 | 429);
    let shown: String = called.body.to_string().chars().take(160).collect();
    (!in_time || !known).then(|| format!("schema {index}: {} after {:?}: {shown}", called.status, called.took))
}

/// Patterns that expand when they are compiled: refused, or cheap.
async fn patterns(scale: Scale) -> Row {
    let node = Node::start().await;
    let tenant = node.tenant("patterns").await;
    node.deploy(&tenant, "warm", "warm.wat", answering(&json!({ "description": "first" }), "null")).await;
    let before = Memory::settled(node.process()).await;
    let each = scale.pick(2, 10);
    let repeated = [r"\p{L}{100}", r"(\p{L}{1,20}){1,20}", r"[\p{L}\p{N}]{200}", r"(a{1,50}){1,50}", r"\w{500}"];
    for (index, pattern) in repeated.iter().enumerate() {
        for copy in 0..each {
            let properties: serde_json::Map<String, Value> = (0..40)
                .map(|field| (format!("f{field}"), json!({ "type": "string", "pattern": format!("{pattern}{field}") })))
                .collect();
            let input = json!({ "type": "object", "properties": properties });
            let manifest = json!({ "description": "patterns", "input": input });
            let name = format!("patterns-{index}-{copy}");
            node.try_deploy(&tenant, &name, "patterns.wat", answering(&manifest, "null")).await;
            node.call(&tenant, &name, &json!({ "f0": "a" })).await;
        }
    }
    let kept = Memory::settled(node.process()).await.since(before) / MEGABYTE;
    let tried = format!("{} deploys of 40 patterns that expand: memory kept", repeated.len() * each);
    Row::at_most("abuse.patterns", tried, 96.0, kept, "MB")
}

/// A recursive schema built from the applicators that can multiply work.
fn hostile_schema(random: &mut Random, index: usize) -> Value {
    let again = || json!({ "$ref": "#" });
    let branch = |random: &mut Random| match random.below(5) {
        0 => json!({ "properties": { "x": again() }, "required": ["x"] }),
        1 => json!({ "additionalProperties": again() }),
        2 => json!({ "items": again(), "contains": again() }),
        3 => json!({ "patternProperties": { "^x": again() } }),
        _ => json!({ "properties": { "x": again() }, "minProperties": 1 }),
    };
    let branches: Vec<Value> = (0..2 + random.below(4)).map(|_| branch(random)).collect();
    let mut schema = match index % 9 {
        0 => json!({ "anyOf": branches }),
        1 => json!({ "oneOf": branches }),
        2 => json!({ "allOf": branches }),
        3 => json!({ "not": { "anyOf": branches } }),
        4 => json!({ "if": branches[0], "then": branches[1], "else": { "anyOf": branches } }),
        5 => json!({ "dependentSchemas": { "x": { "anyOf": branches } }, "properties": { "x": again() } }),
        6 => json!({ "anyOf": branches, "unevaluatedProperties": again() }),
        7 => json!({
            "$dynamicAnchor": "node",
            "anyOf": [
                { "properties": { "x": { "$dynamicRef": "#node" } }, "required": ["x"] },
                { "additionalProperties": { "$dynamicRef": "#node" } }
            ]
        }),
        _ => doubling(8 + random.below(16)),
    };
    if random.below(3) == 0 {
        schema["anyOf"] = json!([{ "type": "integer", "minimum": 9 }, again_in("x"), again_in("x")]);
    }
    schema["$schema"] = json!("https://json-schema.org/draft/2020-12/schema");
    schema
}

fn again_in(property: &str) -> Value {
    json!({ "properties": { property: { "$ref": "#" } }, "required": [property] })
}

/// Definitions that each refer to the next twice.
fn doubling(length: usize) -> Value {
    let mut definitions = serde_json::Map::new();
    for index in 0..length {
        let next = json!({ "$ref": format!("#/$defs/d{}", index + 1) });
        definitions.insert(format!("d{index}"), json!({ "anyOf": [next, { "allOf": [next, next] }] }));
    }
    definitions.insert(format!("d{length}"), json!({ "type": "null" }));
    json!({ "$defs": definitions, "$ref": "#/$defs/d0" })
}

fn hostile_inputs(random: &mut Random) -> Vec<Value> {
    let deep = 16 + random.below(44);
    let nested = (0..deep).fold(json!(1), |inner, _| json!({ "x": inner }));
    let listed = (0..deep).fold(json!(1), |inner, _| json!([inner, 1]));
    let wide: serde_json::Map<String, Value> = (0..200).map(|field| (format!("x{field}"), json!({ "x": 1 }))).collect();
    let equal = json!(vec![json!({ "x": { "x": 1 } }); 300]);
    vec![nested, listed, Value::Object(wide), equal, json!({ "x": { "x": { "x": 10 } } })]
}

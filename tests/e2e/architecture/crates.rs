//! Who may depend on whom: edge, engine, effects, pure, and never back or sideways.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::harness::root;

/// Each crate with the crates of ours that it may use. What is not in here is forbidden.
const ALLOWED: &[(&str, &[&str])] = &[
    ("pleat-domain", &[]),
    ("pleat-policy", &["pleat-domain"]),
    ("pleat-a2a", &["pleat-domain"]),
    ("pleat-mcp", &["pleat-domain"]),
    ("pleat-schemas", &[]),
    ("pleat-pipelines", &["pleat-domain", "pleat-schemas"]),
    ("pleat-guardrails", &["pleat-schemas"]),
    ("pleat-store", &["pleat-domain"]),
    ("pleat-bindings", &[]),
    ("pleat-runtime", &["pleat-domain", "pleat-bindings"]),
    ("pleat-egress", &[]),
    (
        "pleat-engine",
        &[
            "pleat-domain",
            "pleat-policy",
            "pleat-guardrails",
            "pleat-pipelines",
            "pleat-schemas",
            "pleat-store",
            "pleat-runtime",
            "pleat-egress",
        ],
    ),
    ("pleat-gateway", &["pleat-domain", "pleat-a2a", "pleat-mcp", "pleat-engine"]),
    // Puts the parts of a node together; its suites look at everything.
    (
        "pleat",
        &[
            "pleat-a2a",
            "pleat-domain",
            "pleat-egress",
            "pleat-engine",
            "pleat-gateway",
            "pleat-guardrails",
            "pleat-pipelines",
            "pleat-runtime",
            "pleat-store",
        ],
    ),
];

/// Dependencies with the crates that may have them.
const GUARDED: &[(&str, &[&str])] = &[
    ("sqlx", &["pleat-store"]),
    ("sqlx-core", &["pleat-store"]),
    ("wasmtime", &["pleat-runtime", "pleat-bindings"]),
    ("wasmtime-wasi", &["pleat-runtime", "pleat-bindings"]),
    ("wasmtime-wizer", &["pleat-runtime"]),
    ("axum", &["pleat-gateway"]),
    ("hyper", &["pleat-gateway", "pleat-egress"]),
    ("hyper-rustls", &["pleat-egress"]),
    ("jsonwebtoken", &["pleat-engine"]),
    ("reqwest", &["pleat"]),
    ("metrics-exporter-prometheus", &["pleat-gateway"]),
    ("opentelemetry-otlp", &["pleat"]),
    ("clap", &["pleat"]),
    ("anyhow", &["pleat"]),
];

/// Crates that do no I/O of their own must not be able to.
const PURE: &[&str] =
    &["pleat-domain", "pleat-policy", "pleat-a2a", "pleat-mcp", "pleat-schemas", "pleat-pipelines", "pleat-guardrails"];
const EFFECTS: &[&str] = &["tokio", "tokio-util", "futures", "async-stream", "tracing", "libc", "rustix", "tempfile"];

/// The crates of the workspace with what they depend on outside their tests.
fn packages() -> BTreeMap<String, (BTreeSet<String>, Value)> {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(["metadata", "--no-deps", "--offline", "--format-version", "1"]).current_dir(root());
    let output = command.output().expect("cargo metadata runs");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).unwrap();
    let all = metadata["packages"].as_array().unwrap().iter().map(|package| {
        let normal = package["dependencies"].as_array().unwrap().iter().filter(|one| one["kind"] != "dev");
        let names = normal.map(|one| one["name"].as_str().unwrap().to_owned()).collect();
        (package["name"].as_str().unwrap().to_owned(), (names, package.clone()))
    });
    all.collect()
}

#[test]
fn crates_depend_in_one_direction_only() {
    let packages = packages();
    let known: BTreeSet<&str> = ALLOWED.iter().map(|(name, _)| *name).collect();
    for (name, (dependencies, _)) in &packages {
        let row = ALLOWED.iter().find(|(row, _)| row == name);
        let (_, allowed) = row.unwrap_or_else(|| panic!("`{name}` has no place in the table"));
        let ours = dependencies.iter().map(String::as_str).filter(|dependency| known.contains(dependency));
        for dependency in ours {
            assert!(allowed.contains(&dependency), "`{name}` must not depend on `{dependency}`");
        }
    }
}

#[test]
fn each_kind_of_effect_has_one_home() {
    for (name, (dependencies, _)) in packages() {
        for (guarded, homes) in GUARDED {
            let allowed = homes.contains(&name.as_str()) || !dependencies.contains(*guarded);
            assert!(allowed, "`{name}` must not use `{guarded}`: its home is {homes:?}");
        }
        if PURE.contains(&name.as_str()) {
            let effects: Vec<_> = EFFECTS.iter().filter(|effect| dependencies.contains(**effect)).collect();
            assert!(effects.is_empty(), "`{name}` is pure and must not use {effects:?}");
        }
    }
}

#[test]
fn crates_have_no_features_and_inherit_the_lints() {
    for (name, (_, package)) in packages() {
        assert_eq!(package["features"], serde_json::json!({}), "`{name}` has cargo features");
        let manifest = std::fs::read_to_string(package["manifest_path"].as_str().unwrap()).unwrap();
        assert!(manifest.contains("[lints]\nworkspace = true"), "`{name}` does not inherit the workspace's lints");
    }
}

#[test]
fn what_is_not_tested_by_itself_has_no_tests_inside() {
    for (name, (_, package)) in packages() {
        let targets = package["targets"].as_array().unwrap().iter();
        let untried =
            targets.filter(|target| target["test"] == false).map(|target| target["src_path"].as_str().unwrap());
        for path in untried.filter(|path| path.contains("/src/") && !path.contains("/benches/")) {
            let source = Path::new(path).parent().unwrap().strip_prefix(root()).unwrap().to_owned();
            let files = super::files(&[source.to_str().unwrap()], ".rs");
            let silent = files.iter().find(|file| super::text(file).contains("#[cfg(test)]"));
            assert!(silent.is_none(), "`{name}` has `test = false`, so that nobody runs the tests in {silent:?}");
        }
    }
}

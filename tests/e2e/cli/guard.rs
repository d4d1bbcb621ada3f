//! `pleat guard`, with the real binary.

use serde_json::json;

use crate::cli::Tenant;
use crate::harness::project::{Project, write};

const EMAIL: &str = "jane.doe@example.com";
const ECHO: &str = "export const description = 'Gives back what it gets';\nexport default (input) => input;\n";
const POLICY: &str =
    r#"{ "checks": [{ "type": "pii", "action": "redact" }, { "type": "secrets", "action": "block" }] }"#;

#[tokio::test]
async fn a_policy_is_tried_without_a_server() {
    let project = Project::new();
    let policy = write(&project.path, "policy.json", POLICY);
    let text = format!("write to {EMAIL}");
    let ran = project.pleat(&["guard", "test", "-f", &policy, "--text", &text]).await.ok();
    assert!(ran.stdout.contains("pii.email") && ran.stdout.ends_with("\nwrite to [EMAIL_1]\n"), "{ran:?}");
    let ran = project.pleat(&["guard", "test", "-f", &policy, "--text", &text, "--json"]).await.ok().json();
    assert_eq!((&ran["action"], &ran["result"]), (&json!("redact"), &json!("write to [EMAIL_1]")), "{ran}");
    assert_eq!((&ran["places"][0]["start"], &ran["places"][0]["end"]), (&json!(9), &json!(29)), "{ran}");
    let key = format!("key AKIA{}", "IOSFODNN7EXAMPLQ");
    let file = write(&project.path, "message.json", &json!({ "a": { "b": key } }).to_string());
    let ran = project.pleat(&["guard", "test", "-f", &policy, "--file", &file, "--json"]).await.ok().json();
    assert_eq!((&ran["blockedBy"], &ran["findings"][0]["pointer"]), (&json!("secrets"), &json!("/a/b")), "{ran}");
    let corpus = [
        json!({ "text": text, "spans": [{ "start": 9, "end": 29, "type": "email" }] }),
        json!({ "text": "no mail at all", "spans": [] }),
        json!({ "text": "mail to somebody", "spans": [{ "start": 0, "end": 4, "type": "email" }] }),
    ];
    let lines: Vec<String> = corpus.iter().map(ToString::to_string).collect();
    let corpus = write(&project.path, "corpus.jsonl", &lines.join("\n"));
    let ran = project.pleat(&["guard", "test", "-f", &policy, "--corpus", &corpus, "--json"]).await.ok().json();
    assert_eq!((&ran["documents"], &ran["types"]["email"]["recall"]), (&json!(3), &json!(0.5)), "{ran}");
    assert_eq!(ran["types"]["email"]["precision"], 1.0, "{ran}");
    assert!(ran["microsecondsPerDocument"].as_f64().unwrap() > 0.0);
    let ran = project.pleat(&["guard", "test", "-f", &policy, "--corpus", &corpus]).await.ok();
    assert!(["PRECISION", "email", "together"].iter().all(|word| ran.stdout.contains(word)), "{ran:?}");

    let late = r#"{ "checks": [{ "type": "pii", "action": "redact", "target": "output" }] }"#;
    let late = write(&project.path, "late.json", late);
    let ran = project.pleat(&["guard", "test", "-f", &late, "--text", &text]).await.ok();
    assert!(ran.stdout.contains("pii.email"), "whatever its target: {ran:?}");
    let ran = project.pleat(&["guard", "test", "-f", &late, "--text", &text, "--side", "input"]).await.ok();
    assert!(!ran.stdout.contains("pii.email"), "{ran:?}");

    let bad = write(&project.path, "bad.json", "{\n  \"checks\": [{ \"type\": \"pi\" }],\n  \"colour\": 1\n}");
    let ran = project.pleat(&["guard", "test", "-f", &bad, "--text", "x"]).await.failed(1);
    ran.says(&["bad.json:2:", "bad.json:3:"]);
}

#[tokio::test]
async fn policies_are_set_shown_and_removed() {
    let tenant = Tenant::with_probe("guards").await;
    let directory = tempfile::tempdir().unwrap();
    let policy = write(directory.path(), "policy.json", POLICY);
    let source = write(directory.path(), "guarded_echo.js", ECHO);
    tenant.pleat(&["deploy", &source]).await.ok();
    tenant.pleat(&["guard", "set", "--skill", "guarded_echo", "-f", &policy]).await.ok();
    let shown = tenant.pleat(&["guard", "show", "--skill", "guarded_echo", "--json"]).await.ok().json();
    assert_eq!((&shown["from"], &shown["policy"]["checks"][0]["type"]), (&json!("skill"), &json!("pii")), "{shown}");
    assert_eq!(shown["effective"]["checks"][1]["action"], "block", "{shown}");
    let called = tenant.pleat(&["call", "guarded_echo", &json!(EMAIL).to_string()]).await.ok();
    assert!(called.stdout.contains("[EMAIL_1]"), "{}", called.stdout);
    let key = json!(format!("AKIA{}", "IOSFODNN7EXAMPLQ")).to_string();
    tenant.pleat(&["call", "guarded_echo", &key]).await.failed(1).says(&["secrets"]);
    let found = tenant.pleat(&["guard", "violations", "--skill", "guarded_echo", "--json"]).await.ok().json();
    assert!(found["violations"].as_array().unwrap().len() >= 2, "{found}");
    let table = tenant.pleat(&["guard", "violations", "--skill", "guarded_echo"]).await.ok().stdout;
    assert!(table.contains("pii.email") && table.contains("(refused)"), "{table}");
    let replayed =
        tenant.pleat(&["guard", "replay", "-f", &policy, "--skill", "guarded_echo", "--json"]).await.ok().json();
    assert!(replayed["tasks"].as_u64().unwrap() >= 1, "{replayed}");
    tenant.pleat(&["guard", "rm", "--skill", "guarded_echo"]).await.ok();
    let shown = tenant.pleat(&["guard", "show", "--skill", "guarded_echo", "--json"]).await.ok().json();
    assert_eq!((&shown["from"], &shown["effective"]), (&json!(null), &json!({ "checks": [] })), "{shown}");
    tenant.pleat(&["guard", "show", "--skill", "nowhere-to-be-found"]).await.failed(1).says(&["unknown skill"]);
    tenant
        .pleat(&["guard", "set", "--skill", "nowhere-to-be-found", "-f", &policy])
        .await
        .failed(1)
        .says(&["unknown skill"]);
}

//! What is recorded of findings, and what is not.

use std::collections::BTreeSet;

use reqwest::Method;
use serde_json::{Value, json};

use super::{CARD, EMAIL, checks, guarded, set, violations};

#[tokio::test]
async fn findings_have_a_place_and_a_hash_and_never_the_value() {
    let server =
        guarded(checks(json!([{ "type": "pii", "action": "redact", "target": "input", "severity": "low" }]))).await;
    let input = json!({ "who": { "mail": EMAIL }, "again": EMAIL, "card": CARD });
    server.http(&server.invoke, "echo", input.clone()).await;
    server.http("", "echo", json!(EMAIL)).await;
    let found = violations(&server, "").await;
    let text = serde_json::to_string(&found).unwrap();
    assert!(!text.contains("jane") && !text.contains("4111"), "{text}");
    let places: BTreeSet<&str> = found.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    assert_eq!(places, BTreeSet::from(["", "/again", "/card", "/who/mail"]));
    let hashes: BTreeSet<&str> =
        found.iter().filter(|one| one["rule"] == "pii.email").map(|one| one["hash"].as_str().unwrap()).collect();
    assert_eq!(hashes.len(), 1, "the same value has the same hash, in all tasks of the tenant");
    let card = found.iter().find(|one| one["rule"] == "pii.card").unwrap();
    for (field, value) in [
        ("skill", "echo"),
        ("door", "http"),
        ("side", "input"),
        ("check", "pii"),
        ("action", "redact"),
        ("severity", "low"),
        ("mode", "enforce"),
        ("placeholder", "[CARD_1]"),
    ] {
        assert_eq!(card[field], value, "{card}");
    }
    let task = card["task"].as_str().unwrap();
    assert_eq!(violations(&server, &format!("?task={task}")).await.len(), 3);
}

/// Whatever becomes of a task, what its input had is known from its beginning.
#[tokio::test]
async fn findings_in_an_input_are_there_while_the_task_runs() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "log" }]))).await;
    let source = "export const description = 'Waits';
        export default async () => { await new Promise((go) => setTimeout(go, 25000)); return 1; };";
    server.deploy("waits.js", source, "&visibility=public").await;
    let message = json!({ "skill": "waits", "message": { "to": EMAIL } });
    let mut events = server.rpc_stream("", "tasks/sendSubscribe", message, None).await;
    let first = events.next().await.expect("it has begun").data;
    let found = violations(&server, "").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["pointer"], &found[0]["task"]), (&json!("/to"), &first["result"]["id"]), "{first}");
}

/// Of a task that is full of findings not all are noted, but the one that blocked it is, and each side has its own.
#[tokio::test]
async fn the_finding_that_blocks_is_noted_however_many_others_there_are() {
    let server = guarded(checks(json!([
        { "type": "pii", "action": "log" },
        { "type": "denylist", "action": "block", "target": "input", "config": { "terms": ["forbidden"] } },
    ])))
    .await;
    let mut mails: Vec<String> = (0..300).map(|number| format!("jane.doe{number}@example.com")).collect();
    assert_eq!(server.http("", "echo", json!(mails)).await.0, 200);
    let (mut outputs, mut cursor) = (0, String::new());
    loop {
        let path = format!("/tenants/acme/guard/violations?limit=100{cursor}");
        let (_, page) = server.api(Method::GET, &path, &server.read, None).await;
        outputs += page["violations"].as_array().unwrap().iter().filter(|one| one["side"] == "output").count();
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(outputs, 200, "as many as of the input");
    mails.push("forbidden".to_owned());
    assert_eq!(server.http("", "echo", json!(mails)).await.0, 403);
    let found = violations(&server, "?action=block").await;
    assert_eq!(found.len(), 1, "{found:?}");
    assert_eq!((&found[0]["check"], &found[0]["pointer"]), (&json!("denylist"), &json!("/300")));
}

#[tokio::test]
async fn the_list_is_filtered_and_paged() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "log" }]))).await;
    server.deploy("twin.js", super::ECHO, "&visibility=public").await;
    set(&server, "twin", checks(json!([{ "type": "regex", "action": "warn", "config": { "pattern": "PRJ-[0-9]+" } }])))
        .await;
    for _ in 0..3 {
        server.http("", "twin", json!(format!("PRJ-1 {EMAIL}"))).await;
    }
    // In and out, and by the default too: the skill's policy says nothing of personal data.
    assert_eq!(violations(&server, "").await.len(), 12);
    assert_eq!(violations(&server, "?check=regex").await.len(), 6);
    assert_eq!(violations(&server, "?action=log&skill=twin").await.len(), 6);
    assert_eq!(violations(&server, "?skill=echo").await.len(), 0);
    assert_eq!(violations(&server, "?since=2100-01-01T00:00:00Z").await.len(), 0);
    let mut seen = BTreeSet::new();
    let mut cursor = String::new();
    loop {
        let path = format!("/tenants/acme/guard/violations?limit=5{cursor}");
        let (_, page) = server.api(Method::GET, &path, &server.read, None).await;
        let rows = page["violations"].as_array().unwrap();
        seen.extend(
            rows.iter().map(|row| format!("{} {} {} {}", row["task"], row["side"], row["rule"], row["pointer"])),
        );
        let Some(next) = page["nextCursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(seen.len(), 12, "{seen:?}");
    for bad in ["?limit=0", "?limit=101", "?cursor=x", "?action=shout", "?since=now", "?task=1", "?other=1"] {
        let path = format!("/tenants/acme/guard/violations{bad}");
        assert_eq!(server.api(Method::GET, &path, &server.read, None).await.0, 400, "{bad}");
    }
}

#[tokio::test]
async fn a_draft_is_tried_on_the_tasks_that_are_kept() {
    let server = guarded(json!({ "checks": [] })).await;
    for text in [EMAIL, "nothing", CARD] {
        server.http("", "echo", json!(text)).await;
    }
    let draft = checks(json!([
        { "type": "pii", "action": "redact" },
        { "type": "denylist", "action": "block", "config": { "terms": ["nothing"] } },
    ]));
    let (status, body) = server.api(Method::POST, "/tenants/acme/guard/replay", &server.deploy, Some(draft)).await;
    assert_eq!(status, 200, "{body}");
    let counts: Vec<&Value> = ["tasks", "blocked", "redacted", "warned", "logged"].map(|name| &body[name]).to_vec();
    assert_eq!(counts, [&json!(3), &json!(1), &json!(2), &json!(0), &json!(0)], "{body}");
    assert!(!body.to_string().contains("jane"), "{body}");
    assert_eq!(violations(&server, "").await.len(), 0, "it changes nothing");
    let (status, body) =
        server.api(Method::POST, "/tenants/acme/guard/replay", &server.deploy, Some(json!({ "check": 1 }))).await;
    assert_eq!((status, &body["error"]["code"]), (422, &json!("invalid_policy")), "{body}");
}

//! Blocked inputs run nothing, and of blocked outputs nothing leaves.

use serde_json::{Value, json};

use super::{CARD, ECHO, EMAIL, checks, guarded, set, tasks, violations};
use crate::harness::{TestServer, Tongue};
use crate::mcp::{Client, Modern};

fn block(side: &str) -> Value {
    checks(json!([{ "type": "pii", "action": "block", "target": side }]))
}

/// The public name of the check, and nothing of what was found.
fn tells_only_the_check(answer: &Value) {
    let text = answer.to_string();
    assert!(text.contains("`pii`"), "{text}");
    assert!(!text.contains("jane") && !text.contains("example.com"), "{text}");
}

#[tokio::test]
async fn a_blocked_input_runs_nothing_at_any_door() {
    let server = guarded(block("input")).await;
    let input = json!({ "to": EMAIL });

    let (status, body) = server.http("", "echo", input.clone()).await;
    assert_eq!((status, &body["error"]["code"]), (403, &json!("blocked")), "{body}");
    tells_only_the_check(&body);

    let answer = server.rpc("tasks/send", json!({ "skill": "echo", "message": input })).await;
    assert_eq!((&answer["error"]["code"], &answer["error"]["data"]["check"]), (&json!(-32050), &json!("pii")));
    tells_only_the_check(&answer);

    for tongue in [Tongue::V03, Tongue::V1] {
        let answer = tongue.send(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await.body;
        assert_eq!(answer["error"]["code"], -32050, "{tongue:?}: {answer}");
        tells_only_the_check(&answer);
        let events = tongue.stream(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await;
        assert_eq!(events.refused().await.body["error"]["code"], -32050, "{tongue:?}");
    }
    let rest = Tongue::Rest.send(&server, "", json!({ "message": Tongue::Rest.call("echo", input.clone()) })).await;
    assert_eq!(rest.status, 403, "{}", rest.body);
    tells_only_the_check(&rest.body);

    let call = json!({ "name": "echo", "arguments": input });
    let session = Client::open(&server, json!({})).await;
    let answer = session.ask("tools/call", call.clone()).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    tells_only_the_check(&answer);
    let (_, answer) = Modern::new(&server, json!({})).ask("tools/call", call).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");

    assert_eq!(tasks(&server).await, Vec::<Value>::new(), "nothing ran");
    let found = violations(&server, "").await;
    assert_eq!(found.len(), 9, "one for each try");
    assert!(found.iter().all(|one| one["task"].is_null() && one["action"] == "block" && one["side"] == "input"));
}

/// In every part, in nested data, in keys, in numbers and in metadata.
#[tokio::test]
async fn nothing_in_a_message_hides() {
    let server = guarded(block("input")).await;
    let tongue = Tongue::V1;
    let hidden = [
        tongue.message(json!([{ "text": "fine" }, { "text": EMAIL }])),
        tongue.message(json!([{ "data": { "a": [{ "b": EMAIL }] } }])),
        tongue.message(json!([{ "data": { EMAIL: 1 } }])),
        tongue.message(json!([{ "data": { "card": 4111111111111111_u64 } }])),
        tongue.message(json!([{ "text": "jane.doe@exa" }, { "text": "mple.com" }])),
        tongue.message(json!([{ "raw": "bWFpbCBqYW5lLmRvZUBleGFtcGxlLmNvbQ==", "mediaType": "text/plain" }])),
        tongue.message(json!([{ "text": format!("jane.doe\u{200b}@example.com") }])),
        tongue.message(json!([{ "text": "bWFpbCBqYW5lLmRvZUBleGFtcGxlLmNvbQ==" }])),
    ];
    for message in hidden {
        let answer = tongue.send(&server, "", json!({ "message": message })).await.body;
        assert_eq!(answer["error"]["code"], -32050, "{message}: {answer}");
    }
    let mut message = tongue.text("fine");
    message["metadata"] = json!({ "note": EMAIL });
    let answer = tongue.send(&server, "", json!({ "message": message })).await.body;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    for beside in
        [json!({ "metadata": { "note": EMAIL } }), json!({ "configuration": { "acceptedOutputModes": [EMAIL] } })]
    {
        let mut params = beside.clone();
        params["message"] = tongue.text("fine");
        let answer = tongue.send(&server, "", params).await.body;
        assert_eq!(answer["error"]["code"], -32050, "{beside}: {answer}");
    }
    let answer = tongue.send(&server, "", json!({ "message": tongue.text("fine") })).await.body;
    assert!(answer.get("error").is_none(), "{answer}");
}

#[tokio::test]
async fn a_blocked_output_does_not_leave() {
    let server = guarded(block("output")).await;
    let input = json!({ "to": EMAIL });

    let (status, body) = server.http("", "echo", input.clone()).await;
    assert_eq!((status, &body["reason"]), (403, &json!("blocked")), "{body}");
    tells_only_the_check(&body);
    let answer = server.rpc("tasks/send", json!({ "skill": "echo", "message": input })).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");
    let id = answer["error"]["data"]["taskId"].as_str().unwrap().to_owned();
    for tongue in Tongue::ALL {
        let answer = tongue.send(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await;
        tells_only_the_check(&answer.body);
    }
    let answer =
        Client::open(&server, json!({})).await.ask("tools/call", json!({ "name": "echo", "arguments": input })).await;
    assert_eq!(answer["error"]["code"], -32050, "{answer}");

    let task = server.task(&id).await;
    assert_eq!((&task["state"], &task["failure"]["reason"]), (&json!("failed"), &json!("blocked")), "{task}");
    assert_eq!(task["artifacts"], json!([]));
    let found = violations(&server, "?action=block").await;
    assert_eq!(found.len(), 6);
    assert!(found.iter().all(|one| one["side"] == "output" && one["task"].is_string()), "{found:?}");
}

/// Words that go with a state are output too: an error, a question, a note on the way.
#[tokio::test]
async fn errors_questions_and_notes_are_output() {
    let server = TestServer::start().await;
    let source = format!(
        "export const description = 'Talks';
         export default function (input, ctx) {{
           if (input.kind === 'throw') throw new Error('cannot reach {EMAIL}');
           if (input.kind === 'ask') return ctx.needInput('is {EMAIL} right?');
           ctx.progress(1, 2, 'writing to {EMAIL}');
           return 'done';
         }}"
    );
    server.deploy("talk.js", source, "&visibility=public").await;
    set(&server, "", checks(json!([{ "type": "pii", "action": "redact", "target": "output" }]))).await;
    for kind in ["throw", "ask", "progress"] {
        let events = Tongue::V1
            .stream(&server, "", json!({ "message": Tongue::V1.call("talk", json!({ "kind": kind })) }))
            .await;
        let text = serde_json::to_string(&events.all().await.iter().map(|told| told.body.clone()).collect::<Vec<_>>());
        let text = text.unwrap();
        assert!(text.contains("[EMAIL_1]") && !text.contains("jane"), "{kind}: {text}");
    }
}

#[tokio::test]
async fn what_is_not_found_passes_unchanged_and_shadows_do_nothing() {
    let server = guarded(json!({ "mode": "shadow", "checks": [{ "type": "pii", "action": "block" }] })).await;
    let input = json!({ "to": EMAIL, "big": 9007199254740991_u64, "small": 1.5e-7 });
    let (status, body) = server.http("", "echo", input.clone()).await;
    assert_eq!((status, body), (200, input));
    let found = violations(&server, "").await;
    assert!(!found.is_empty() && found.iter().all(|one| one["mode"] == "shadow"), "{found:?}");

    set(&server, "", block("both")).await;
    let input = json!({ "note": "nothing to see", "big": 9007199254740991_u64 });
    let (status, body) = server.http("", "echo", input.clone()).await;
    assert_eq!((status, body), (200, input));
}

/// One that calls another: each is looked at as if it were called from outside.
#[tokio::test]
async fn calls_between_functions_are_looked_at_too() {
    let server = guarded(json!({ "checks": [] })).await;
    let source = format!(
        "export const description = 'Calls echo';
         export const capabilities = {{ skills: ['echo'] }};
         export default async function (input, ctx) {{
           try {{ return await ctx.call('echo', {{ card: '{CARD}' }}); }} catch (error) {{ return {{ code: error.code }}; }}
         }}"
    );
    server.deploy("outer.js", source, "&visibility=public&grant=all").await;
    server.deploy("echo.js", ECHO, "&visibility=public").await;
    set(&server, "echo", block("input")).await;
    let (status, body) = server.http("", "outer", json!({})).await;
    assert_eq!((status, body), (200, json!({ "code": "blocked" })));
}

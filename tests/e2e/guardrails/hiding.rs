//! Where personal data hides beside plain values: split over parts, in keys, in names, in files that are not quite texts.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};

use super::{EMAIL, checks, guarded, set, violations};
use crate::harness::{TestServer, Tongue};

fn secretive(text: &str) {
    for part in ["jane", "example.com", "mple.com", "1111", "hunter2", "7946"] {
        assert!(!text.contains(part), "`{part}` is in {text}");
    }
}

/// What the parts say together is the input: neither that nor the message may have what is split over them.
#[tokio::test]
async fn what_is_split_over_parts_does_not_reach_the_function() {
    let server = TestServer::start().await;
    let plain = "export const description = 'Says all it knows';
        export default (input, ctx) => ({ input, message: ctx.message });";
    let object = plain.replace(
        "export default",
        "export const input = { type: 'object', properties: { text: { type: 'string' } } };\nexport default",
    );
    server.deploy("plain.js", plain, "&visibility=public").await;
    server.deploy("object.js", object, "&visibility=public").await;
    let policy = json!({ "action": "redact", "checks": [{ "type": "pii" }, { "type": "secrets" }] });
    set(&server, "", policy).await;
    let splits = [
        (json!(["jane.doe@exa", "mple.com"]), "[EMAIL_1]\n"),
        (json!(["my card: 4111 1111", "1111 1111", "thanks"]), "my card: [CARD_1]\n\nthanks"),
        (json!(["call +44 20 7946 09", "58 tonight"]), "call [PHONE_1]\n tonight"),
        (json!(["my password:", "hunter2x9", "!"]), "my password:\n[PASSWORD_1]\n!"),
        (json!(["nothing", "to see"]), "nothing\nto see"),
    ];
    for tongue in Tongue::ALL {
        for skill in ["plain", "object"] {
            for (texts, expected) in &splits {
                let parts: Vec<Value> = texts.as_array().unwrap().iter().map(|text| json!({ "text": text })).collect();
                let mut message = tongue.message(json!(parts));
                message["metadata"] = json!({ "skill": skill });
                let answer = tongue.send(&server, "", json!({ "message": message })).await;
                secretive(&answer.body.to_string());
                let said = answer.task()["artifacts"][0]["parts"][0]["data"].clone();
                let input = if skill == "plain" { &said["input"] } else { &said["input"]["text"] };
                assert_eq!(input, expected, "{tongue:?} {skill}: {said}");
            }
        }
    }
    secretive(&server.task_in("completed").await.to_string());
}

/// A pointer goes through keys, and a key may be what was found.
#[tokio::test]
async fn pointers_and_names_do_not_tell_what_was_found() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "log" }]))).await;
    let source = format!(
        "export const description = 'Names what it puts out';
         export default (input, ctx) => {{ ctx.emit('for {EMAIL}', {{ artifact: 'to {EMAIL}' }}); return null; }}"
    );
    server.deploy("names.js", source, "&visibility=public").await;
    let (status, body) = server.http("", "echo", json!({ EMAIL: { "mail": EMAIL } })).await;
    assert_eq!((status, body), (200, json!({ EMAIL: { "mail": EMAIL } })));
    server.http("", "names", json!({})).await;
    let found = violations(&server, "").await;
    secretive(&serde_json::to_string(&found).unwrap());
    let places: Vec<&str> = found.iter().map(|one| one["pointer"].as_str().unwrap()).collect();
    for place in ["/[EMAIL]", "/[EMAIL]/mail", "/artifacts/echo-result/[EMAIL]/mail", "/artifacts/to [EMAIL]"] {
        assert!(places.contains(&place), "{place}: {places:?}");
    }
}

/// Names, codes and schemas are texts of the function too.
#[tokio::test]
async fn names_codes_and_schemas_are_output() {
    let server = TestServer::start().await;
    let source = format!(
        "export const description = 'Talks';
         export default function (input, ctx) {{
           if (input.kind === 'throw') {{ const error = new Error('no'); error.code = 'no {EMAIL}'; throw error; }}
           if (input.kind === 'ask') return ctx.needInput('who?', {{ schema: {{ type: 'string', default: '{EMAIL}' }} }});
           ctx.emit('x', {{ artifact: '{EMAIL}' }});
           return null;
         }}"
    );
    server.deploy("talk.js", source, "&visibility=public").await;
    for (action, holds) in [("redact", false), ("block", true)] {
        set(&server, "", checks(json!([{ "type": "pii", "action": action, "target": "output" }]))).await;
        for kind in ["throw", "ask", "name"] {
            let message = Tongue::V1.call("talk", json!({ "kind": kind }));
            let events = Tongue::V1.stream(&server, "", json!({ "message": message })).await.all().await;
            let text = events.iter().map(|told| told.body.to_string()).collect::<String>();
            secretive(&text);
            let id = events[0].body["id"].as_str().unwrap_or_else(|| panic!("{}", events[0].body)).to_owned();
            let task = server.task(&id).await;
            secretive(&task.to_string());
            assert_eq!(task["failure"]["reason"] == "blocked", holds, "{kind}: {task}");
            assert_eq!(task.to_string().contains("[EMAIL_1]"), !holds, "{kind}: {task}");
        }
    }
}

/// One byte that is no text does not make a file of texts unreadable.
#[tokio::test]
async fn file_that_is_not_quite_utf8_is_scanned_and_redacted_only_with_fail_open() {
    let broken = [b"caf\xe9: ".as_slice(), EMAIL.as_bytes()].concat();
    let closed = json!({ "type": "pii", "action": "redact", "target": "input" });
    let mut open = closed.clone();
    open["on_error"] = json!("fail_open");
    let server = guarded(checks(json!([closed]))).await;
    let answer = send_file(&server, "text/plain", &broken).await;
    assert_eq!(answer["error"]["code"], -32050, "what cannot be redacted does not pass: {answer}");
    set(&server, "", checks(json!([open]))).await;
    let answer = send_file(&server, "text/plain", &broken).await;
    let text = String::from_utf8(kept_file(&server, &answer).await).unwrap();
    assert!(text.contains("[EMAIL_1]") && !text.contains("jane"), "{text}");
}

/// The media type is the sender's word: the content decides.
#[tokio::test]
async fn text_file_is_redacted_in_its_encoding_whatever_its_media_type() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "redact", "target": "input" }]))).await;
    let wide = |mark: &str| format!("{mark}{EMAIL}").encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>();
    for media_type in ["text/plain", "Text/Plain", "application/toml", "image/svg+xml", "image/png"] {
        for (bytes, is_wide) in [(EMAIL.as_bytes().to_vec(), false), (wide("\u{feff}"), true), (wide(""), true)] {
            let answer = send_file(&server, media_type, &bytes).await;
            let kept = kept_file(&server, &answer).await;
            let narrow = if is_wide { kept.into_iter().filter(u8::is_ascii_graphic).collect() } else { kept };
            let text = String::from_utf8_lossy(&narrow).into_owned();
            assert!(text.contains("[EMAIL_1]") && !text.contains("jane"), "{media_type}: {text}");
        }
    }
}

#[tokio::test]
async fn binary_file_passes_unchanged_and_unreadable_base64_is_decided_by_on_error() {
    let policy = |on_error: &str| checks(json!([{ "type": "pii", "action": "block", "on_error": on_error }]));
    let server = guarded(policy("fail_closed")).await;
    let picture = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\0\x01\0\0\0\x01\x08\x06\0\0\0\x1f\x15\xc4\x89".repeat(8);
    let answer = send_file(&server, "image/png", &picture).await;
    assert_eq!(kept_file(&server, &answer).await, picture);
    let source = "export const description = 'returns a file'; export default (input, ctx) => ctx.content([{ \
                  type: 'resource', resource: { uri: 'file:///f', mimeType: 'image/png', blob: '%%%' } }]);";
    server.deploy("broken.js", source.to_owned(), "&visibility=public").await;
    for (on_error, blocked) in [("fail_closed", true), ("fail_open", false)] {
        set(&server, "", policy(on_error)).await;
        let (status, answer) = server.http("", "broken", json!({})).await;
        assert_eq!(status == 403, blocked, "{on_error}: {status} {answer}");
    }
}

async fn send_file(server: &TestServer, media_type: &str, bytes: &[u8]) -> Value {
    let part = json!({ "raw": STANDARD.encode(bytes), "mediaType": media_type });
    let params = json!({ "message": Tongue::V1.message(json!([part])) });
    Tongue::V1.send(server, "", params).await.body
}

/// The file of the message, as it is stored with the task.
async fn kept_file(server: &TestServer, answer: &Value) -> Vec<u8> {
    let task = server.task(answer["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{answer}"))).await;
    let block = &task["history"][0]["content"][0];
    let payload = block["resource"]["blob"].as_str().or_else(|| block["data"].as_str());
    STANDARD.decode(payload.unwrap_or_else(|| panic!("{task}"))).unwrap()
}

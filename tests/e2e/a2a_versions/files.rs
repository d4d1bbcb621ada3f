//! Parts of every kind, to the function and back.

use serde_json::{Value, json};

use super::{probe, started};
use crate::harness::Tongue;

fn parts() -> Value {
    json!([
        { "text": "look at these", "metadata": { "lang": "en" } },
        { "raw": "aGVsbG8=", "filename": "hello.txt", "mediaType": "text/plain" },
        { "raw": "iVBORw0KGgo=", "filename": "dot.png", "mediaType": "image/png" },
        { "raw": "UklGRg==", "mediaType": "audio/wav" },
        { "url": "https://example.com/a.pdf", "filename": "a.pdf", "mediaType": "application/pdf" },
        { "url": "https://example.com/b" },
        { "data": { "do": "conversation" }, "metadata": { "mine": [1] } },
    ])
}

#[tokio::test]
async fn all_parts_reach_the_function_and_come_back_in_the_history() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let mut message = tongue.message(parts());
        message["metadata"] = json!({ "skill": "probe" });
        let answer = tongue.send(&server, "", json!({ "message": message })).await;
        assert_eq!(answer.state(), "completed", "{answer:?}");
        let seen = answer.task()["artifacts"][0]["parts"][0]["data"]["message"]["content"].clone();
        let kinds: Vec<&str> = seen.as_array().unwrap().iter().map(|block| block["type"].as_str().unwrap()).collect();
        assert_eq!(kinds, ["text", "resource", "image", "audio", "resource_link", "resource_link", "data"]);
        assert_eq!((&seen[1]["resource"]["blob"], &seen[1]["name"]), (&json!("aGVsbG8="), &json!("hello.txt")));
        assert_eq!((&seen[4]["uri"], &seen[4]["name"]), (&json!("https://example.com/a.pdf"), &json!("a.pdf")));
        assert_eq!(answer.task()["history"][0]["parts"], message["parts"], "{tongue:?}");
        // In another version, the same parts in its own words.
        for other in Tongue::ALL {
            let got = other.get(&server, "", json!({ "id": answer.id() })).await;
            let expected = &other.message(parts())["parts"];
            let history = got.result()["history"][0]["parts"].clone();
            assert_eq!(history, *expected, "{tongue:?} read in {other:?}");
        }
    }
}

#[tokio::test]
async fn artifacts_of_every_kind_come_back() {
    let server = started().await;
    let blocks = json!([
        { "type": "text", "text": "a report" },
        { "type": "data", "data": { "rows": 3 } },
        { "type": "data", "data": [1, 2] },
        { "type": "image", "data": "iVBORw0KGgo=", "mimeType": "image/png", "name": "dot.png" },
        { "type": "resource_link", "uri": "https://example.com/a", "name": "a", "mimeType": "text/html" },
        { "type": "resource", "resource": { "uri": "file:///tmp/note.txt", "mimeType": "text/plain", "text": "note" } },
        { "type": "tool_use", "id": "t", "name": "secret-tool", "input": {} },
    ]);
    for tongue in Tongue::ALL {
        let answer = tongue.send(&server, "", probe(tongue, json!({ "do": "content", "blocks": blocks }))).await;
        let parts = answer.task()["artifacts"][0]["parts"].clone();
        assert!(!parts.to_string().contains("secret-tool"), "traces are the owner's: {parts}");
        let expected = json!([
            { "text": "a report" },
            { "data": { "rows": 3 } },
            { "data": [1, 2] },
            { "raw": "iVBORw0KGgo=", "filename": "dot.png", "mediaType": "image/png" },
            { "url": "https://example.com/a", "filename": "a", "mediaType": "text/html" },
            { "raw": "bm90ZQ==", "filename": "note.txt", "mediaType": "text/plain",
              "metadata": { "uri": "file:///tmp/note.txt" } },
        ]);
        let mut expected = tongue.message(expected)["parts"].clone();
        if tongue == Tongue::V03 {
            // A data part of 0.3 is an object: what is none is wrapped, as the official libraries do it.
            expected[2] =
                json!({ "kind": "data", "data": { "value": [1, 2] }, "metadata": { "data_part_compat": true } });
        }
        assert_eq!(parts, expected, "{tongue:?}");
    }
}

#[tokio::test]
async fn a_value_that_is_no_object_survives_in_03() {
    let server = started().await;
    let value = Tongue::V03.send(&server, "", probe(Tongue::V03, json!({ "do": "echo", "value": [1, null] }))).await;
    let part = value.task()["artifacts"][0]["parts"][0].clone();
    assert_eq!(
        part,
        json!({ "kind": "data", "data": { "value": [1, null] }, "metadata": { "data_part_compat": true } })
    );
    // Sent back, it is the value again.
    server.deploy_echo().await;
    let mut message = Tongue::V03.text("x");
    message["parts"] = json!([part]);
    message["metadata"] = json!({ "skill": "echo" });
    let again = Tongue::V03.send(&server, "", json!({ "message": message })).await;
    assert_eq!(again.task()["artifacts"][0]["parts"][0], part);
}

#[tokio::test]
async fn bytes_may_be_written_in_any_base64() {
    let server = started().await;
    for bytes in ["-_-_", "+/+/", "aGk", "aGk="] {
        let mut message = Tongue::V1.message(json!([{ "raw": bytes }, { "data": { "do": "conversation" } }]));
        message["metadata"] = json!({ "skill": "probe" });
        let answer = Tongue::V1.send(&server, "", json!({ "message": message })).await;
        let kept = answer.task()["history"][0]["parts"][0]["raw"].as_str().unwrap();
        assert_eq!(kept.len() % 4, 0, "{kept}");
        assert!(!kept.contains(['-', '_']), "{kept}");
    }
}

#[tokio::test]
async fn a_media_type_that_nobody_knows_is_not_supported() {
    let server = started().await;
    for tongue in Tongue::ALL {
        for kind in ["application/x-unsupported-type", "no type"] {
            for part in [
                json!({ "raw": "aGk=", "mediaType": kind }),
                json!({ "url": "https://example.com", "mediaType": kind }),
            ] {
                let mut message = tongue.message(json!([part, { "data": { "do": "conversation" } }]));
                message["metadata"] = json!({ "skill": "probe" });
                let answer = tongue.send(&server, "", json!({ "message": message })).await;
                assert_eq!(answer.code(), -32005, "{tongue:?} {kind}");
            }
        }
    }
}

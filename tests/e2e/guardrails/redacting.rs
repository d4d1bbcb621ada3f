//! Redaction: what a function gets and what a caller gets, with the same placeholder for the same value.

use serde_json::{Value, json};

use super::{CARD, EMAIL, checks, guarded, set};
use crate::harness::{TestServer, Tongue};
use crate::mcp::{Client, Modern};

fn redact(side: &str) -> Value {
    checks(json!([{ "type": "pii", "action": "redact", "target": side }]))
}

#[tokio::test]
async fn a_function_never_sees_what_is_redacted() {
    let server = guarded(redact("input")).await;
    let input =
        json!({ "a": format!("write to {EMAIL}"), "b": EMAIL, "other": "max@example.org", "n": 4111111111111111_u64 });
    let expected = json!({ "a": "write to [EMAIL_1]", "b": "[EMAIL_1]", "other": "[EMAIL_2]", "n": 0 });
    let (status, body) = server.http("", "echo", input.clone()).await;
    assert_eq!((status, &body), (200, &expected));
    for tongue in Tongue::ALL {
        let answer = tongue.send(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await;
        let text = answer.body.to_string();
        assert!(!text.contains("jane") && !text.contains("4111"), "neither history nor artifacts: {text}");
        assert!(text.contains("[EMAIL_1]") && text.contains("[EMAIL_2]"), "{text}");
    }
    let task = server.task_in("completed").await;
    assert!(!task.to_string().contains("jane"), "what is kept: {task}");
}

#[tokio::test]
async fn results_are_redacted_in_every_form_they_leave_in() {
    let server = guarded(redact("output")).await;
    let input = json!({ "card": CARD, "list": [EMAIL, { EMAIL: true }] });
    let expected = json!({ "card": "[CARD_1]", "list": ["[EMAIL_1]", { "[EMAIL_1]": true }] });
    let (_, body) = server.http("", "echo", input.clone()).await;
    assert_eq!(body, expected);
    let call = json!({ "name": "echo", "arguments": input });
    let result = Client::open(&server, json!({})).await.result("tools/call", call.clone()).await;
    assert_eq!(result["structuredContent"], expected);
    assert!(!result.to_string().contains("jane"), "{result}");
    let result = Modern::new(&server, json!({})).result("tools/call", call).await;
    assert_eq!(result["structuredContent"], expected);
}

/// A task's later turns go on counting where the earlier ones stopped.
#[tokio::test]
async fn placeholders_stay_the_same_throughout_a_task() {
    let server = TestServer::start().await;
    let source = "export const description = 'Asks once';
        export default (input, ctx) => ctx.turn === 1 ? ctx.needInput('and?', { state: input }) : [ctx.state, input];";
    server.deploy("asks.js", source, "&visibility=public").await;
    set(&server, "", redact("both")).await;
    let tongue = Tongue::V1;
    let first = tongue.send(&server, "", json!({ "message": tongue.call("asks", json!({ "x": EMAIL })) })).await.body;
    let id = first["result"]["task"]["id"].as_str().unwrap_or_else(|| panic!("{first}"));
    let answer = tongue.answer(id, json!({ "x": "max@example.org", "y": EMAIL }));
    let second = tongue.send(&server, "", json!({ "message": answer })).await.body;
    let result = &second["result"]["task"]["artifacts"][0]["parts"][0]["data"];
    assert_eq!(result, &json!([{ "x": "[EMAIL_1]" }, { "x": "[EMAIL_2]", "y": "[EMAIL_1]" }]), "{second}");
}

#[tokio::test]
async fn warnings_travel_with_the_answer_and_change_nothing() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "warn" }]))).await;
    let input = json!({ "to": EMAIL });
    let url = format!("{}/echo", server.tenant_url());
    let response = server.client.post(url).json(&input).send().await.unwrap();
    assert_eq!(response.headers()["x-guardrail-warnings"], "pii.email");
    assert_eq!(response.json::<Value>().await.unwrap(), input);

    let answer = server.rpc("tasks/send", json!({ "skill": "echo", "message": input })).await;
    assert_eq!(answer["result"]["metadata"]["guardrailWarnings"], json!(["pii.email"]), "{answer}");
    let id = answer["result"]["id"].as_str().unwrap();
    let again = server.rpc("tasks/get", json!({ "id": id })).await;
    assert_eq!(again["result"]["metadata"]["guardrailWarnings"], json!(["pii.email"]), "{again}");
    for tongue in Tongue::ALL {
        let events = tongue.stream(&server, "", json!({ "message": tongue.call("echo", input.clone()) })).await;
        let last = events.all().await.last().unwrap().body.to_string();
        assert!(last.contains(r#""guardrailWarnings":["pii.email"]"#), "{tongue:?}: {last}");
    }
    let result = Client::open(&server, json!({})).await.call("echo", input).await;
    assert_eq!(result["_meta"]["pleat/guardrailWarnings"], json!(["pii.email"]));
}

/// For clients that do not look into answers: known when the answer begins, in every way of asking.
#[tokio::test]
async fn warnings_of_inputs_are_in_the_header_of_every_answer() {
    let server = guarded(checks(json!([{ "type": "pii", "action": "warn", "target": "input", "name": "mail" }]))).await;
    let input = json!({ "to": EMAIL });
    let rules = async |request: reqwest::RequestBuilder| {
        let response = request.send().await.unwrap();
        assert_eq!(response.status(), 200);
        response.headers().get("x-guardrail-warnings").map(|rules| rules.to_str().unwrap().to_owned())
    };
    let mail = Some("mail".to_owned());
    let http = || server.client.post(format!("{}/echo", server.tenant_url())).json(&input);
    assert_eq!(rules(http()).await, mail);
    assert_eq!(rules(http().header("accept", "text/event-stream")).await, mail, "a stream");

    let fold = json!({ "skill": "echo", "message": input });
    let sent = server.rpc("tasks/send", fold.clone()).await;
    let get = json!({ "id": sent["result"]["id"] });
    for (method, params) in [("tasks/send", &fold), ("tasks/sendSubscribe", &fold), ("tasks/get", &get)] {
        assert_eq!(rules(Tongue::V03.rpc(&server, method, params)).await, mail, "{method}");
    }
    for (tongue, methods) in [
        (Tongue::V03, ["message/send", "message/stream", "tasks/get"]),
        (Tongue::V1, ["SendMessage", "SendStreamingMessage", "GetTask"]),
    ] {
        let [send, stream, got] = methods;
        let message = || json!({ "message": tongue.call("echo", input.clone()) });
        assert_eq!(rules(tongue.rpc(&server, send, &message())).await, mail, "{send}");
        assert_eq!(rules(tongue.rpc(&server, stream, &message())).await, mail, "{stream}");
        assert_eq!(rules(tongue.rpc(&server, got, &get)).await, mail, "{got}");
    }

    let call =
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": { "name": "echo", "arguments": input } });
    let session = Client::open(&server, json!({})).await;
    assert_eq!(rules(session.post(call)).await, mail, "a tool in a session");
    assert_eq!(rules(http().json(&json!("nothing"))).await, None);
}

/// What is beside something that is redacted stays as it was written.
#[tokio::test]
async fn numbers_that_no_machine_has_stay_what_they_are() {
    let server = TestServer::start().await;
    server.deploy_echo().await;
    set(&server, "", redact("input")).await;
    let big = "123456789012345678901234567890123456789012345678901234567890";
    let sent = format!(
        r#"{{ "a": [{big}, 1.10, {{ "{EMAIL}": -0.0 }}], "b": "{EMAIL}", "c" : {{ "d": {big}, "e": "\u00e9" }} }}"#
    );
    let answer = server.post("/echo", "application/json", sent).send().await.unwrap().text().await.unwrap();
    let expected =
        format!(r#"{{"a":[{big},1.10,{{"[EMAIL_1]":-0.0}}],"b":"[EMAIL_1]","c":{{ "d": {big}, "e": "\u00e9" }}}}"#);
    assert_eq!(answer, expected);
}

//! What is sent again under the same key: the same task, the same stream, and nothing else.

use pleat_a2a::MESSAGE_ONCE;
use serde_json::{Value, json};

use super::{ask, started};
use crate::harness::{TestServer, Told, Tongue};

/// A message that counts once, by its id.
fn once(mut message: Value) -> Value {
    message["extensions"] = json!([MESSAGE_ONCE]);
    json!({ "message": message })
}

async fn streamed(server: &TestServer, tongue: Tongue, params: &Value) -> Vec<Told> {
    tongue.stream(server, &server.invoke, params.clone()).await.all().await
}

fn words(told: &[Told]) -> Vec<(u32, String)> {
    told.iter().map(|told| (told.id, told.word())).collect()
}

#[tokio::test]
async fn a_stream_that_is_asked_for_again_tells_its_own_turn_again() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let beginning = once(tongue.call("probe", ask("one?")));
        let first = streamed(&server, tongue, &beginning).await;
        let id = first[0].body["id"].as_str().unwrap();
        let middle = once(tongue.answer(id, ask("two?")));
        let second = streamed(&server, tongue, &middle).await;
        let all = ["task:working", "status:working", "status:input-required"].map(str::to_owned);
        assert_eq!(words(&second), (2..).zip(all).collect::<Vec<_>>(), "{tongue:?}");
        assert_eq!(second[0].body["history"].as_array().unwrap().len(), 3, "{tongue:?}");
        assert_eq!(streamed(&server, tongue, &middle).await, second, "{tongue:?}: while it waits");
        assert_eq!(words(&streamed(&server, tongue, &beginning).await), words(&first), "{tongue:?}");
        // While the next turn runs, and when the task is over.
        let sleep = once(tongue.answer(id, json!({ "do": "emit", "chunks": 8, "delay_ms": 100 })));
        let mut last = tongue.stream(&server, &server.invoke, sleep.clone()).await;
        let mut third = vec![last.next().await.unwrap(), last.next().await.unwrap()];
        assert_eq!(streamed(&server, tongue, &middle).await, second, "{tongue:?}: while the task goes on");
        let joined = streamed(&server, tongue, &sleep).await;
        third.extend(last.all().await);
        assert_eq!(joined, third, "{tongue:?}: while it runs");
        assert_eq!(streamed(&server, tongue, &sleep).await, third, "{tongue:?}: when it is over");
        assert_eq!(streamed(&server, tongue, &middle).await, second, "{tongue:?}: when the task is over");
        assert_eq!(words(&streamed(&server, tongue, &beginning).await), words(&first), "{tongue:?}");
        assert_eq!(server.task(id).await["turn"], 3, "{tongue:?}");
    }
}

#[tokio::test]
async fn the_documented_family_tells_its_own_turn_again_too() {
    let server = started().await;
    let call = |id: Option<&Value>, input: Value| json!({ "id": id, "skill": "probe", "message": input });
    let stream = async |key: &str, params: &Value| {
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/sendSubscribe", "params": params });
        let request = server.client.post(format!("{}/_a2a/", server.tenant_url())).json(&body);
        let request = request.bearer_auth(&server.invoke).header("idempotency-key", key);
        crate::harness::Stream::of(request.send().await.unwrap()).all().await
    };
    let first = stream("one", &call(None, ask("one?"))).await;
    let id = &first[0].data["result"]["id"];
    let params = call(Some(id), json!({ "do": "emit", "chunks": 2, "delay_ms": 0 }));
    let second = stream("two", &params).await;
    assert_eq!(second[0].id, Some(3), "{second:?}");
    assert_eq!(stream("two", &params).await, second);
    assert_eq!(stream("one", &call(None, ask("one?"))).await, first);
}

#[tokio::test]
async fn another_file_is_another_message() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let parts = |input: Value, raw: &str| json!([{ "data": input }, { "raw": raw, "filename": "a.txt", "mediaType": "text/plain" }]);
        let mut message = tongue.message(parts(ask("more?"), "aGk="));
        message["metadata"] = json!({ "skill": "probe" });
        let first = tongue.send(&server, &server.invoke, once(message.clone())).await;
        let again = tongue.send(&server, &server.invoke, once(message.clone())).await;
        assert_eq!(again.id(), first.id(), "{tongue:?}");
        let mut other = message.clone();
        other["parts"] = tongue.message(parts(ask("more?"), "aG8="))["parts"].clone();
        assert_eq!(tongue.send(&server, &server.invoke, once(other)).await.code(), -32602, "{tongue:?}");

        let done = json!({ "do": "echo", "value": 1 });
        let mut answer = tongue.message(parts(done.clone(), "aGk="));
        answer["taskId"] = json!(first.id());
        assert_eq!(tongue.send(&server, &server.invoke, once(answer.clone())).await.state(), "completed");
        assert_eq!(tongue.send(&server, &server.invoke, once(answer.clone())).await.state(), "completed");
        answer["parts"] = tongue.message(parts(done, "aG8="))["parts"].clone();
        assert_eq!(tongue.send(&server, &server.invoke, once(answer)).await.code(), -32602, "{tongue:?}");
    }
}

/// What was asked is over by then, and with it how the answer was read.
#[tokio::test]
async fn an_answer_is_known_again_when_the_question_is_gone() {
    let server = started().await;
    server.deploy_echo().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, &server.invoke, json!({ "message": tongue.text("hello") })).await;
        assert_eq!(asked.state(), "input-required", "{tongue:?}");
        let mut answer = tongue.text("echo");
        answer["taskId"] = json!(asked.id());
        let done = tongue.send(&server, &server.invoke, once(answer.clone())).await;
        assert_eq!(done.state(), "completed", "{tongue:?}");
        let again = tongue.send(&server, &server.invoke, once(answer)).await;
        assert_eq!(again.task(), done.task(), "{tongue:?}");
    }
}

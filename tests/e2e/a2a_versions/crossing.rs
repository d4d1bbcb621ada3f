//! One task in all words: made in one version, it is read, followed, continued and canceled in every other.

use serde_json::{Value, json};

use super::{ask, probe, started};
use crate::harness::tongue::state_of;
use crate::harness::{TestServer, Told, Tongue};

/// Makes a task in each version, 0.1 included.
async fn made(server: &TestServer, input: Value) -> Vec<String> {
    let mut ids = Vec::new();
    for tongue in Tongue::ALL {
        ids.push(tongue.send(server, "", probe(tongue, input.clone())).await.id());
    }
    let legacy = server.rpc("tasks/send", json!({ "skill": "probe", "message": input })).await;
    ids.push(legacy["result"]["id"].as_str().unwrap().to_owned());
    ids
}

#[tokio::test]
async fn a_task_is_read_in_every_version() {
    let server = started().await;
    for id in made(&server, json!({ "do": "echo", "value": { "n": 1 } })).await {
        for tongue in [Tongue::V1, Tongue::Rest] {
            let got = tongue.get(&server, "", json!({ "id": id })).await;
            assert_eq!(state_of(got.result()), "completed");
            assert_eq!(got.result()["artifacts"][0]["parts"][0]["data"], json!({ "n": 1 }));
        }
        let got = server.rpc("tasks/get", json!({ "id": id })).await;
        let part = &got["result"]["artifacts"][0]["parts"][0];
        assert_eq!((got["result"]["kind"].as_str(), got["result"]["id"].as_str()), (Some("task"), Some(id.as_str())));
        assert!(part["kind"] == "data" && part["data"]["n"] == 1 || part["type"] == "text", "{got}");
    }
}

#[tokio::test]
async fn a_task_is_continued_and_canceled_in_every_version() {
    let server = started().await;
    for tongue in Tongue::ALL {
        for id in made(&server, ask("more?")).await {
            let answer = json!({ "message": tongue.answer(&id, json!({ "do": "echo", "value": "x" })) });
            assert_eq!(tongue.send(&server, "", answer).await.state(), "completed", "{tongue:?}");
        }
        for id in made(&server, ask("more?")).await {
            let canceled = tongue.cancel(&server, "", &id).await;
            assert_eq!(state_of(canceled.result()), "canceled", "{tongue:?}");
        }
    }
    for id in made(&server, ask("more?")).await {
        let done = server.rpc("tasks/send", json!({ "id": id, "message": { "do": "echo", "value": "x" } })).await;
        assert_eq!(done["result"]["status"]["state"], "completed", "{done}");
    }
}

/// A reader that changes its version goes on behind the same event.
#[tokio::test]
async fn a_stream_is_resumed_in_another_version() {
    let server = started().await;
    let emit = json!({ "do": "emit", "chunks": 5, "delay_ms": 0 });
    let told = Tongue::V1.stream(&server, "", probe(Tongue::V1, emit)).await.all().await;
    let id = told[0].body["id"].as_str().unwrap();
    let words = |told: &[Told]| -> Vec<(u32, String)> { told.iter().map(|told| (told.id, told.word())).collect() };
    for tongue in Tongue::ALL {
        for seen in [0, 2, 4] {
            let rest = tongue.subscribe(&server, "", id, Some(seen)).await.all().await;
            assert_eq!(words(&rest), words(&told[seen as usize + 1..]), "{tongue:?} behind {seen}");
        }
    }
    let legacy =
        server.rpc("tasks/send", json!({ "skill": "probe", "message": { "do": "emit", "chunks": 2, "delay_ms": 0 } }));
    let id = legacy.await["result"]["id"].as_str().unwrap().to_owned();
    let old = server.rpc_stream("", "tasks/resubscribe", json!({ "id": id }), None).await.all().await;
    let new = Tongue::V1.subscribe(&server, "", &id, Some(0)).await.all().await;
    let numbers: Vec<u32> = old.iter().map(|frame| frame.id.unwrap()).collect();
    assert_eq!(new.iter().map(|told| told.id).collect::<Vec<_>>(), numbers);
}

/// The owner sees which door each came by, and all of them in one list.
#[tokio::test]
async fn the_owner_sees_the_door_of_each() {
    let server = started().await;
    let ids = made(&server, json!({ "do": "echo", "value": 1 })).await;
    for (id, door) in ids.iter().zip(["a2a/0.3", "a2a/1.0", "a2a/1.0", "a2a/0.1"]) {
        assert_eq!(server.task(id).await["door"], door);
    }
}

/// A 0.1 client's own id is an alias: later versions show ours, and find the task by either.
#[tokio::test]
async fn an_id_that_a_client_chose_is_found_in_every_version() {
    let server = started().await;
    let call = json!({ "id": "my-order", "skill": "probe", "message": { "do": "echo", "value": 1 } });
    let (_, made) = server.rpc_as(&server.invoke, "tasks/send", call).await;
    assert_eq!(made["result"]["id"], "my-order");
    let ours = Tongue::V1.get(&server, &server.invoke, json!({ "id": "my-order" })).await;
    let id = ours.result()["id"].as_str().unwrap();
    assert!(id.starts_with("task_"), "{id}");
    let (_, again) = server.rpc_as(&server.invoke, "tasks/get", json!({ "id": id })).await;
    assert_eq!(again["result"]["id"], "my-order", "in the words that it was made in");
}

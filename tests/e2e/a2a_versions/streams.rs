//! Streams: they begin with the task, tell everything once and in order, and end for nobody but their reader.

use serde_json::json;

use super::{ask, probe, started};
use crate::harness::tongue::state_of;
use crate::harness::{Told, Tongue};

fn words(told: &[Told]) -> Vec<String> {
    told.iter().map(Told::word).collect()
}

#[tokio::test]
async fn a_stream_begins_with_the_task_and_ends_with_its_end() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let emit = probe(tongue, json!({ "do": "emit", "chunks": 2, "delay_ms": 60 }));
        let told = tongue.stream(&server, "", emit).await.all().await;
        let kinds: Vec<&str> = told.iter().map(|told| told.kind).collect();
        assert_eq!(kinds[0], "task", "{tongue:?}: {told:?}");
        assert!(!kinds[1..].contains(&"task"), "{tongue:?}: {kinds:?}");
        let words = words(&told);
        assert_eq!((words[0].as_str(), words[1].as_str()), ("task:submitted", "status:working"));
        assert_eq!(words.last().unwrap(), "status:completed");
        assert!(words.contains(&"chunk 1".to_owned()) && words.contains(&"done".to_owned()), "{words:?}");
        let ids: Vec<u32> = told.iter().map(|told| told.id).collect();
        assert_eq!(ids, (0..u32::try_from(ids.len()).unwrap()).collect::<Vec<_>>(), "{tongue:?}");
        let finals = told.iter().filter(|told| told.body.get("final").is_some_and(|last| last == true)).count();
        assert_eq!(finals, usize::from(tongue == Tongue::V03), "{tongue:?}");
        assert_eq!(told[0].body["history"].as_array().unwrap().len(), 1, "{tongue:?}");
    }
}

#[tokio::test]
async fn a_stream_of_a_turn_ends_with_the_turn_and_the_next_one_goes_on() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let first = tongue.stream(&server, "", probe(tongue, ask("more?"))).await.all().await;
        assert_eq!(words(&first), ["task:submitted", "status:working", "status:input-required"], "{tongue:?}");
        let id = first[0].body["id"].as_str().unwrap();
        let answer = json!({ "message": tongue.answer(id, json!({ "do": "echo", "value": "x" })) });
        let second = tongue.stream(&server, "", answer).await.all().await;
        assert_eq!(words(&second), ["task:working", "status:working", "x", "status:completed"], "{tongue:?}");
        let ids: Vec<u32> = second.iter().map(|told| told.id).collect();
        assert_eq!(ids, [2, 3, 4, 5], "{tongue:?}");
        assert_eq!(second[0].body["history"].as_array().unwrap().len(), 3);
    }
}

#[tokio::test]
async fn who_comes_late_gets_the_task_as_it_is_and_then_what_follows() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let emit = probe(tongue, json!({ "do": "emit", "chunks": 6, "delay_ms": 80 }));
        let mut first = tongue.stream(&server, "", emit).await;
        let id = first.next().await.unwrap().body["id"].as_str().unwrap().to_owned();
        let mut seen = String::new();
        while !seen.contains("chunk 2") {
            let told = first.next().await.unwrap();
            if told.kind == "artifact" {
                seen += &told.word();
            }
        }
        let late = tongue.subscribe(&server, "", &id, None).await.all().await;
        assert_eq!(late[0].kind, "task", "{tongue:?}");
        assert_eq!(state_of(&late[0].body), "working");
        let so_far = late[0].body["artifacts"][0]["parts"][0]["text"].as_str().unwrap().to_owned();
        assert!(so_far.starts_with("chunk 1chunk 2"), "{tongue:?}: {so_far}");
        let rest = late[1..].iter().filter(|told| told.body["artifact"]["name"] == "probe-stream");
        let whole = rest.fold(so_far, |text, told| {
            assert_eq!(told.body["append"], true, "{tongue:?}");
            text + &told.word()
        });
        assert_eq!(whole, (1..=6).map(|chunk| format!("chunk {chunk}")).collect::<String>(), "{tongue:?}");
        assert_eq!(late.last().unwrap().word(), "status:completed");
        // Nothing was missed in between, and nothing told twice.
        assert!(late.windows(2).all(|pair| pair[1].id == pair[0].id + 1), "{tongue:?}: {late:?}");
    }
}

#[tokio::test]
async fn a_task_that_runs_is_read_with_what_it_has_said_so_far() {
    let server = started().await;
    let emit = json!({ "do": "emit", "chunks": 40, "delay_ms": 100 });
    for tongue in Tongue::ALL {
        let mut stream = tongue.stream(&server, "", probe(tongue, emit.clone())).await;
        let id = stream.next().await.unwrap().body["id"].as_str().unwrap().to_owned();
        while stream.next().await.unwrap().kind != "artifact" {}
        let got = tongue.get(&server, "", json!({ "id": id, "historyLength": 1 })).await;
        assert_eq!(state_of(got.result()), "working", "{tongue:?}");
        let [artifact] = got.result()["artifacts"].as_array().unwrap().as_slice() else { panic!("{got:?}") };
        assert!(artifact["parts"][0]["text"].as_str().unwrap().starts_with("chunk 1"), "{tongue:?}: {artifact}");
        assert_eq!(got.result()["history"].as_array().unwrap().len(), 1, "{tongue:?}");
        tongue.cancel(&server, "", &id).await;
    }
    let call = json!({ "skill": "probe", "message": emit });
    let mut stream = server.rpc_stream("", "tasks/sendSubscribe", call, None).await;
    let id = stream.next().await.unwrap().data["result"]["id"].clone();
    while stream.next().await.unwrap().data["result"].get("artifact").is_none() {}
    let got = server.rpc("tasks/get", json!({ "id": id })).await;
    assert!(got["result"]["artifacts"][0]["parts"][0]["text"].as_str().unwrap().starts_with("chunk 1"), "{got}");
    server.rpc("tasks/cancel", json!({ "id": id })).await;
}

#[tokio::test]
async fn all_readers_are_told_the_same_and_none_stops_another() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let emit = probe(tongue, json!({ "do": "emit", "chunks": 8, "delay_ms": 50 }));
        let mut first = tongue.stream(&server, "", emit).await;
        let id = first.next().await.unwrap().body["id"].as_str().unwrap().to_owned();
        let (one, other) =
            tokio::join!(tongue.subscribe(&server, "", &id, Some(0)), tongue.subscribe(&server, "", &id, Some(0)));
        let mut leaving = tongue.subscribe(&server, "", &id, None).await;
        assert_eq!(leaving.next().await.unwrap().kind, "task");
        drop((first, leaving));
        let (one, other) = tokio::join!(one.all(), other.all());
        assert_eq!(one, other, "{tongue:?}");
        assert_eq!(one.last().unwrap().word(), "status:completed");
        assert_eq!(one[0].id, 1, "{tongue:?}");
    }
}

/// In 1.0, who follows a task that waits follows it to its end; in 0.3, to the end of its next turn.
#[tokio::test]
async fn a_task_that_waits_is_followed_through_the_answer() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", probe(tongue, ask("more?"))).await;
        let mut readers = Vec::new();
        for _ in 0..2 {
            let mut reader = tongue.subscribe(&server, "", &asked.id(), None).await;
            let first = reader.next().await.unwrap();
            assert_eq!(first.word(), "task:input-required", "{tongue:?}");
            readers.push(reader);
        }
        let started = std::time::Instant::now();
        let answer = json!({ "message": tongue.answer(&asked.id(), json!({ "do": "echo", "value": "x" })) });
        assert_eq!(tongue.send(&server, "", answer).await.state(), "completed");
        for reader in readers {
            let told = reader.all().await;
            assert_eq!(words(&told), ["status:working", "x", "status:completed"], "{tongue:?}");
        }
        assert!(started.elapsed() < std::time::Duration::from_secs(3), "they were woken, not left to look");
    }
}

#[tokio::test]
async fn who_follows_a_task_that_waits_hears_that_it_is_canceled() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let asked = tongue.send(&server, "", probe(tongue, ask("more?"))).await;
        let mut reader = tongue.subscribe(&server, "", &asked.id(), None).await;
        reader.next().await.unwrap();
        tongue.cancel(&server, "", &asked.id()).await;
        assert_eq!(words(&reader.all().await), ["status:canceled"], "{tongue:?}");
    }
}

#[tokio::test]
async fn a_task_that_is_over_is_told_again_to_who_names_the_last_event() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let told = tongue.stream(&server, "", probe(tongue, json!({ "do": "emit", "chunks": 3, "delay_ms": 0 }))).await;
        let told = told.all().await;
        let id = told[0].body["id"].as_str().unwrap();
        for seen in 0..told.len() {
            let again = tongue.subscribe(&server, "", id, Some(u32::try_from(seen).unwrap())).await.all().await;
            assert_eq!(again, told[seen + 1..], "{tongue:?} behind {seen}");
        }
        let without = tongue.subscribe(&server, "", id, None).await;
        if tongue == Tongue::V03 {
            assert_eq!(words(&without.all().await), ["task:completed"]);
        } else {
            assert_eq!(without.refused().await.code(), -32004, "{tongue:?}");
        }
    }
}

/// A task that was not started as a stream has one all the same.
#[tokio::test]
async fn a_task_of_any_beginning_can_be_followed() {
    let server = started().await;
    for tongue in Tongue::ALL {
        let sent = tongue.send(&server, "", probe(tongue, json!({ "do": "echo", "value": "x" }))).await;
        let told = tongue.subscribe(&server, "", &sent.id(), Some(0)).await.all().await;
        assert_eq!(words(&told), ["status:working", "x", "status:completed"], "{tongue:?}");
    }
    let response = server.client.post(format!("{}/probe", server.tenant_url()));
    let response = response.json(&json!({ "do": "echo", "value": "y" })).send().await.unwrap();
    let id = response.headers()["pleat-task-id"].to_str().unwrap().to_owned();
    for tongue in Tongue::ALL {
        let told = tongue.subscribe(&server, "", &id, Some(0)).await.all().await;
        assert_eq!(words(&told), ["status:working", "y", "status:completed"], "{tongue:?}");
    }
}

#[tokio::test]
async fn what_cannot_be_followed_is_refused_before_the_stream_begins() {
    let server = started().await;
    let fresh = pleat_domain::TaskId::new().to_string();
    for tongue in Tongue::ALL {
        let unknown = tongue.subscribe(&server, "", &fresh, None).await.refused().await;
        assert_eq!(unknown.code(), -32001, "{tongue:?}");
        let nothing = tongue.stream(&server, "", json!({ "message": {} })).await.refused().await;
        assert_eq!(nothing.code(), -32602, "{tongue:?}");
    }
}

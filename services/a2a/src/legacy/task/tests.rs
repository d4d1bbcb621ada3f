//! Tasks as they are answered, and the documented response as a part of ours.

use insta::{assert_json_snapshot, assert_snapshot};
use pleat_domain::content::Block;
use pleat_domain::ids::{ContextId, TaskId};
use pleat_domain::json;
use pleat_domain::message::Message;
use pleat_domain::name::SkillName;
use pleat_domain::principal::Caller;
use pleat_domain::task::{Artifact, Door};
use serde_json::{Value, json};
use time::macros::datetime;

use pleat_domain::failure::Reason;

use super::*;

pub(in crate::legacy) fn id() -> TaskId {
    "task_01890a5d96b87a2fb0b6f2a3c4d5e6f7".parse().unwrap()
}

fn task(state: TaskState) -> Task {
    Task {
        id: id(),
        skill: Some(SkillName::parse("weather-lookup").unwrap()),
        version: 3,
        context: ContextId::try_from("ctx-1".to_owned()).unwrap(),
        parent: None,
        step: None,
        run: None,
        caller: Caller::anonymous(),
        door: Door::A2a01,
        alias: None,
        state,
        failure: None,
        ask: None,
        guard: None,
        input: json::raw(&json!({"city": "San Francisco"})),
        history: Vec::new(),
        artifacts: Vec::new(),
        attempt: 1,
        turn: 1,
        last_seq: 0,
        cpu_us: 20,
        wall_us: 40,
        created_at: datetime!(2026-11-16 10:00 UTC),
        updated_at: datetime!(2026-11-16 10:00:00.25 UTC),
    }
}

fn completed() -> Task {
    let value = json::checked(r#"{"temp":62,"condition":"foggy"}"#.to_owned()).unwrap();
    let artifacts = vec![Artifact::of_value("weather-lookup-result", value)];
    Task { artifacts, ..task(TaskState::Completed) }
}

fn trace() -> Block {
    serde_json::from_value(json!({"type": "tool_use", "name": "secret"})).unwrap()
}

fn answer(task: &Task, history_length: Option<u32>) -> Value {
    serde_json::to_value(task_json(task, history_length)).unwrap()
}

/// One line of JSON for each.
fn lines<T: serde::Serialize>(items: &[T]) -> String {
    items.iter().map(|item| serde_json::to_string(item).unwrap()).collect::<Vec<_>>().join("\n")
}

/// Every member of `part` is in `whole`, with the same value.
fn assert_contains(whole: &Value, part: &Value, path: &str) {
    match (whole, part) {
        (Value::Object(whole), Value::Object(part)) => {
            for (key, value) in part {
                assert_contains(&whole[key], value, &format!("{path}/{key}"));
            }
        }
        (Value::Array(whole), Value::Array(part)) => {
            assert_eq!(whole.len(), part.len(), "{path}");
            for (index, value) in part.iter().enumerate() {
                assert_contains(&whole[index], value, &format!("{path}/{index}"));
            }
        }
        _ => assert_eq!(whole, part, "{path}"),
    }
}

#[test]
fn the_documented_response_is_a_part_of_ours() {
    let documented: Value = serde_json::from_str(
        r#"{
  "jsonrpc": "2.0",
  "id": "1",
  "result": {
    "id": "task_abc123",
    "status": { "state": "completed" },
    "artifacts": [
      {
        "name": "weather-lookup-result",
        "parts": [{ "type": "text", "text": "{\"temp\":62,\"condition\":\"foggy\"}" }]
      }
    ]
  }
}"#,
    )
    .unwrap();
    let task = Task { alias: Some("task_abc123".to_owned()), ..completed() };
    let body = crate::jsonrpc::response(&json::raw("1"), &task_json(&task, None));
    assert_contains(&serde_json::from_slice(&body).unwrap(), &documented, "");
}

#[test]
fn a_completed_task_has_both_shapes() {
    assert_json_snapshot!(task_json(&completed(), None), @r#"
    {
      "id": "task_01890a5d96b87a2fb0b6f2a3c4d5e6f7",
      "sessionId": "ctx-1",
      "contextId": "ctx-1",
      "kind": "task",
      "status": {
        "state": "completed",
        "timestamp": "2026-11-16T10:00:00.250Z"
      },
      "artifacts": [
        {
          "artifactId": "weather-lookup-result",
          "name": "weather-lookup-result",
          "index": 0,
          "parts": [
            {
              "type": "text",
              "kind": "text",
              "text": "{\"temp\":62,\"condition\":\"foggy\"}"
            }
          ]
        }
      ]
    }
    "#);
}

#[test]
fn a_string_is_shown_as_itself_and_blocks_one_to_one_without_traces() {
    let resource = json!({"uri": "file:///out/report.txt", "mimeType": "text/plain", "text": "hi"});
    let blocks = vec![
        trace(),
        Block::text("see"),
        Block::data(json::raw(&json!([1]))),
        serde_json::from_value(json!({"type": "resource", "resource": resource})).unwrap(),
    ];
    let artifacts = vec![
        Artifact::of_value("text", json::raw("a \"b\"")),
        Artifact::of_blocks("hidden", vec![trace()]),
        Artifact { description: Some("Files".to_owned()), ..Artifact::of_blocks("blocks", blocks) },
    ];
    let task = Task { artifacts, ..task(TaskState::Completed) };
    assert_snapshot!(lines(answer(&task, None)["artifacts"].as_array().unwrap()), @r#"
    {"artifactId":"text","name":"text","index":0,"parts":[{"type":"text","kind":"text","text":"a \"b\""}]}
    {"artifactId":"blocks","name":"blocks","description":"Files","index":2,"parts":[{"type":"text","kind":"text","text":"see"},{"type":"data","kind":"data","data":[1]},{"type":"file","kind":"file","file":{"name":"report.txt","mimeType":"text/plain","bytes":"aGk="},"metadata":{"uri":"file:///out/report.txt"}}]}
    "#);
}

#[test]
fn a_failed_task_says_why_and_keeps_the_detail() {
    let failure = Failure {
        code: Some("no_city".to_owned()),
        details: Some(json!({"private": 1})),
        ..Failure::new(Reason::FunctionError, "no such city").with_detail("at weather.js:3")
    };
    let task = Task { failure: Some(failure), alias: Some("t-1".to_owned()), ..task(TaskState::Failed) };
    let answer = answer(&task, None);
    assert!(!answer.to_string().contains("weather.js") && !answer.to_string().contains("private"));
    assert_json_snapshot!(answer, @r#"
    {
      "id": "t-1",
      "sessionId": "ctx-1",
      "contextId": "ctx-1",
      "kind": "task",
      "status": {
        "state": "failed",
        "timestamp": "2026-11-16T10:00:00.250Z",
        "message": {
          "kind": "message",
          "messageId": "t-1-1794823200250",
          "role": "agent",
          "parts": [
            {
              "type": "text",
              "kind": "text",
              "text": "no such city"
            }
          ],
          "taskId": "t-1",
          "contextId": "ctx-1"
        }
      },
      "artifacts": [],
      "metadata": {
        "failure": {
          "reason": "function_error",
          "code": "no_city",
          "retryable": false
        }
      }
    }
    "#);
}

#[test]
fn a_task_that_waits_says_for_what_and_keeps_its_state() {
    let ask = Ask {
        schema: Some(json::raw(&json!({"type": "string"}))),
        state: Some(json::raw("hidden")),
        ..Ask::new("Which city?")
    };
    let task = Task { ask: Some(ask), ..task(TaskState::InputRequired) };
    let answer = answer(&task, None);
    assert!(!answer.to_string().contains("hidden"));
    assert_eq!(answer["status"]["state"], "input-required");
    assert_eq!(answer["status"]["message"]["parts"][0]["text"], "Which city?");
    assert_eq!(answer["metadata"], json!({"schema": {"type": "string"}}));
}

#[test]
fn every_state_is_sent_as_it_is() {
    for state in TaskState::ALL {
        assert_eq!(answer(&task(state), None)["status"]["state"], state.as_str());
    }
}

#[test]
fn the_history_is_what_was_asked_for() {
    let mut task = completed();
    assert_eq!(answer(&task, None).get("history"), None);
    assert_eq!(answer(&task, Some(0)).get("history"), None);
    assert_snapshot!(answer(&task, Some(9))["history"], @r#"[{"kind":"message","messageId":"task_01890a5d96b87a2fb0b6f2a3c4d5e6f7-input","role":"user","parts":[{"type":"data","kind":"data","data":{"city":"San Francisco"}}],"taskId":"task_01890a5d96b87a2fb0b6f2a3c4d5e6f7","contextId":"ctx-1"}]"#);

    task.history = vec![
        Message::user("m1", vec![Block::text("one")]),
        Message::agent("m2", vec![trace()]),
        Message { metadata: json!({"k": 1}).as_object().cloned(), ..Message::user("m3", vec![Block::text("two")]) },
    ];
    let ids = |length| {
        let history = answer(&task, Some(length))["history"].clone();
        history.as_array().unwrap().iter().map(|message| message["messageId"].to_string()).collect::<String>()
    };
    assert_eq!(ids(1), r#""m3""#);
    assert_eq!(ids(2), r#""m1""m3""#);
    assert_eq!(ids(u32::MAX), r#""m1""m3""#);
    assert_eq!(answer(&task, Some(1))["history"][0]["metadata"], json!({"k": 1}));

    task.history.clear();
    task.input = json::raw("hello");
    assert_eq!(answer(&task, Some(1))["history"][0]["parts"][0]["text"], "hello");
}

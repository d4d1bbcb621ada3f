//! Parameters of both shapes, the documented requests verbatim, and each way to get them wrong.

use insta::assert_snapshot;
use pleat_domain::json;
use pleat_domain::message::Message;
use serde_json::{Value, json};

use super::*;
use crate::legacy::view::parts;

fn parse(params: &Value) -> Result<SendParams, InvalidParams> {
    SendParams::parse(Some(&json::raw(params)))
}

fn fault(params: &Value) -> String {
    let fault = parse(params).unwrap_err();
    format!("{} at {}", fault.message, fault.pointer)
}

fn message_of(input: Input) -> Message {
    match input {
        Input::Message { message, .. } => message,
        Input::Value(value) => panic!("{value} is no message"),
    }
}

fn say(parts: &Value) -> Value {
    json!({"message": {"role": "user", "parts": parts}})
}

/// One line of JSON for each.
fn lines<T: serde::Serialize>(items: &[T]) -> String {
    items.iter().map(|item| serde_json::to_string(item).unwrap()).collect::<Vec<_>>().join("\n")
}

#[test]
fn the_documented_requests_work_verbatim() {
    let send = br#"{
    "jsonrpc": "2.0",
    "id": "1",
    "method": "tasks/send",
    "params": {
      "skill": "weather-lookup",
      "message": { "city": "San Francisco" }
    }
  }"#;
    let request = crate::Request::parse(send).unwrap();
    assert_eq!((request.id.get(), request.method.as_str()), (r#""1""#, "tasks/send"));
    let params = SendParams::parse(request.params.as_deref()).unwrap();
    assert_eq!(params.skill.as_deref(), Some("weather-lookup"));
    let (input, message) = params.input.into_call(None).unwrap();
    assert_eq!(input.get(), r#"{ "city": "San Francisco" }"#);
    assert!(message.is_none() && params.id.is_none() && params.session_id.is_none());

    let get = br#"{
    "jsonrpc": "2.0",
    "id": "2",
    "method": "tasks/get",
    "params": { "id": "task_abc123" }
  }"#;
    let request = crate::Request::parse(get).unwrap();
    let params = TaskParams::parse(request.params.as_deref()).unwrap();
    assert_eq!(params, TaskParams { id: "task_abc123".to_owned(), history_length: None });

    let cancel = br#"{
    "jsonrpc": "2.0",
    "id": "3",
    "method": "tasks/cancel",
    "params": { "id": "task_abc123" }
  }"#;
    let request = crate::Request::parse(cancel).unwrap();
    assert_eq!(request.method, "tasks/cancel");
    assert_eq!(TaskParams::parse(request.params.as_deref()).unwrap().id, "task_abc123");
}

#[test]
fn anything_that_is_no_message_is_the_input_itself() {
    let inputs = [
        json!(null),
        json!("hi"),
        json!([1, 2]),
        json!({"role": "admin"}),
        json!({"role": "user", "parts": "none"}),
        json!({"parts": [1]}),
    ];
    for input in inputs {
        let params = parse(&json!({"skill": "s", "message": input})).unwrap();
        assert_eq!(params.input.into_call(None).unwrap().0.get(), input.to_string());
    }
    assert!(matches!(parse(&json!({"message": {"city": "Rome"}})).unwrap().input, Input::Value(_)));
}

#[test]
fn a_message_of_0_1_is_read_whole() {
    let params = parse(&json!({
        "id": "t-1", "sessionId": "s-1", "historyLength": 5, "metadata": {"trace": 1},
        "pushNotification": {"url": "https://a.example"},
        "message": {"role": "user", "parts": [{"type": "text", "text": "hi"}], "metadata": {"lang": "en"}},
    }))
    .unwrap();
    assert_eq!((params.id.as_deref(), params.history_length), (Some("t-1"), Some(5)));
    assert_eq!(params.session_id.unwrap().as_str(), "s-1");
    assert_eq!(params.push.unwrap().url, "https://a.example");
    assert_eq!(params.skill, None);
    let mut message = message_of(params.input);
    assert_eq!(message.message_id.len(), 32);
    message.message_id = "m".to_owned();
    assert_snapshot!(lines(&[message]), @r#"{"messageId":"m","role":"user","source":"a2a-external","content":[{"type":"text","text":"hi"}],"metadata":{"lang":"en"},"request":{"metadata":{"trace":1}}}"#);
}

#[test]
fn parts_become_blocks_and_return_unchanged() {
    let sent = json!([
        {"type": "text", "text": "hi", "metadata": {"a": 1}},
        {"type": "data", "data": {"k": [1, null]}},
        {"type": "file", "file": {"name": "a.png", "mimeType": "image/png", "bytes": "AAEC"}},
        {"type": "file", "file": {"mimeType": "audio/wav", "bytes": "AA=="}, "metadata": {"b": 2}},
        {"type": "file", "file": {"name": "r.pdf", "mimeType": "application/pdf", "bytes": "AA=="}},
        {"type": "file", "file": {"bytes": ""}},
        {"type": "file", "file": {"name": "l", "uri": "https://a.example/l"}},
        {"type": "file", "file": {"mimeType": "text/css", "uri": "https://a.example/x.css"}},
    ]);
    let message = message_of(parse(&say(&sent)).unwrap().input);
    assert_snapshot!(lines(&message.content), @r#"
    {"type":"text","text":"hi","_meta":{"a":1}}
    {"type":"data","data":{"k":[1,null]}}
    {"type":"image","data":"AAEC","mimeType":"image/png","name":"a.png"}
    {"type":"audio","data":"AA==","mimeType":"audio/wav","_meta":{"b":2}}
    {"type":"resource","resource":{"uri":"attachment:4","mimeType":"application/pdf","blob":"AA=="},"name":"r.pdf"}
    {"type":"resource","resource":{"uri":"attachment:5","blob":""}}
    {"type":"resource_link","uri":"https://a.example/l","name":"l"}
    {"type":"resource_link","uri":"https://a.example/x.css","name":"https://a.example/x.css","mimeType":"text/css"}
    "#);
    let mut returned = serde_json::to_value(parts(&message.content)).unwrap();
    for part in returned.as_array_mut().unwrap() {
        assert_eq!(part["kind"], part["type"]);
        part.as_object_mut().unwrap().shift_remove("kind");
    }
    assert_eq!(returned, sent);
}

#[test]
fn the_skill_is_named_by_the_first_that_names_it() {
    let part = json!({"type": "data", "data": {"skill": "d", "x": 1}});
    let message = json!({"role": "user", "parts": [part], "metadata": {"skill": "c"}});
    let mut params = json!({"skill": "a", "metadata": {"skillId": "b"}, "message": message});
    let skill = |params: &Value| parse(params).unwrap().skill.unwrap();
    assert_eq!(skill(&params), "a");
    params.as_object_mut().unwrap().shift_remove("skill");
    assert_eq!(skill(&params), "b");
    params.as_object_mut().unwrap().shift_remove("metadata");
    assert_eq!(skill(&params), "c");
    params["message"].as_object_mut().unwrap().shift_remove("metadata");
    assert_eq!(skill(&params), "d");
    params["message"]["parts"][0]["data"] = json!({"x": 1});
    assert_eq!(parse(&params).unwrap().skill, None);
    assert_eq!(skill(&json!({"skillId": "e", "message": 1})), "e");
}

#[test]
fn a_data_part_that_names_the_skill_gives_the_rest_as_input() {
    let call = |data: Value| {
        let params = parse(&say(&json!([{"type": "data", "data": data}, {"type": "text", "text": "x"}]))).unwrap();
        (params.skill.unwrap(), params.input.into_call(None).unwrap().0.get().to_owned())
    };
    assert_eq!(call(json!({"skill": "add", "a": 1})), ("add".into(), r#"{"a":1}"#.into()));
    assert_eq!(call(json!({"skillId": "add", "input": [1, 2]})), ("add".into(), "[1,2]".into()));
    assert_eq!(call(json!({"skill": "add", "input": 1, "b": 2})), ("add".into(), r#"{"input":1,"b":2}"#.into()));
    assert_eq!(call(json!({"skill": "add"})), ("add".into(), "{}".into()));
}

#[test]
fn a_data_part_names_nothing_where_the_skill_is_known() {
    let data = json!({"type": "data", "data": {"skill": "rust"}});
    let mut params = say(&json!([data]));
    let answer = parse(&params).unwrap().input.into_answer(None).unwrap();
    assert_eq!(answer.0.get(), r#"{"skill":"rust"}"#);
    params["skill"] = json!("search");
    let call = parse(&params).unwrap().input.into_call(None).unwrap();
    assert_eq!(call.0.get(), r#"{"skill":"rust"}"#);
    assert!(call.1.is_some());
}

#[test]
fn faults_of_parameters_say_where() {
    let missing = SendParams::parse(None).unwrap_err();
    assert_eq!(missing, InvalidParams::new("`params` is missing; it must be an object", ""));
    let long = "x".repeat(257);
    let faults = [
        json!([]),
        json!({}),
        json!({"skill": 1, "message": 1}),
        json!({"skill": "a", "skillId": "b", "message": 1}),
        json!({"metadata": [], "message": 1}),
        json!({"metadata": {"skill": {}}, "message": 1}),
        json!({"id": "", "message": 1}),
        json!({"id": 3, "message": 1}),
        json!({"id": long, "message": 1}),
        json!({"id": "a\u{0}b", "message": 1}),
        json!({"sessionId": "", "message": 1}),
        json!({"historyLength": -1, "message": 1}),
        json!({"historyLength": 1.5, "message": 1}),
        json!({"historyLength": "2", "message": 1}),
    ];
    assert_snapshot!(faults.each_ref().map(fault).join("\n"), @r#"
    `params` must be an object at 
    `message` is missing; send the input itself, or a message with `role` and `parts` at /message
    `skill` must be a string at /skill
    `skillId` must be the same as `skill` when both are given at /skillId
    `metadata` must be an object at /metadata
    `skill` must be a string at /metadata/skill
    `id` must have 1 to 256 bytes and no control characters at /id
    `id` must be a string at /id
    `id` must have 1 to 256 bytes and no control characters at /id
    `id` must have 1 to 256 bytes and no control characters at /id
    `sessionId` must have 1 to 256 bytes and no control characters at /sessionId
    `historyLength` must be a whole number of 0 or more at /historyLength
    `historyLength` must be a whole number of 0 or more at /historyLength
    `historyLength` must be a whole number of 0 or more at /historyLength
    "#);
}

#[test]
fn faults_of_messages_say_where() {
    let faults = [
        json!({"message": {"role": "user"}}),
        json!({"message": {"parts": []}}),
        json!({"message": {"role": "user", "parts": {}}}),
        json!({"message": {"role": "system", "parts": []}}),
        json!({"message": {"role": null, "parts": []}}),
        json!({"message": {"role": "user", "parts": [], "metadata": 1}}),
        say(&json!([])),
        say(&json!(["hi"])),
        say(&json!([{"text": "hi"}])),
        say(&json!([{"type": "text", "text": "hi"}, {"type": "video"}])),
        say(&json!([{"kind": "tool_use"}])),
        say(&json!([{"type": "text"}])),
        say(&json!([{"type": "text", "text": 1}])),
        say(&json!([{"type": "text", "text": "hi", "metadata": "m"}])),
        say(&json!([{"type": "data"}])),
        say(&json!([{"type": "file"}])),
        say(&json!([{"type": "file", "file": {}}])),
        say(&json!([{"type": "file", "file": {"bytes": "AA==", "uri": "a:b"}}])),
        say(&json!([{"type": "file", "file": {"bytes": "%"}}])),
        say(&json!([{"type": "file", "file": {"uri": ""}}])),
        say(&json!([{"type": "file", "file": {"name": 1, "uri": "a:b"}}])),
    ];
    assert_snapshot!(faults.each_ref().map(fault).join("\n"), @r#"
    `parts` is missing; name the `skill` if this is the input itself at /message/parts
    `role` is missing; name the `skill` if this is the input itself at /message/role
    `parts` must be an array; name the `skill` if this is the input itself at /message/parts
    `role` must be `user` or `agent` at /message/role
    `role` is missing; it must be a string at /message/role
    `metadata` must be an object at /message/metadata
    `parts` must have at least one part at /message/parts
    `part` must be an object at /message/parts/0
    `type` is missing; it must be a string at /message/parts/0/type
    `type` must be `text`, `file` or `data` at /message/parts/1/type
    `kind` must be `text`, `file` or `data` at /message/parts/0/kind
    `text` is missing; it must be a string at /message/parts/0/text
    `text` must be a string at /message/parts/0/text
    `metadata` must be an object at /message/parts/0/metadata
    `data` is missing; it may be any JSON at /message/parts/0/data
    `file` is missing; it must be an object at /message/parts/0/file
    `bytes` and `uri` are both missing; send one of them at /message/parts/0/file/bytes
    `uri` and `bytes` exclude each other; send one of them at /message/parts/0/file/uri
    `bytes` must be base64 at /message/parts/0/file/bytes
    `uri` must not be empty at /message/parts/0/file/uri
    `name` must be a string at /message/parts/0/file/name
    "#);
}

#[test]
fn a_task_is_named_by_its_id() {
    let parse = |params: Value| TaskParams::parse(Some(&json::raw(&params)));
    let params = parse(json!({"id": "t-1", "historyLength": 0, "metadata": {}})).unwrap();
    assert_eq!(params, TaskParams { id: "t-1".to_owned(), history_length: Some(0) });
    let fault = |params: Value| parse(params).unwrap_err();
    assert_eq!(fault(json!({})), InvalidParams::new("`id` is missing; it must name a task", "/id"));
    assert_eq!(fault(json!({"id": null})).pointer, "/id");
    assert_eq!(fault(json!({"id": "x", "historyLength": -2})).data(), json!({"pointer": "/historyLength"}));
}

//! Both dialects over one task, and parameters that only one of them has.

use pleat_domain::content::Block;
use pleat_domain::event::{ArtifactChunk, Event, EventBody, Progress, StatusChange};
use pleat_domain::ids::ContextId;
use pleat_domain::json;
use pleat_domain::message::Message;
use pleat_domain::name::SkillName;
use pleat_domain::principal::Caller;
use pleat_domain::push::{PushAuth, PushConfig};
use pleat_domain::task::{Artifact, Ask, Door, Task, TaskState};
use serde_json::{Value, json};
use time::macros::datetime;

use super::*;
use crate::error::InvalidParams;
use crate::method::Operation;

fn task() -> Task {
    let mut message = Message::user("m-1", vec![Block::text("hi"), Block::data(json::raw(&json!([1])))]);
    message.reference_task_ids = vec!["other".to_owned()];
    Task {
        id: "task_01890a5d96b87a2fb0b6f2a3c4d5e6f7".parse().unwrap(),
        skill: Some(SkillName::parse("report").unwrap()),
        version: 3,
        context: ContextId::try_from("ctx-1".to_owned()).unwrap(),
        parent: None,
        step: None,
        run: None,
        caller: Caller::anonymous(),
        door: Door::A2a10,
        alias: Some("never shown".to_owned()),
        state: TaskState::AuthRequired,
        failure: None,
        ask: Some(Ask { prompt: "log in".to_owned(), schema: None, state: Some(json::raw("private")), client: None }),
        guard: None,
        input: json::raw("hi"),
        history: vec![message],
        artifacts: vec![
            Artifact::of_value("report-result", json::raw(&json!({ "rows": 3 }))),
            Artifact::of_blocks("hidden", vec![Block::ToolUse(serde_json::Map::new())]),
        ],
        attempt: 1,
        turn: 1,
        last_seq: 0,
        cpu_us: 20,
        wall_us: 30,
        created_at: datetime!(2026-11-16 10:00 UTC),
        updated_at: datetime!(2026-11-16 10:00:01.5 UTC),
    }
}

fn pretty(value: &impl serde::Serialize) -> String {
    serde_json::to_string_pretty(value).unwrap()
}

#[test]
fn a_task_is_written_in_both_dialects() {
    let task = task();
    let (v03, v1) =
        [Dialect::V03, Dialect::V1].map(|dialect| pretty(&SentView::new(dialect, &task, Show::whole(None)))).into();
    insta::assert_snapshot!("task_v03", v03);
    insta::assert_snapshot!("task_v1", v1);
    for text in [v03, v1] {
        assert!(!text.contains("private") && !text.contains("hidden") && !text.contains("never shown"), "{text}");
    }
}

#[test]
fn events_are_written_in_both_dialects() {
    let (task, at) = (task(), datetime!(2026-11-16 10:00 UTC));
    let chunk = |blocks: Vec<Block>, append, last| {
        EventBody::Artifact(ArtifactChunk { artifact: Artifact::of_blocks("talk", blocks), append, last })
    };
    let trace = || vec![Block::Thinking(serde_json::Map::new())];
    let bodies = [
        EventBody::Status(StatusChange::to(TaskState::Working)),
        EventBody::Progress(Progress { done: 1.0, total: Some(2.0), note: Some("half".to_owned()) }),
        chunk(vec![Block::text("a")], false, false),
        chunk(trace(), true, false),
        chunk(trace(), true, true),
        EventBody::Status(StatusChange::to(TaskState::Completed)),
    ];
    for (dialect, name) in [(Dialect::V03, "events_v03"), (Dialect::V1, "events_v1")] {
        let codec = Events::new(dialect, &task);
        let events = (1..).zip(bodies.clone()).map(|(seq, body)| Event { seq, at, body });
        let lines: Vec<String> = events.map(|event| json!(codec.event(&event)).to_string()).collect();
        insta::assert_snapshot!(name, lines.join("\n"));
    }
}

#[test]
fn push_configurations_are_nested_or_flat() {
    let auth = PushAuth { scheme: "Bearer".to_owned(), credentials: Some("c".to_owned()) };
    let push = PushConfig {
        id: "p".to_owned(),
        task: task().id,
        url: "https://example.com".to_owned(),
        token: Some("t".to_owned()),
        auth: Some(auth),
    };
    let id = "task_01890a5d96b87a2fb0b6f2a3c4d5e6f7";
    let nested = json!({ "id": "p", "url": "https://example.com", "token": "t",
                         "authentication": { "schemes": ["Bearer"], "credentials": "c" } });
    let flat = json!({ "id": "p", "taskId": id, "url": "https://example.com", "token": "t",
                       "authentication": { "scheme": "Bearer", "credentials": "c" } });
    assert_eq!(json!(PushView::new(Dialect::V03, &push)), json!({ "taskId": id, "pushNotificationConfig": nested }));
    assert_eq!(json!(PushView::new(Dialect::V1, &push)), flat);
    let all = [push];
    assert_eq!(json!(PushesView::new(Dialect::V1, &all)), json!({ "configs": [flat], "nextPageToken": "" }));
    assert!(json!(PushesView::new(Dialect::V03, &all)).is_array());
}

fn read(dialect: Dialect, operation: Operation, params: &Value) -> Result<Call, InvalidParams> {
    Call::read(dialect, operation, Some(&json::raw(params)))
}

#[test]
fn push_parameters_are_read_in_both_dialects() {
    let set = json!({ "taskId": "t", "pushNotificationConfig": { "url": "https://a.example", "authentication": { "schemes": ["Basic", "Bearer"], "credentials": "c" } } });
    let Call::SetPush(place, push) = read(Dialect::V03, Operation::SetPush, &set).unwrap() else { panic!() };
    assert_eq!((place.task.as_str(), push.id.as_deref(), push.auth.unwrap().scheme.as_str()), ("t", None, "Basic"));
    let set = json!({ "taskId": "t", "id": "p", "tenant": "acme", "url": "https://a.example", "token": "", "authentication": { "scheme": "Bearer" } });
    let Call::SetPush(place, push) = read(Dialect::V1, Operation::SetPush, &set).unwrap() else { panic!() };
    assert_eq!((place.tenant.as_deref(), push.id.as_deref(), push.token), (Some("acme"), Some("p"), None));
    for (dialect, operation, params) in [
        (Dialect::V03, Operation::SetPush, json!({ "taskId": "t" })),
        (Dialect::V03, Operation::SetPush, json!({ "pushNotificationConfig": { "url": "https://a.example" } })),
        (Dialect::V03, Operation::SetPush, json!({ "taskId": "t", "pushNotificationConfig": {} })),
        (Dialect::V03, Operation::DeletePush, json!({ "id": "t" })),
        (Dialect::V1, Operation::SetPush, json!({ "taskId": "t" })),
        (Dialect::V1, Operation::SetPush, json!({ "taskId": "t", "url": "x", "authentication": {} })),
        (Dialect::V1, Operation::GetPush, json!({ "taskId": "t" })),
        (Dialect::V1, Operation::GetPush, json!({ "id": "p" })),
        (Dialect::V1, Operation::DeletePush, json!({ "taskId": "t", "id": "" })),
        (Dialect::V1, Operation::ListPushes, json!({ "taskId": "t", "pageSize": 0 })),
        (Dialect::V1, Operation::ListPushes, json!({ "taskId": "t", "pageToken": "x" })),
    ] {
        assert!(read(dialect, operation, &params).is_err(), "{dialect:?} {operation:?} {params}");
    }
    assert!(matches!(read(Dialect::V03, Operation::GetPush, &json!({ "id": "t" })), Ok(Call::GetPush(_))));
}

#[test]
fn parameters_may_be_left_out_where_none_is_required() {
    for dialect in [Dialect::V03, Dialect::V1] {
        let Ok(Call::List(list)) = Call::read(dialect, Operation::List, None) else { panic!("{dialect:?}") };
        assert_eq!((list.page_size, list.artifacts), (50, false));
        let card = Call::read(dialect, Operation::ExtendedCard, None);
        assert!(matches!(card, Ok(Call::ExtendedCard { tenant: None })), "{dialect:?}");
        for operation in [Operation::Send, Operation::Get, Operation::SetPush] {
            assert!(Call::read(dialect, operation, None).is_err(), "{dialect:?} {operation:?}");
        }
    }
}

#[test]
fn a_wish_not_to_wait_is_the_other_way_round_in_10() {
    let wait = |dialect: Dialect, configuration: Value| {
        let role = if dialect == Dialect::V03 { "user" } else { "ROLE_USER" };
        let part =
            if dialect == Dialect::V03 { json!({ "kind": "text", "text": "x" }) } else { json!({ "text": "x" }) };
        let message = json!({ "messageId": "m", "role": role, "parts": [part] });
        match read(dialect, Operation::Send, &json!({ "message": message, "configuration": configuration })) {
            Ok(Call::Send(params)) => params.wait,
            other => panic!("{other:?}"),
        }
    };
    assert!(wait(Dialect::V03, json!({})) && wait(Dialect::V1, json!({})));
    assert!(wait(Dialect::V03, json!({ "blocking": true })) && !wait(Dialect::V03, json!({ "blocking": false })));
    assert!(
        wait(Dialect::V1, json!({ "returnImmediately": false }))
            && !wait(Dialect::V1, json!({ "returnImmediately": true }))
    );
    assert!(wait(Dialect::V1, json!({ "blocking": false })), "not a word of 1.0: ignored");
}

#[test]
fn details_say_the_field_or_the_reason() {
    let pointer = json!({ "pointer": "/message/parts/0/text" });
    assert_eq!(
        details(-32602, "invalid", "`text` must be a string", Some(&pointer)),
        json!([
            { "@type": "type.googleapis.com/google.rpc.BadRequest", "fieldViolations": [
                { "field": "message.parts[0].text", "description": "`text` must be a string" }] },
            { "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "INVALID", "domain": "pleat" },
        ])
    );
    let violations = json!({ "violations": [{ "pointer": "/lines/1/count", "message": "too small" }] });
    assert_eq!(
        details(-32602, "invalid_input", "no", Some(&violations))[0]["fieldViolations"][0]["field"],
        "input.lines[1].count"
    );
    assert_eq!(
        details(-32001, "task_not_found", "no", None),
        json!([{ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "TASK_NOT_FOUND", "domain": "a2a-protocol.org" }])
    );
    let limit = json!({ "limit": "requests_per_minute", "most": 60 });
    assert_eq!(
        details(-32051, "limit_reached", "no", Some(&limit))[0],
        json!({ "@type": "type.googleapis.com/google.rpc.ErrorInfo", "reason": "LIMIT_REACHED", "domain": "pleat",
                "metadata": { "limit": "requests_per_minute", "most": "60" } })
    );
}

#[test]
fn the_only_data_part_is_the_input_as_it_was_written() {
    let digits = "12345678901234567890.123456789012345678901";
    let input = |parts: String| {
        let params = format!(r#"{{"message":{{"messageId":"m","role":"ROLE_USER","parts":{parts}}}}}"#);
        let params = json::checked(params).unwrap();
        let Ok(Call::Send(params)) = Call::read(Dialect::V1, Operation::Send, Some(&params)) else { panic!() };
        params.input.into_call(None).map(|(input, _)| input.get().to_owned())
    };
    let data = format!(r#"{{"n": {digits}}}"#);
    assert_eq!(input(format!(r#"[{{"text":"see"}},{{"data":{data}}}]"#)), Ok(data.clone()));
    assert_eq!(input(r#"[{"data":null}]"#.to_owned()), Ok("null".to_owned()));
    assert!(input(format!(r#"[{{"data":{data}}},{{"data":1}}]"#)).is_err());
}

#[test]
fn what_is_wrapped_in_a_data_part_is_the_input() {
    let part = json!({ "kind": "data", "data": { "value": 5 }, "metadata": { "data_part_compat": true } });
    let params = json!({ "message": { "kind": "message", "messageId": "m", "role": "user", "parts": [part] } });
    let Ok(Call::Send(params)) = Call::read(Dialect::V03, Operation::Send, Some(&json::raw(&params))) else { panic!() };
    let (input, _) = params.input.into_call(None).unwrap();
    assert_eq!(input.get(), "5");
}

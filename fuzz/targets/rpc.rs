//! A body at the agent's door: read or refused, and what is refused says why without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_a2a::jsonrpc::{self, Request};
use pleat_a2a::legacy::{PushParams, SendParams, TaskParams};
use pleat_a2a::messages::{self, Call, Dialect};
use pleat_a2a::method::{Method, Operation, Version};
use serde_json::{Value, json};

fuzz_target!(|bytes: &[u8]| {
    let request = match Request::parse(bytes) {
        Ok(request) => request,
        Err(fault) => return answered(&jsonrpc::error(&fault.id, -32600, &fault.cause.to_string(), None)),
    };
    assert!(request.id.get().len() <= jsonrpc::ID_MOST_BYTES, "the id is repeated with every event");
    answered(&jsonrpc::response(&request.id, &json!({ "method": request.method })));
    if let Err(fault) = TaskParams::parse(request.params.as_deref()) {
        answered(&jsonrpc::error(&request.id, -32602, &fault.message, Some(fault.data())));
    }
    if let Err(fault) = PushParams::parse(request.params.as_deref()) {
        answered(&jsonrpc::error(&request.id, -32602, &fault.message, Some(fault.data())));
    }
    let _ = (Method::named(&request.method), Version::asked(&request.method));
    for dialect in [Dialect::V03, Dialect::V1] {
        for operation in OPERATIONS {
            if let Err(fault) = Call::read(dialect, operation, request.params.as_deref()) {
                let details = messages::details(-32602, "invalid", &fault.message, Some(&fault.data()));
                assert!(details.as_array().is_some_and(|details| !details.is_empty()));
                answered(&jsonrpc::error(&request.id, -32602, &fault.message, Some(details)));
            }
        }
    }
    let schemas = [json!(true), json!({ "type": "object", "properties": { "text": { "type": "string" } } })];
    for schema in schemas.iter().map(Some).chain([None]) {
        match SendParams::parse(request.params.as_deref()) {
            // What becomes an input is JSON that passes the same check as what came.
            Ok(params) => {
                if let Ok((input, _)) = params.input.into_call(schema) {
                    assert_eq!(pleat_domain::json::check(input.get().as_bytes()), Ok(()));
                }
            }
            Err(fault) => answered(&jsonrpc::error(&request.id, -32602, &fault.message, Some(fault.data()))),
        }
    }
});

const OPERATIONS: [Operation; 11] = [
    Operation::Send,
    Operation::Stream,
    Operation::Get,
    Operation::List,
    Operation::Cancel,
    Operation::Subscribe,
    Operation::SetPush,
    Operation::GetPush,
    Operation::ListPushes,
    Operation::DeletePush,
    Operation::ExtendedCard,
];

/// An answer is one JSON object with the id of its request.
fn answered(bytes: &[u8]) {
    let answer: Value = serde_json::from_slice(bytes).expect("an answer is JSON");
    assert_eq!(answer["jsonrpc"], "2.0");
    assert!(answer.get("id").is_some());
}

//! Whatever bytes come in as messages of MCP: a fault that can be said, or a message whose parts can be used.
#![no_main]

use libfuzzer_sys::fuzz_target;
use pleat_domain::json;
use pleat_mcp::{Incoming, Message, Meta, client, headers, message, params, template};
use serde_json::Value;

fuzz_target!(|bytes: &[u8]| {
    match Incoming::parse(bytes) {
        Err(fault) => assert!(!fault.to_string().is_empty() && fault.code() < 0),
        Ok(Incoming::One(message)) => used(message),
        Ok(Incoming::Several(all)) => all.into_iter().for_each(used),
    }
});

fn used(message: Message) {
    match message {
        Message::Notification { params, .. } => drop(params::read::<params::Cancelled>(params.as_deref())),
        Message::Response { id, .. } => {
            if let Some((task, turn, key)) = client::parse_request_id(&id) {
                let again = json::raw(&client::request_id(task, turn, &key));
                assert_eq!(client::parse_request_id(&again), Some((task, turn, key)));
            }
        }
        Message::Request(request) => {
            let params = request.params.as_deref();
            drop(Meta::read(params).map(|meta| meta.complete().is_ok()));
            drop(headers::check(&request.method, params, &|_| Some(request.method.clone())));
            drop(headers::check_arguments(None, params, &|_| None));
            if let Ok(uri) = params::read::<params::Uri>(params) {
                let _ = template::matches(&uri.uri, &uri.uri);
                let _ = template::matches("a://{x}-{y}/{z}", &uri.uri);
            }
            drop(params::read::<params::Complete>(params));
            drop(params::read::<params::Listen>(params));
            // What is answered has the id as it came.
            let answer: Value = serde_json::from_str(&message::response(&request.id, &())).expect("an answer is JSON");
            assert!(answer["id"].is_string() || answer["id"].is_number());
        }
    }
}

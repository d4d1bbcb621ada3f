//! What a function can return, and what it must not.

use pleat_domain::{CallLimits, ClientKind, Reason};
use pleat_runtime::{Entry, Outcome};
use serde_json::{Value, json};

use super::{ask, call_with, fails, failure, handle, minimal, nothing, probe, value};

#[tokio::test]
async fn values_come_back_unchanged() {
    for sent in [json!(null), json!("text"), json!([1, 2.5, {"a": "é"}]), json!({"deep": {"er": []}})] {
        assert_eq!(value(json!({"do": "echo", "value": sent})).await, sent);
    }
}

#[tokio::test]
async fn every_other_outcome_comes_back_as_it_was_meant() {
    let blocks = json!([{"type": "text", "text": "hi"}]);
    let content = ask(json!({"do": "content", "blocks": blocks, "structured": {"n": 1}})).await.0.result.unwrap();
    assert!(matches!(content, Outcome::Content { blocks, structured: Some(_) } if blocks.len() == 1));

    let input = json!({"do": "need_input", "prompt": "who?", "schema": {"type": "string"}, "state": {"step": 1}});
    let Outcome::NeedInput(question) = ask(input).await.0.result.unwrap() else { panic!() };
    assert_eq!(question.prompt, "who?");
    assert_eq!(question.state.unwrap().get(), r#"{"step":1}"#);

    let auth = ask(json!({"do": "need_auth", "prompt": "log in"})).await.0.result.unwrap();
    assert!(matches!(auth, Outcome::NeedAuth(_)));
    let client = ask(json!({"do": "need_client", "kind": "sample", "params": {}})).await.0.result.unwrap();
    assert!(matches!(client, Outcome::NeedClient { ask, .. } if ask.requests[0].kind == ClientKind::Sample));
    let rejected = ask(json!({"do": "reject", "reason": "not today"})).await.0.result.unwrap();
    assert!(matches!(rejected, Outcome::Reject(reason) if reason == "not today"));
}

#[tokio::test]
async fn an_error_of_the_function_keeps_its_words_and_hides_its_stack() {
    let input = json!({"do": "fail", "code": "teapot", "message": "short and stout", "retryable": true,
                       "details": {"stack": "at line 3", "spout": 1}});
    let failure = failure(ask(input).await.0);
    assert_eq!(failure.reason, Reason::FunctionError);
    assert_eq!(failure.code.as_deref(), Some("teapot"));
    assert_eq!(failure.message, "short and stout");
    assert!(failure.retryable);
    assert_eq!(failure.details, Some(json!({"spout": 1})));
    assert_eq!(failure.detail.as_deref(), Some("at line 3"));
}

#[tokio::test]
async fn an_endless_error_text_is_cut() {
    let input = json!({"do": "fail", "code": "c".repeat(10_000), "message": "m".repeat(1_000_000)});
    let failure = failure(ask(input).await.0);
    assert_eq!(failure.message.len(), 8 << 10);
    assert_eq!(failure.code.unwrap().len(), 128);
}

#[tokio::test]
async fn what_breaks_the_contract_is_bad_output() {
    let rows: [(Value, &str); 5] = [
        (json!({"do": "raw", "text": "{"}), "not valid JSON"),
        (json!({"do": "raw", "text": r#"{"a":1,"a":2}"#}), "occurs twice"),
        (json!({"do": "content", "blocks": [{"type": "hologram"}]}), "not of a known shape"),
        (json!({"do": "need_client", "kind": "dance", "params": {}}), "`dance` is no kind of client request"),
        (json!({"do": "need_input", "prompt": "?", "schema": 3}), "not a JSON Schema"),
    ];
    for (input, words) in rows {
        let failure = fails(input, CallLimits::DEFAULT, Reason::BadOutput).await;
        assert!(failure.message.starts_with("`probe` did not keep to the contract"), "{}", failure.message);
        assert!(failure.message.contains(words), "{}", failure.message);
    }
}

#[tokio::test]
async fn results_that_are_no_values_are_bad_output_too() {
    let far = "(i32.store (i32.const 136) (i32.const 0x7fffffff)) (i32.store (i32.const 140) (i32.const 9))
               (i32.store8 (i32.const 132) (i32.const 0)) (i32.store8 (i32.const 128) (i32.const 0))
               (return (i32.const 128))";
    let unknown = "(i32.store8 (i32.const 128) (i32.const 77)) (return (i32.const 128))";
    let not_text = "(i32.store (i32.const 64) (i32.const -1))";
    for code in [far, unknown, not_text, "(return (i32.const -4))"] {
        let source = minimal("handle", code);
        let (report, _) = call_with(&crate::harness::runtime(), &source, handle(&nothing()), CallLimits::DEFAULT).await;
        let failure = failure(report);
        assert_eq!(failure.reason, Reason::BadOutput, "{failure:?}");
        assert_eq!(failure.message, "`probe` returned something that is not of its declared type");
    }
    fails(json!({"do": "poll_nothing"}), CallLimits::DEFAULT, Reason::Trap).await;
}

#[tokio::test]
async fn resources_and_prompts_answer_in_json() {
    let runtime = crate::harness::runtime();
    let read = |uri: &str| Entry::ReadResource { uri: uri.to_owned() };
    let (report, _) = call_with(&runtime, &probe(), read("probe://text"), CallLimits::DEFAULT).await;
    assert!(matches!(report.result.unwrap(), Outcome::Text(json) if json.get().contains("a resource")));
    let (report, _) = call_with(&runtime, &probe(), read("probe://none"), CallLimits::DEFAULT).await;
    assert_eq!(failure(report).code.as_deref(), Some("not_found"));
    let prompt = Entry::GetPrompt { name: "greet".to_owned(), arguments: pleat_domain::json::raw(&json!({"a": 1})) };
    let (report, _) = call_with(&runtime, &probe(), prompt, CallLimits::DEFAULT).await;
    assert!(matches!(report.result.unwrap(), Outcome::Text(json) if json.get().contains("greet")));
}

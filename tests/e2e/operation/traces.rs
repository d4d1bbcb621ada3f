//! Spans as a collector gets them: the four steps of a call, under the caller's own span.

use std::collections::BTreeMap;

use axum::Json;
use axum::routing::post;
use serde_json::{Value, json};
use tokio::sync::mpsc;

use super::serving::Serving;

const TRACE: &str = "4bf92f3577b34da6a3ce929d0e0e4736";
const CALLER: &str = "00f067aa0ba902b7";

/// A collector that keeps what it is sent.
async fn collector() -> (String, mpsc::UnboundedReceiver<Value>) {
    let (send, receive) = mpsc::unbounded_channel();
    let take = move |Json(sent): Json<Value>| {
        let _ = send.send(sent);
        async { Json(json!({})) }
    };
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let router = axum::Router::new().route("/v1/traces", post(take));
    tokio::spawn(async move { axum::serve(listener, router).await });
    (url, receive)
}

fn spans(sent: &Value) -> Vec<Value> {
    let each = |value: &Value, name: &str| value[name].as_array().cloned().unwrap_or_default();
    let scopes = each(sent, "resourceSpans").into_iter().flat_map(|resource| {
        assert!(resource["resource"].to_string().contains("pleat-test"), "{resource}");
        each(&resource, "scopeSpans")
    });
    scopes.flat_map(|scope| each(&scope, "spans")).collect()
}

/// One field of an attribute's value.
fn attribute(span: &Value, name: &str) -> String {
    let all = span["attributes"].as_array().cloned().unwrap_or_default();
    let found = all.iter().find(|one| one["key"] == name).unwrap_or_else(|| panic!("no {name}: {span}"));
    found["value"].as_object().unwrap().values().next().unwrap().to_string().trim_matches('"').to_owned()
}

#[tokio::test]
async fn a_call_is_four_spans_under_the_callers() {
    let (url, mut collected) = collector().await;
    let settings = "[tracing]\nservice_name = \"pleat-test\"\n";
    let node = Serving::start(settings, &[("OTEL_EXPORTER_OTLP_ENDPOINT", &url)]).await;
    let key = node.with_probe().await;
    let call = reqwest::Client::new().post(format!("{}/t/acme/probe", node.url)).bearer_auth(&key);
    let call = call.header("traceparent", format!("00-{TRACE}-{CALLER}-01"));
    let answer = call.json(&json!({ "do": "echo", "value": "a secret of the caller" })).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    // What was not sent yet is sent at the end.
    node.server.signal("TERM");
    let (project, status, _) = node.server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
    let mut ours = BTreeMap::new();
    while let Ok(sent) = collected.try_recv() {
        assert!(!sent.to_string().contains("a secret of the caller"), "content is in a span: {sent}");
        let of_call = spans(&sent).into_iter().filter(|span| span["traceId"] == TRACE);
        ours.extend(of_call.map(|span| (span["name"].as_str().unwrap().to_owned(), span)));
    }
    let names: Vec<_> = ours.keys().map(String::as_str).collect();
    assert_eq!(names, ["commit", "guest call", "invocation", "request"]);
    assert_eq!(ours["request"]["parentSpanId"], CALLER);
    assert_eq!(ours["invocation"]["parentSpanId"], ours["request"]["spanId"]);
    for step in ["guest call", "commit"] {
        assert_eq!(ours[step]["parentSpanId"], ours["invocation"]["spanId"], "{step}");
    }
    assert_eq!(attribute(&ours["request"], "http.response.status_code"), "200");
    assert_eq!(attribute(&ours["invocation"], "tenant.id"), "acme");
    assert_eq!(attribute(&ours["invocation"], "skill.id"), "probe");
    assert!(!project.log().contains("guest call"), "spans are no part of the log");
}

#[tokio::test]
async fn a_collector_that_is_away_disturbs_nothing() {
    let node = Serving::start("[tracing]\nendpoint = \"http://127.0.0.1:1\"\n", &[]).await;
    let key = node.with_probe().await;
    let call = reqwest::Client::new().post(format!("{}/t/acme/probe", node.url)).bearer_auth(&key);
    let answer =
        call.header("traceparent", "nonsense").json(&json!({ "do": "echo", "value": 1 })).send().await.unwrap();
    assert_eq!(answer.status(), 200);
    node.server.signal("TERM");
    let (project, status, _) = node.server.ended().await;
    assert_eq!(status.code(), Some(0), "{}", project.log());
}

//! Keys change: those that were given, and those that are fetched.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Router;
use axum::extract::State;
use axum::http::StatusCode;
use axum::routing::get;
use pleat_engine::{EngineConfig, KeySetTimes};
use reqwest::Method;
use serde_json::{Value, json};

use super::signer::{Signer, key_set};
use super::{ISSUER, ISSUERS, claims, register, serve, status, wish};
use crate::harness::TestServer;

/// An issuer that serves its keys.
#[derive(Clone)]
struct Served {
    url: String,
    answer: Arc<Mutex<(u16, String)>>,
    asked: Arc<AtomicUsize>,
}

impl Served {
    async fn start(keys: &[&Signer]) -> Self {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/jwks.json", listener.local_addr().unwrap());
        let served = Self { url, answer: Arc::default(), asked: Arc::default() };
        served.say(200, key_set(keys).to_string());
        let router = Router::new().route("/jwks.json", get(answer)).with_state(served.clone());
        tokio::spawn(async move { axum::serve(listener, router).await });
        served
    }

    fn say(&self, status: u16, body: String) {
        *self.answer.lock().unwrap() = (status, body);
    }

    fn wish(&self) -> Value {
        json!({ "issuer": ISSUER, "jwksUrl": self.url, "scopes": ["invoke"] })
    }
}

async fn answer(State(served): State<Served>) -> (StatusCode, String) {
    served.asked.fetch_add(1, Ordering::SeqCst);
    let (status, body) = served.answer.lock().unwrap().clone();
    (StatusCode::from_u16(status).unwrap(), body)
}

/// A server that may fetch from this machine, with these times for sets of keys.
async fn fetching(times: KeySetTimes) -> TestServer {
    let config = move |config: &mut EngineConfig| {
        config.egress.allow = vec!["127.0.0.1:*".parse().unwrap()];
        config.key_sets = times;
    };
    serve(TestServer::start_with(config, |_| {}).await).await
}

const EAGER: KeySetTimes = KeySetTimes { pause: Duration::ZERO, age: Duration::from_secs(600) };

#[tokio::test]
async fn given_keys_are_replaced_at_once() {
    let (old, new) = (Signer::edwards("old"), Signer::curve("new"));
    let server = serve(TestServer::start().await).await;
    let id = register(&server, wish(&[&old], &["invoke"])).await;
    let (before, after) = (old.token(&claims(&server)), new.token(&claims(&server)));
    assert_eq!((status(&server, &before).await, status(&server, &after).await), (200, 401));
    let path = format!("{ISSUERS}/{id}/jwks");
    let both = Some(json!({ "jwks": key_set(&[&old, &new]) }));
    assert_eq!(server.api(Method::PUT, &path, &server.admin, both).await.0, 204);
    assert_eq!((status(&server, &before).await, status(&server, &after).await), (200, 200));
    let only = Some(json!({ "jwks": key_set(&[&new]) }));
    assert_eq!(server.api(Method::PUT, &path, &server.admin, only).await.0, 204);
    assert_eq!((status(&server, &before).await, status(&server, &after).await), (401, 200));
    assert_eq!(server.api(Method::DELETE, &format!("{ISSUERS}/{id}"), &server.admin, None).await.0, 204);
    assert_eq!(status(&server, &after).await, 401);
}

#[tokio::test]
async fn fetched_keys_follow_the_issuer() {
    let (old, new) = (Signer::edwards("old"), Signer::rsa("new"));
    let served = Served::start(&[&old]).await;
    let server = fetching(EAGER).await;
    register(&server, served.wish()).await;
    let (before, after) = (old.token(&claims(&server)), new.token(&claims(&server)));
    assert_eq!(status(&server, &before).await, 200);
    let asked = served.asked.load(Ordering::SeqCst);
    assert_eq!(status(&server, &before).await, 200);
    assert_eq!(served.asked.load(Ordering::SeqCst), asked, "known keys are not fetched again");
    served.say(200, key_set(&[&new]).to_string());
    assert_eq!(status(&server, &after).await, 200, "an unknown key is looked for");
    assert_eq!(status(&server, &before).await, 401, "the old one is gone");
}

#[tokio::test]
async fn an_issuer_that_fails_keeps_its_keys() {
    let (known, unknown) = (Signer::edwards("known"), Signer::edwards("unknown"));
    let served = Served::start(&[&known]).await;
    let server = fetching(EAGER).await;
    register(&server, served.wish()).await;
    assert_eq!(status(&server, &known.token(&claims(&server))).await, 200);
    for (code, body) in [(500, "oops"), (200, "not json"), (200, r#"{"keys":[]}"#), (404, "{}")] {
        served.say(code, body.to_owned());
        let asked = served.asked.load(Ordering::SeqCst);
        assert_eq!(status(&server, &unknown.token(&claims(&server))).await, 401);
        assert!(served.asked.load(Ordering::SeqCst) > asked, "it was tried");
        assert_eq!(status(&server, &known.token(&claims(&server))).await, 200, "{code} {body}");
    }
}

#[tokio::test]
async fn an_issuer_is_not_asked_again_for_every_unknown_key() {
    let (known, unknown) = (Signer::edwards("known"), Signer::edwards("unknown"));
    let served = Served::start(&[&known]).await;
    let server = fetching(KeySetTimes::default()).await;
    register(&server, served.wish()).await;
    for _ in 0..10 {
        assert_eq!(status(&server, &unknown.token(&claims(&server))).await, 401);
        assert_eq!(status(&server, &known.token(&claims(&server))).await, 200);
    }
    // When it was registered, and for the first token.
    assert_eq!(served.asked.load(Ordering::SeqCst), 2);
}

#[tokio::test]
async fn old_keys_are_fetched_again_while_they_are_used() {
    let (old, new) = (Signer::edwards("old"), Signer::edwards("new"));
    let served = Served::start(&[&old]).await;
    let server = fetching(KeySetTimes { pause: Duration::ZERO, age: Duration::ZERO }).await;
    register(&server, served.wish()).await;
    let token = old.token(&claims(&server));
    assert_eq!(status(&server, &token).await, 200);
    served.say(200, key_set(&[&new]).to_string());
    // Until it happens; keys that are never fetched again run into the time-out.
    let ends = async { while status(&server, &token).await == 200 {} };
    tokio::time::timeout(Duration::from_secs(10), ends).await.expect("the key ends");
}

#[tokio::test]
async fn key_sets_that_cannot_be_fetched_are_refused_with_the_reason() {
    let key = Signer::edwards("one");
    let served = Served::start(&[&key]).await;
    let server = fetching(EAGER).await;
    let refusal = async |server: &TestServer| {
        let (status, body) = server.api(Method::POST, ISSUERS, &server.admin, Some(served.wish())).await;
        assert_eq!(status, 400, "{body}");
        body["error"]["message"].as_str().unwrap().to_owned()
    };
    let large = format!(r#"{{"keys":[],"pad":"{}"}}"#, "x".repeat(100_000));
    for (code, body, said) in [
        (503, String::new(), "the answer has the status 503"),
        (200, large, "the answer is larger than allowed"),
        (200, "<html>".to_owned(), "not valid JSON"),
        (200, r#"{"keys":[]}"#.to_owned(), "no key in it is"),
        (200, r#"{"keys":[],"keys":[]}"#.to_owned(), "occurs twice"),
    ] {
        served.say(code, body);
        let text = refusal(&server).await;
        assert!(text.contains(said), "{text}");
    }
    served.say(200, key_set(&[&key]).to_string());
    // Where the operator does not allow it, this machine is out of reach.
    let guarded = TestServer::start().await;
    let text = refusal(&guarded).await;
    assert!(text.contains("not a public one"), "{text}");
    assert_eq!(served.asked.load(Ordering::SeqCst), 5);
}

//! Receivers that fail, hang, move away or are gone: tried again, in order, and given up in the end.

use std::time::{Duration, Instant};

use reqwest::Method;
use serde_json::json;
use tokio::net::TcpListener;

use super::receiver::Answer::{Nothing, Status, With};
use super::{Receiver, log, logged, platform, platform_with, send, shown, told, until};

#[tokio::test]
async fn what_was_answered_with_an_error_is_sent_again_under_the_same_name_before_anything_else() {
    let (server, receiver) = (platform().await, Receiver::start([Status(500), Status(404)]).await);
    let id = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let heard = receiver.some(4).await;
    let states: Vec<&str> = heard.iter().map(super::Heard::state).collect();
    assert_eq!(states, ["working", "working", "working", "completed"]);
    assert!(heard[..3].iter().all(|one| one.header("webhook-id") == heard[0].header("webhook-id")));
    assert_ne!(heard[3].header("webhook-id"), heard[0].header("webhook-id"));
    let log = until("both", async || Some(log(&server, &id).await).filter(|log| log.len() == 2)).await;
    assert_eq!((&log[0]["attempts"], &log[0]["state"]), (&json!(3), &json!("delivered")), "{log:?}");
    assert_eq!((&log[1]["attempts"], &log[1]["state"]), (&json!(1), &json!("delivered")), "{log:?}");
}

#[tokio::test]
async fn a_receiver_that_is_not_there_yet_hears_everything_when_it_is() {
    let server = platform_with(|config| config.push.first_pause = Duration::from_millis(100)).await;
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    let id = send(&server, told(json!({ "do": "echo", "value": 1 }), &format!("http://{address}/"))).await;
    let failed = logged(&server, &id, "retrying").await;
    assert!(failed["fault"].as_str().unwrap().contains("could not be connected to"), "{failed}");
    assert_eq!(failed.get("status"), None);
    let push = shown(&server, &id).await;
    assert_eq!(push["state"], "retrying", "{push}");
    assert!(push["nextAt"].is_string(), "{push}");
    let receiver = Receiver::start_on(TcpListener::bind(address).await.unwrap(), []);
    assert_eq!(receiver.states(2).await, ["working", "completed"]);
}

#[tokio::test]
async fn a_receiver_that_fails_too_often_is_given_up_until_somebody_asks() {
    let server = platform_with(|config| config.push.attempts = 3).await;
    let receiver = Receiver::start([Status(503), Status(503), Status(503)]).await;
    let id = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let dead = logged(&server, &id, "dead").await;
    assert_eq!((&dead["attempts"], &dead["status"]), (&json!(3), &json!(503)), "{dead}");
    assert_eq!(receiver.states(3).await, ["working"; 3]);
    assert_eq!(shown(&server, &id).await["state"], "dead");
    let (_, page) = server.api(Method::GET, "/tenants/acme/pushes?state=dead", &server.read, None).await;
    assert_eq!(page["pushes"][0]["task"], id.as_str(), "{page}");
    assert!(receiver.is_quiet().await);

    let path = format!("/tenants/acme/tasks/{id}/pushes/default/retry");
    assert_eq!(server.api(Method::POST, &path, &server.deploy, None).await.0, 202);
    assert_eq!(receiver.states(2).await, ["working", "completed"], "it goes on where it was, in order");
    until("the end", async || Some(shown(&server, &id).await).filter(|push| push["state"] == "done")).await;
    let missing = format!("/tenants/acme/tasks/{id}/pushes/other/retry");
    let (status, body) = server.api(Method::POST, &missing, &server.deploy, None).await;
    assert_eq!((status, &body["error"]["code"]), (404, &json!("push_not_found")), "{body}");
}

#[tokio::test]
async fn who_is_gone_is_not_asked_twice() {
    let (server, receiver) = (platform().await, Receiver::start([Status(410)]).await);
    let id = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let dead = logged(&server, &id, "dead").await;
    assert_eq!((&dead["attempts"], &dead["status"]), (&json!(1), &json!(410)), "{dead}");
    assert_eq!(receiver.next().await.state(), "working");
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn a_redirect_is_not_followed_and_takes_no_secret_along() {
    let (server, elsewhere) = (platform_with(|config| config.push.attempts = 2).await, Receiver::start([]).await);
    for code in [301, 302, 303, 307, 308] {
        let to = || With(code, "location", elsewhere.url("/stolen"));
        let receiver = Receiver::start([to(), to()]).await;
        let id = send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
        let dead = logged(&server, &id, "dead").await;
        let fault = format!("the receiver answered {code}; redirects are not followed");
        assert_eq!((&dead["status"], &dead["fault"]), (&json!(code), &json!(fault)), "{dead}");
    }
    assert!(elsewhere.is_quiet().await);
}

#[tokio::test]
async fn a_receiver_may_ask_for_time() {
    let server = platform().await;
    let receiver = Receiver::start([With(429, "retry-after", "2".to_owned())]).await;
    send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))).await;
    let heard = receiver.some(2).await;
    assert_eq!([heard[0].state(), heard[1].state()], ["working", "working"]);
    assert!(heard[1].at - heard[0].at >= Duration::from_millis(1_900), "{:?}", heard[1].at - heard[0].at);
}

#[tokio::test]
async fn one_that_hangs_delays_nobody_else_and_is_cut_off() {
    let server = platform_with(|config| {
        config.push.timeout = Duration::from_secs(2);
        config.push.at_once = 2;
        config.push.attempts = 1;
    })
    .await;
    let (hanging, other) = (Receiver::start(vec![Nothing; 100]).await, Receiver::start([]).await);
    let mut stuck = Vec::new();
    for _ in 0..6 {
        stuck.push(send(&server, told(json!({ "do": "echo", "value": 1 }), &hanging.url("/"))).await);
    }
    hanging.some(2).await;
    let began = Instant::now();
    send(&server, told(json!({ "do": "echo", "value": 1 }), &other.url("/"))).await;
    assert_eq!(other.states(2).await, ["working", "completed"]);
    assert!(began.elapsed() < Duration::from_millis(1_900), "{:?}", began.elapsed());
    assert!(hanging.is_quiet().await, "two at once are all that one destination is given");
    let dead = logged(&server, &stuck[0], "dead").await;
    assert_eq!(dead["fault"], "there was no complete answer in time", "{dead}");
    // The others come one after the other, as places become free.
    hanging.some(4).await;
}

#[tokio::test]
async fn one_destination_is_not_flooded() {
    let server = platform_with(|config| config.push.per_second = 20).await;
    let receiver = Receiver::start([]).await;
    let sends = (0..30).map(|_| send(&server, told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"))));
    futures::future::join_all(sends).await;
    let heard = receiver.some(60).await;
    let took = heard[59].at - heard[0].at;
    // Twenty at once after a quiet time, the other forty at twenty a second.
    assert!(took >= Duration::from_millis(1_800), "{took:?}");
}

//! Every limit on reaching out, crossed.

use serde_json::json;

use crate::harness::TestServer;

#[tokio::test]
async fn using_the_platform_too_often_ends_the_call() {
    let server = TestServer::with_reach().await;
    assert_eq!(server.reach(json!({ "do": "flood", "count": 10_000 })).await, 10_000);
    let (status, answer) = server.http(&server.invoke, "reach", json!({ "do": "flood", "count": 10_001 })).await;
    assert_eq!((status, &answer["reason"]), (502, &json!("host_call_limit")), "{answer}");
    assert_eq!(answer["error"]["message"], "`reach` used the platform more than 10000 times in one call");
}

#[tokio::test]
async fn so_many_calls_are_held_and_no_more() {
    let server = TestServer::with_reach().await;
    let input =
        json!({ "do": "call_and_hold", "skill": "reach", "input": { "do": "sleep", "ms": 20_000 }, "count": 258 });
    let held = server.reach(input).await;
    assert_eq!(held, json!({ "taken": 256, "refused": ["unavailable", "unavailable"] }));
}

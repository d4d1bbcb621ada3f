//! `Idempotency-Key`: a send that is repeated, at any node, happens once.

use futures::future::join_all;
use reqwest::Response;
use serde_json::{Value, json};

use crate::harness::cluster::Cluster;
use crate::harness::{Stream, read};

async fn post(cluster: &Cluster, node: usize, once: &str, input: &Value) -> Response {
    let url = format!("{}/probe", cluster.nodes[node].tenant_url());
    let request = cluster.client.post(url).bearer_auth(&cluster.key).header("idempotency-key", once);
    request.json(input).send().await.unwrap()
}

fn task_of(response: &Response) -> String {
    response.headers()["pleat-task-id"].to_str().unwrap().to_owned()
}

#[tokio::test]
async fn a_send_that_is_repeated_at_any_node_happens_once() {
    let cluster = Cluster::start(3).await;
    over_http(&cluster).await;
    over_a2a(&cluster).await;
    refusals(&cluster).await;
}

async fn over_http(cluster: &Cluster) {
    let input = json!({ "do": "sleep", "ms": 300 });
    let answers = join_all((0..6).map(|turn| post(cluster, turn % 3, "order-17", &input))).await;
    assert!(answers.iter().all(|answer| answer.status() == 200), "{answers:?}");
    let first = task_of(&answers[0]);
    assert!(answers.iter().all(|answer| task_of(answer) == first), "one task for all of them");
    // Long after its end too, and in the other shape of an answer.
    let late = post(cluster, 1, "order-17", &input).await;
    assert_eq!((late.status().as_u16(), task_of(&late)), (200, first.clone()));
    let url = format!("{}/probe", cluster.nodes[2].tenant_url());
    let request = cluster.client.post(url).bearer_auth(&cluster.key).header("idempotency-key", "order-17");
    let streamed = request.header("accept", "text/event-stream").json(&input).send().await.unwrap();
    assert_eq!(task_of(&streamed), first);
    let frames = Stream::of(streamed).all().await;
    assert_eq!(frames.first().unwrap().id, Some(1));
    assert_eq!(frames.last().unwrap().data["body"]["status"]["state"], "completed", "{frames:?}");
    let other = post(cluster, 0, "order-18", &input).await;
    assert_ne!(task_of(&other), first);
}

async fn over_a2a(cluster: &Cluster) {
    let params = json!({ "skill": "probe", "message": { "do": "echo", "value": 3 } });
    let mut ids = Vec::new();
    for node in 0..3 {
        let request = cluster.request(node, "tasks/send", params.clone()).header("idempotency-key", "m-1");
        let (_, sent) = read(request.send().await.unwrap()).await;
        assert_eq!(sent["result"]["status"]["state"], "completed", "{sent}");
        ids.push(sent["result"]["id"].as_str().unwrap().to_owned());
    }
    assert!(ids.windows(2).all(|pair| pair[0] == pair[1]), "{ids:?}");
    let other = json!({ "skill": "probe", "message": { "do": "echo", "value": 4 } });
    let (_, refused) =
        read(cluster.request(0, "tasks/send", other).header("idempotency-key", "m-1").send().await.unwrap()).await;
    assert_eq!(refused["error"]["code"], -32602, "{refused}");
    assert!(refused["error"]["message"].as_str().unwrap().contains("another call"), "{refused}");
}

async fn refusals(cluster: &Cluster) {
    let (status, refused) = read(post(cluster, 1, "order-17", &json!({ "do": "echo", "value": 1 })).await).await;
    assert_eq!((status, &refused["error"]["code"]), (409, &json!("idempotency_key_reused")), "{refused}");
    for bad in [" ", "two words", &"x".repeat(256)] {
        let (status, refused) = read(post(cluster, 0, bad, &json!({ "do": "echo", "value": 1 })).await).await;
        assert_eq!(status, 400, "{bad}: {refused}");
    }
    let whole = "x".repeat(255);
    assert_eq!(post(cluster, 0, &whole, &json!({ "do": "echo", "value": 1 })).await.status(), 200);
    // Another caller's key is another key.
    let request = cluster.api(0, reqwest::Method::POST, "/tenants/acme/keys").bearer_auth(&cluster.key);
    let (_, made) = read(request.json(&json!({ "scopes": ["invoke"] })).send().await.unwrap()).await;
    let url = format!("{}/probe", cluster.nodes[0].tenant_url());
    let request = cluster.client.post(url).bearer_auth(made["key"].as_str().unwrap());
    let answer = request.header("idempotency-key", "order-17").json(&json!({ "do": "echo", "value": 1 })).send();
    assert_eq!(answer.await.unwrap().status(), 200);
    // Nobody has none.
    cluster.deploy(0, "probe.wasm", crate::harness::fixture("probe.wasm"), "&name=open&visibility=public").await;
    let url = format!("{}/open", cluster.nodes[0].tenant_url());
    let request = cluster.client.post(url).header("idempotency-key", "order-17");
    let (status, refused) = read(request.json(&json!({ "do": "echo", "value": 1 })).send().await.unwrap()).await;
    assert_eq!(status, 400, "{refused}");
}

//! Bearers of tokens are callers of their own: apart from keys, and from each other.

use reqwest::Method;
use serde_json::json;

use super::signer::Signer;
use super::{claims, register, serve, wish, with};
use crate::harness::TestServer;

#[tokio::test]
async fn two_subjects_never_share_a_task() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    let id = register(&server, wish(&[&key], &["invoke"])).await;
    let ada = key.token(&claims(&server));
    let (_, sent) = server.rpc_as(&ada, "tasks/send", json!({ "skill": "echo", "message": 1 })).await;
    let task = sent["result"]["id"].as_str().unwrap_or_else(|| panic!("{sent}"));
    let get = async |token: &str, id: &str| server.rpc_as(token, "tasks/get", json!({ "id": id })).await;
    // Any token of hers is she.
    let again = key.token(&with(&server, "jti", json!("another")));
    assert_eq!(get(&again, task).await.1["result"]["id"], task);
    assert_eq!(server.task(task).await["caller"], format!("jwt:{id}:ada"));
    let random = get(&again, "task_00000000000070008000000000000000").await;
    for subject in ["bob", "Ada", "ada ", "ada\u{0}", "jwt:ada", "key:ada", ""] {
        let token = key.token(&with(&server, "sub", json!(subject)));
        let answer = get(&token, task).await;
        match subject {
            "" => assert_eq!(answer.0, 401),
            _ => assert_eq!(answer, random, "{subject:?}"),
        }
    }
    assert_eq!(get(&server.invoke, task).await, random);
    // Nothing is public here: who has no key is asked for one, whatever the task.
    let nobody = get("", task).await;
    assert_eq!((nobody.0, &nobody), (401, &get("", "task_00000000000070008000000000000000").await));
}

#[tokio::test]
async fn a_subject_that_is_not_plain_is_named_by_its_hash() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    let id = register(&server, wish(&[&key], &["invoke"])).await;
    let long = "x".repeat(65);
    for (subject, named) in [
        ("ada@example.com", Some("ada@example.com")),
        ("auth0|5f7c", Some("auth0|5f7c")),
        ("a:b", None),
        ("Ada Lovelace", None),
        ("ада", None),
        (long.as_str(), None),
        // Written like a hash, and still not one.
        ("sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad", None),
    ] {
        let token = key.token(&with(&server, "sub", json!(subject)));
        let (_, sent) = server.rpc_as(&token, "tasks/send", json!({ "skill": "echo", "message": 1 })).await;
        let task = sent["result"]["id"].as_str().unwrap_or_else(|| panic!("{sent}"));
        let caller = server.task(task).await["caller"].as_str().unwrap().to_owned();
        let rest = caller.strip_prefix(&format!("jwt:{id}:")).unwrap_or_else(|| panic!("{caller}"));
        match named {
            Some(named) => assert_eq!(rest, named),
            None => {
                let hash = rest.strip_prefix("sha256:").unwrap_or_else(|| panic!("{caller}"));
                assert!(hash.len() == 64 && !subject.contains(hash), "{caller}");
            }
        }
    }
}

#[tokio::test]
async fn equal_subjects_of_two_issuers_are_two_callers() {
    let (one, two) = (Signer::edwards("one"), Signer::edwards("two"));
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&one], &["invoke"])).await;
    let mut second = wish(&[&two], &["invoke"]);
    second["issuer"] = json!("https://second.example");
    register(&server, second).await;
    let (first, second) =
        (one.token(&claims(&server)), two.token(&with(&server, "iss", json!("https://second.example"))));
    let (_, sent) = server.rpc_as(&first, "tasks/send", json!({ "skill": "echo", "message": 1 })).await;
    let task = sent["result"]["id"].as_str().unwrap();
    let (_, answer) = server.rpc_as(&second, "tasks/get", json!({ "id": task })).await;
    assert_eq!(answer["error"]["code"], -32001, "{answer}");
}

#[tokio::test]
async fn who_reads_the_tenant_sees_the_tasks_of_tokens() {
    let key = Signer::edwards("one");
    let server = serve(TestServer::start().await).await;
    register(&server, wish(&[&key], &["invoke", "read"])).await;
    server.http(&key.token(&claims(&server)), "echo", json!(1)).await;
    let reader = key.token(&with(&server, "scope", json!("read")));
    let (status, page) = server.api(Method::GET, "/tenants/acme/tasks", &reader, None).await;
    assert_eq!((status, page["tasks"].as_array().map(Vec::len)), (200, Some(1)), "{page}");
}

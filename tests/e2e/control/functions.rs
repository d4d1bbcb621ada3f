//! Deploying, looking, and taking away.

use reqwest::Method;
use serde_json::json;

use super::{refused, saying};
use crate::harness::{TestServer, fixture};

const FUNCTIONS: &str = "/tenants/acme/functions";

#[tokio::test]
async fn a_deploy_says_what_it_made_and_the_lists_agree() {
    let server = TestServer::start().await;
    let (status, made) = server.try_deploy("minimal.wat", saying("v1"), "&name=hello&visibility=public").await;
    assert_eq!(status, 201, "{made}");
    insta::assert_json_snapshot!(made, { ".hash" => "[hash]", ".tookMs" => "[ms]", ".url" => "[url]" }, @r#"
    {
      "name": "hello",
      "version": 1,
      "hash": "[hash]",
      "created": true,
      "language": "wat",
      "visibility": "public",
      "requested": {
        "visibility": "listed",
        "secrets": [],
        "config": [],
        "hosts": [],
        "skills": [],
        "keyValue": false
      },
      "before": {
        "visibility": "listed",
        "secrets": [],
        "config": [],
        "hosts": [],
        "skills": [],
        "keyValue": false
      },
      "granted": {
        "visibility": "public",
        "secrets": [],
        "config": [],
        "hosts": [],
        "skills": [],
        "keyValue": false
      },
      "url": "[url]",
      "manifest": {
        "description": "minimal",
        "capabilities": {}
      },
      "tookMs": "[ms]"
    }
    "#);
    assert_eq!(made["url"], format!("{}/hello", server.tenant_url()));
    let all = server.get(FUNCTIONS).await;
    let shown = server.get(&format!("{FUNCTIONS}/hello")).await;
    let listed = &all["functions"][0];
    for field in ["name", "version", "hash", "language", "visibility", "url"] {
        assert_eq!((&listed[field], &shown[field]), (&made[field], &made[field]), "{field}");
    }
    assert_eq!((&shown["fileName"], &shown["manifest"]), (&json!("minimal.wat"), &made["manifest"]));
    assert_eq!((&shown["grants"], listed.get("grants")), (&made["granted"], None));
    assert_eq!(shown["requested"], made["requested"]);
}

#[tokio::test]
async fn the_same_source_again_changes_nothing() {
    let server = TestServer::start().await;
    let first = server.deploy("minimal.wat", saying("v1"), "&name=hello").await;
    let card = async || {
        let url = format!("{}/.well-known/agent-card.json", server.tenant_url());
        server.client.get(url).send().await.unwrap().headers()["etag"].clone()
    };
    let before = card().await;
    let (status, again) = server.try_deploy("minimal.wat", saying("v1"), "&name=hello").await;
    assert_eq!((status, &again["created"], &again["version"]), (200, &json!(false), &json!(1)), "{again}");
    assert_eq!(again["hash"], first["hash"]);
    assert_eq!(card().await, before, "the card did not change either");
    let versions = server.get(&format!("{FUNCTIONS}/hello/versions")).await;
    assert_eq!(versions["versions"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn a_name_must_fit_and_not_be_reserved() {
    let server = TestServer::start().await;
    let long = "x".repeat(64);
    let bad = ["", "-a", "_a", "Hello", "a.b", "a%2Fb", "..", "%C3%A9", "a%20b", "a%00b", &long];
    let reserved = ["mcp", "api", "healthz", "console", "t", "tasks"];
    for name in bad.into_iter().chain(reserved) {
        let (status, answer) = server.try_deploy("minimal.wat", saying("v1"), &format!("&name={name}")).await;
        assert_eq!((status, &answer["error"]["code"]), (422, &json!("not_deployable")), "{name}: {answer}");
    }
    assert_eq!(server.get(FUNCTIONS).await["functions"], json!([]));
    let (_, named) = server.try_deploy("by-file.wat", saying("v1"), "").await;
    assert_eq!(named["name"], "by-file", "without a wish, the file's name counts: {named}");
}

#[tokio::test]
async fn what_cannot_be_deployed_is_said_and_changes_nothing() {
    let server = TestServer::start().await;
    server.deploy("minimal.wat", saying("v1"), "&name=hello&visibility=public").await;
    let cases: [(&str, Vec<u8>); 9] = [
        ("hello.py", b"print()".to_vec()),
        ("hello", b"x".to_vec()),
        ("", b"x".to_vec()),
        ("hello.wat", Vec::new()),
        ("hello.wat", b"(component".to_vec()),
        ("hello.wasm", b"\0asm not really".to_vec()),
        ("hello.wat", fixture("core-module.wat")),
        ("hello.wat", fixture("wrong-world.wat")),
        ("hello.wat", fixture("unknown-import.wat")),
    ];
    for (file, source) in cases {
        let (status, answer) = server.try_deploy(file, source, "&name=hello").await;
        assert_eq!((status, &answer["error"]["code"]), (422, &json!("not_deployable")), "{file}: {answer}");
    }
    let shown = server.get(&format!("{FUNCTIONS}/hello")).await;
    assert_eq!((&shown["version"], &shown["visibility"]), (&json!(1), &json!("public")));
    assert_eq!(server.http("", "hello", json!(null)).await, (200, json!("v1")));
}

#[tokio::test]
async fn the_questions_of_a_deploy_are_read_strictly() {
    let server = TestServer::start().await;
    for query in [
        "&visibility=secret",
        "&visibility=",
        "&grant=secret:TOKEN",
        "&grant=",
        "&colour=red",
        "&name=a&name=b",
        "&%ff=1",
    ] {
        let (status, answer) = server.try_deploy("minimal.wat", saying("v1"), query).await;
        assert_eq!((status, &answer["error"]["code"]), (400, &json!("invalid")), "{query}: {answer}");
    }
    assert_eq!(server.get(FUNCTIONS).await["functions"], json!([]));
}

#[tokio::test]
async fn visibility_is_the_deployers_and_takes_effect_at_once() {
    let server = TestServer::start().await;
    let names_on_card = async || {
        let url = format!("{}/.well-known/agent-card.json", server.tenant_url());
        let card: serde_json::Value = server.client.get(url).send().await.unwrap().json().await.unwrap();
        card["skills"].as_array().unwrap().len()
    };
    // Without a wish: on the card, but a key is needed.
    for (query, version, as_nobody, on_card) in
        [("", 1, 401, 1), ("&visibility=public", 2, 200, 1), ("&visibility=unlisted", 3, 404, 0), ("", 4, 401, 1)]
    {
        let made = server.deploy("minimal.wat", saying("v1"), &format!("&name=hello{query}")).await;
        assert_eq!(made["version"], version, "other grants make another version: {made}");
        assert_eq!(server.http("", "hello", json!(null)).await.0, as_nobody, "{query}");
        assert_eq!(server.http(&server.invoke, "hello", json!(null)).await.0, 200, "{query}");
        assert_eq!(names_on_card().await, on_card, "{query}");
    }
}

#[tokio::test]
async fn public_is_granted_only_where_the_function_asks_for_it() {
    let server = TestServer::start().await;
    let (status, refused) = server.try_deploy("minimal.wat", saying("v1"), "&name=quiet&grant=public").await;
    assert_eq!(status, 400, "{refused}");
    assert_eq!(
        refused["error"]["message"],
        "`public` cannot be granted: the function does not ask for it; it asks for nothing"
    );
    let manifest = r#"{\"visibility\":\"public\"}"#;
    let asking = String::from_utf8(saying("v1")).unwrap().replace(r#"{\"description\":\"minimal\"}"#, manifest);
    let length = manifest.replace('\\', "").len();
    let asking = asking.replace("(i32.const 16) (i32.const 25)", &format!("(i32.const 16) (i32.const {length})"));
    let ungranted = server.deploy("minimal.wat", asking.clone(), "&name=loud").await;
    assert_eq!(ungranted["requested"]["visibility"], "public", "{ungranted}");
    assert_eq!(ungranted["granted"]["visibility"], "listed", "asking is not enough: {ungranted}");
    let granted = server.deploy("minimal.wat", asking, "&name=loud&grant=public").await;
    assert_eq!(granted["granted"]["visibility"], "public", "{granted}");
}

#[tokio::test]
async fn a_deleted_function_is_gone_and_can_come_back() {
    let server = TestServer::start().await;
    server.deploy("minimal.wat", saying("v1"), "&name=hello&visibility=public").await;
    let path = format!("{FUNCTIONS}/hello");
    assert_eq!(server.api(Method::DELETE, &path, &server.deploy, None).await.0, 204);
    assert_eq!(server.http("", "hello", json!(null)).await.0, 404);
    let versions = format!("{path}/versions");
    for (method, path) in [(Method::GET, &path), (Method::DELETE, &path), (Method::GET, &versions)] {
        let answer = server.refusal(method.clone(), path, &server.admin, None).await;
        assert_eq!(answer, refused(404, "not_found"), "{method} {path}");
    }
    let again = server.deploy("minimal.wat", saying("v1"), "&name=hello&visibility=public").await;
    assert_eq!(again["created"], true);
    assert!(again["version"].as_i64().unwrap() > 1, "a version's number is used once: {again}");
    assert_eq!(server.http("", "hello", json!(null)).await, (200, json!("v1")));
}

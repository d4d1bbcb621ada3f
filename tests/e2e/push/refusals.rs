//! What is refused when a receiver is registered: nothing is stored, nothing runs, nobody is dialled.

use reqwest::Method;
use serde_json::{Value, json};
use sqlx::{Connection, PgConnection};
use tokio::net::{TcpListener, TcpStream};

use super::{Receiver, platform, send, set, told};
use crate::harness::{TestServer, database, fixture};

async fn finished(server: &TestServer) -> String {
    send(server, json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })).await
}

async fn nothing_is_kept(server: &TestServer) {
    let (_, page) = server.api(Method::GET, "/tenants/acme/pushes", &server.read, None).await;
    assert_eq!(page["pushes"], json!([]), "{page}");
}

fn refusal(answer: &Value) -> &str {
    assert_eq!(answer["error"]["code"], -32602, "{answer}");
    answer["error"]["message"].as_str().unwrap()
}

#[tokio::test]
async fn no_disguise_of_a_private_address_is_registered_or_dialled() {
    let canary = TcpListener::bind("0.0.0.0:0").await.unwrap();
    let port = canary.local_addr().unwrap().port();
    let server = TestServer::start_with(
        |config| {
            // All that could refuse them beside their address is open.
            config.egress.plain_http = true;
            config.egress.ports = vec![port];
        },
        |_| {},
    )
    .await;
    server.deploy_probe().await;
    let id = finished(&server).await;
    let urls = String::from_utf8(fixture("private_urls.txt")).unwrap();
    let mut tried = 0;
    for url in urls.lines() {
        let url = url.replace("PORT", &port.to_string());
        let answer = set(&server, &server.invoke, &id, json!({ "url": url })).await;
        assert!(refusal(&answer).starts_with("the URL of a push configuration cannot be used: "), "{url}: {answer}");
        tried += 1;
        if tried % 20 == 0 {
            let (_, answer) =
                server.rpc_as(&server.invoke, "tasks/send", told(json!({ "do": "echo", "value": 1 }), &url)).await;
            refusal(&answer);
        }
    }
    assert!(tried >= 600, "{tried}");
    nothing_is_kept(&server).await;
    let (_, tasks) = server.api(Method::GET, "/tenants/acme/tasks", &server.read, None).await;
    assert_eq!(tasks["tasks"].as_array().unwrap().len(), 1, "a send that is refused makes no task: {tasks}");
    let ours = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
    let (_, heard) = canary.accept().await.unwrap();
    assert_eq!(heard.port(), ours.local_addr().unwrap().port(), "nobody came before");
}

#[tokio::test]
async fn urls_that_are_none_are_refused_with_the_reason() {
    let server = platform().await;
    let id = finished(&server).await;
    for (url, said) in [
        ("", "the URL is not valid"),
        ("hooks.example.com", "the URL is not valid"),
        ("ftp://hooks.example.com/", "only `https://` URLs"),
        ("javascript:alert(1)", "only `https://` URLs"),
        ("https://user:pw@hooks.example.com/", "must not carry a user name"),
        ("https://", "the URL is not valid"),
        (&format!("https://hooks.example.com/{}", "a".repeat(9_000)), "at most 8192 bytes"),
    ] {
        let answer = set(&server, &server.invoke, &id, json!({ "url": url })).await;
        assert!(refusal(&answer).contains(said), "{url:.40}: {answer}");
        assert!(!answer.to_string().contains("pw@"), "{answer}");
    }
    nothing_is_kept(&server).await;
}

#[tokio::test]
async fn nothing_that_a_header_cannot_carry_gets_into_one() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let id = finished(&server).await;
    let hostile =
        ["a\r\nX-Admin: 1", "a\nb", "a\rb", "a\u{0}b", "\u{7f}", "tab\tbed", " a", "a ", "", "ü", "a\u{2028}b"];
    for text in hostile {
        let url = receiver.url("/");
        for config in [
            json!({ "url": url, "token": text }),
            json!({ "url": url, "authentication": { "schemes": ["Bearer"], "credentials": text } }),
            json!({ "url": url, "authentication": { "schemes": [text], "credentials": "c" } }),
        ] {
            let answer = set(&server, &server.invoke, &id, config.clone()).await;
            refusal(&answer);
            let mut params = told(json!({ "do": "echo", "value": 1 }), &url);
            params["pushNotification"] = config;
            refusal(&server.rpc_as(&server.invoke, "tasks/send", params).await.1);
        }
    }
    for (field, most) in [("token", 1_024), ("credentials", 4_096)] {
        let config = |length: usize| match field {
            "token" => json!({ "url": receiver.url("/"), "token": "x".repeat(length) }),
            _ => json!({ "url": receiver.url("/"),
                "authentication": { "schemes": ["Bearer"], "credentials": "x".repeat(length) } }),
        };
        refusal(&set(&server, &server.invoke, &id, config(most + 1)).await);
        let kept = set(&server, &server.invoke, &id, config(most)).await;
        assert!(kept["result"].is_object(), "{kept}");
        receiver.next().await;
    }
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn whoever_has_no_key_is_told_nothing_and_whoever_has_another_finds_nothing() {
    let (server, receiver) = (platform().await, Receiver::start([]).await);
    let anonymous =
        server.rpc("tasks/send", json!({ "skill": "probe", "message": { "do": "echo", "value": 1 } })).await;
    let (open, mine) = (anonymous["result"]["id"].as_str().unwrap(), finished(&server).await);
    let random = pleat_domain::TaskId::new().to_string();
    let config = json!({ "url": receiver.url("/") });
    let ask = async |key: &str, method: &str, id: &str| {
        let params = json!({ "id": id, "pushNotificationConfig": config });
        let response = server.rpc_response(key, &format!("tasks/pushNotification/{method}"), params).await;
        crate::isolation::whole(response, id).await
    };
    let wish = json!({ "scopes": ["invoke"], "label": "stranger" });
    let (_, stranger) = server.api(Method::POST, "/tenants/acme/keys", &server.admin, Some(wish)).await;
    let stranger = stranger["key"].as_str().unwrap();
    for method in ["set", "get"] {
        let unknown = ask("", method, &random).await;
        assert!(unknown.contains("401") && unknown.contains("-32052"), "{unknown}");
        assert_eq!(ask("", method, open).await, unknown, "nobody's own task too");
        assert_eq!(ask("", method, &mine).await, unknown);
        let unknown = ask(stranger, method, &random).await;
        assert!(unknown.contains("-32001"), "{unknown}");
        assert_eq!(ask(stranger, method, &mine).await, unknown);
        assert_eq!(ask(stranger, method, open).await, unknown);
    }
    let inline = told(json!({ "do": "echo", "value": 1 }), &receiver.url("/"));
    let (status, refused) = server.rpc_as("", "tasks/send", inline).await;
    assert_eq!((status, &refused["error"]["code"]), (401, &json!(-32052)), "{refused}");
    nothing_is_kept(&server).await;
    assert!(receiver.is_quiet().await);
}

#[tokio::test]
async fn the_way_to_a_receiver_is_sealed_in_the_database() {
    let url = database().await;
    let config = pleat_store::StoreConfig::new(url.as_str());
    let server = TestServer::start_on(config, |_| {}, |_| {}).await;
    server.deploy_probe().await;
    let id = finished(&server).await;
    let config = json!({ "url": "https://receiver.invalid/path-s3cret", "token": "token-s3cret",
        "authentication": { "schemes": ["Bearer"], "credentials": "credentials-s3cret" } });
    let kept = set(&server, &server.invoke, &id, config).await;
    assert!(kept["result"].is_object(), "{kept}");
    let mut connection = PgConnection::connect(&url).await.unwrap();
    let rows: Vec<(String, Vec<u8>)> =
        sqlx::query_as("SELECT c::text, c.sealed FROM push_configs c").fetch_all(&mut connection).await.unwrap();
    let [(text, sealed)] = rows.as_slice() else { panic!("{rows:?}") };
    assert!(text.contains("https://receiver.invalid") && !text.contains("s3cret"), "{text}");
    assert!(!String::from_utf8_lossy(sealed).contains("s3cret"));
}

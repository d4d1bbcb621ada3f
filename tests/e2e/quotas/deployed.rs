//! What may be deployed: so many functions, so much source.

use futures::future::join_all;
use pleat_domain::Plan;
use reqwest::Method;
use serde_json::{Value, json};

use super::{FREE, limited, most};
use crate::harness::{TestServer, answering, fixture};

async fn deploy(server: &TestServer, name: &str, source: Vec<u8>) -> (u16, Value) {
    server.try_deploy("f.wat", source, &format!("&name={name}")).await
}

fn minimal() -> Vec<u8> {
    fixture("minimal.wat")
}

#[tokio::test]
async fn one_function_too_many_changes_nothing() {
    let server = limited(Plan { functions: most(1), ..FREE }).await;
    assert_eq!(deploy(&server, "one", minimal()).await.0, 201);
    let (status, refused) = deploy(&server, "two", minimal()).await;
    assert_eq!((status, &refused["error"]["code"]), (403, &json!("limit_reached")), "{refused}");
    assert_eq!(refused["error"]["details"], json!({ "limit": "functions", "most": 1 }));
    let text = "this tenant may have 1 functions; delete what is not needed, or ask the operator for another plan";
    assert_eq!(refused["error"]["message"], text);
    let (_, listed) = server.api(Method::GET, "/tenants/acme/functions", &server.read, None).await;
    assert_eq!(listed["functions"].as_array().unwrap().len(), 1);
    // What is there may still be replaced.
    let other = answering(&json!({ "description": "another" }), "1");
    assert_eq!(deploy(&server, "one", other).await.0, 201);
    let (status, _) = server.api(Method::DELETE, "/tenants/acme/functions/one", &server.deploy, None).await;
    assert_eq!(status, 204);
    assert_eq!(deploy(&server, "two", minimal()).await.0, 201);
}

#[tokio::test]
async fn deploys_at_once_do_not_slip_past_the_limit() {
    let server = limited(Plan { functions: most(3), ..FREE }).await;
    let names: Vec<String> = (0..8).map(|number| format!("f{number}")).collect();
    let answers = join_all(names.iter().map(|name| deploy(&server, name, minimal()))).await;
    let of = |wanted: u16| answers.iter().filter(|(status, _)| *status == wanted).count();
    assert_eq!((of(201), of(403)), (3, 5), "{answers:?}");
}

#[tokio::test]
async fn sources_are_counted_together() {
    let size = minimal().len() as u64;
    let server = limited(Plan { source_bytes: most(size + size / 2), ..FREE }).await;
    assert_eq!(deploy(&server, "one", minimal()).await.0, 201);
    let (status, refused) = deploy(&server, "two", minimal()).await;
    assert_eq!(status, 403, "{refused}");
    assert_eq!(refused["error"]["details"], json!({ "limit": "source_bytes", "most": size + size / 2 }));
}

#[tokio::test]
async fn compiled_code_of_active_functions_is_limited_and_a_refused_deploy_leaves_nothing() {
    let limit = 150_000;
    let server = limited(Plan { compiled_bytes: most(limit), ..FREE }).await;
    let mut deployed = 0;
    let refused = loop {
        let source = answering(&json!({ "description": format!("number {deployed}") }), "1");
        let (status, answer) = deploy(&server, &format!("f{deployed}"), source).await;
        if status != 201 {
            break (status, answer);
        }
        deployed += 1;
        assert!(deployed < 50, "nothing was refused");
    };
    assert_eq!(refused.0, 403, "{}", refused.1);
    assert_eq!(refused.1["error"]["details"], json!({ "limit": "compiled_bytes", "most": limit }));
    assert!(deployed > 0, "the first one fits");
    // The same again: what was refused is not there, and is refused again.
    let source = answering(&json!({ "description": format!("number {deployed}") }), "1");
    assert_eq!(deploy(&server, "again", source).await.0, 403);
    // A version that replaces another one is charged in its place.
    let other = answering(&json!({ "description": "another" }), "1");
    assert_eq!(deploy(&server, "f0", other).await.0, 201);
}

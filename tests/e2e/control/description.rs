//! The OpenAPI document: served to everybody, complete, and sound enough for generators.

use std::collections::BTreeSet;

use serde_json::Value;

use crate::harness::TestServer;

async fn document() -> Value {
    let server = TestServer::start().await;
    let response = server.client.get(format!("{}/api/v1/openapi.json", server.url)).send().await.unwrap();
    assert_eq!(response.status(), 200);
    assert_eq!(response.headers()["content-type"], "application/json");
    response.json().await.unwrap()
}

/// Method, path and description of each operation.
fn operations(document: &Value) -> Vec<(String, String, &Value)> {
    let paths = document["paths"].as_object().expect("paths");
    let of_path = |path: &String, item: &'_ Value| -> Vec<(String, String)> {
        item.as_object().unwrap().keys().map(|method| (method.to_uppercase(), path.clone())).collect()
    };
    let all = paths.iter().flat_map(|(path, item)| of_path(path, item));
    all.map(|(method, path)| {
        let operation = &document["paths"][&path][method.to_lowercase()];
        (method, path, operation)
    })
    .collect()
}

#[tokio::test]
async fn the_document_lists_every_route_of_the_api() {
    let document = document().await;
    assert!(document["openapi"].as_str().unwrap().starts_with("3."), "{}", document["openapi"]);
    assert_eq!(document["info"]["title"], "Pleat control API");
    let described: BTreeSet<_> = operations(&document).into_iter().map(|(method, path, _)| (method, path)).collect();
    let served: BTreeSet<_> = pleat_gateway::routes::all()
        .into_iter()
        .filter(|route| route.site == "control" && route.path.starts_with("/api/v1/"))
        .filter(|route| route.path != "/api/v1/openapi.json")
        .map(|route| (route.method, route.path))
        .collect();
    assert_eq!(described, served);
    assert!(described.len() >= 18, "{described:?}");
}

#[tokio::test]
async fn every_operation_needs_the_key_and_describes_itself() {
    let document = document().await;
    let scheme = &document["components"]["securitySchemes"]["key"];
    assert_eq!((&scheme["type"], &scheme["scheme"]), (&Value::from("http"), &Value::from("bearer")));
    let mut names = BTreeSet::new();
    for (method, path, operation) in operations(&document) {
        let place = format!("{method} {path}");
        assert_eq!(operation["security"], serde_json::json!([{ "key": [] }]), "{place}");
        assert!(operation["summary"].as_str().is_some_and(|text| !text.is_empty()), "{place}");
        assert!(operation["responses"].as_object().is_some_and(|responses| !responses.is_empty()), "{place}");
        let name = operation["operationId"].as_str().unwrap_or_default();
        assert!(!name.is_empty() && names.insert(name.to_owned()), "{place}: the operationId `{name}` is not unique");
        let described: BTreeSet<&str> = operation["parameters"]
            .as_array()
            .into_iter()
            .flatten()
            .filter(|parameter| parameter["in"] == "path")
            .map(|parameter| parameter["name"].as_str().unwrap())
            .collect();
        let named: BTreeSet<&str> =
            path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}')).collect();
        assert_eq!(described, named, "{place}");
    }
}

#[tokio::test]
async fn every_reference_in_the_document_leads_somewhere() {
    let document = document().await;
    let mut references = Vec::new();
    collect(&document, &mut references);
    assert!(!references.is_empty());
    for reference in references {
        let pointer = reference.strip_prefix('#').unwrap_or_else(|| panic!("`{reference}` leads outside"));
        assert!(document.pointer(pointer).is_some(), "`{reference}` leads nowhere");
    }
}

fn collect<'a>(value: &'a Value, references: &mut Vec<&'a str>) {
    match value {
        Value::Object(fields) => {
            references.extend(fields.get("$ref").and_then(Value::as_str));
            fields.values().for_each(|value| collect(value, references));
        }
        Value::Array(items) => items.iter().for_each(|value| collect(value, references)),
        _ => {}
    }
}

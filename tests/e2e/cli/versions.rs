//! `pleat versions`, `rollback`, `delete`.

use crate::cli::Tenant;

#[tokio::test]
async fn versions_go_back_and_forth_at_once() {
    let tenant = Tenant::new("versions").await;
    for word in ["v1", "v2"] {
        let file = tenant.minimal("word.wat", word);
        tenant.pleat(&["deploy", &file]).await.ok();
    }
    let call = async || tenant.pleat(&["call", "word"]).await.ok().stdout;
    assert_eq!(call().await, "v2\n");
    let back = tenant.pleat(&["rollback", "word"]).await.ok().says(&["calls in flight finish on their version"]);
    assert_eq!(back.stdout, "word v1\n");
    assert_eq!(call().await, "v1\n");
    let further = tenant.pleat(&["rollback", "word"]).await.failed(1);
    further.says(&["`word` has no version before 1"]);
    assert_eq!(tenant.pleat(&["rollback", "word", "--to", "v2"]).await.ok().stdout, "word v2\n");
    assert_eq!(call().await, "v2\n");
    tenant.pleat(&["rollback", "word", "--to", "9"]).await.failed(1).says(&["there is no version `word@9`"]);
    assert_eq!(call().await, "v2\n");
}

#[tokio::test]
async fn the_versions_of_a_function_are_listed_with_the_one_that_runs() {
    let tenant = Tenant::new("versions-list").await;
    for word in ["v1", "v2"] {
        let file = tenant.minimal("word.wat", word);
        tenant.pleat(&["deploy", &file]).await.ok();
    }
    let json = tenant.pleat(&["versions", "word", "--json"]).await.ok().json();
    let mut versions: Vec<(i64, bool)> = json["versions"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["version"].as_i64().unwrap(), it["active"].as_bool().unwrap()))
        .collect();
    versions.sort_unstable();
    assert_eq!(versions, [(1, false), (2, true)]);
    let table = tenant.pleat(&["versions", "word"]).await.ok().stdout;
    let lines: Vec<&str> = table.lines().collect();
    assert_eq!(lines.len(), 3, "{table}");
    assert!(lines[0].starts_with("VERSION  STATE"), "{table}");
    let active = lines.iter().find(|line| line.contains("active")).unwrap();
    assert!(active.starts_with("v2 ") && active.contains("word.wat"), "{table}");
    tenant.pleat(&["versions", "nothing"]).await.failed(1).says(&["there is no function `nothing`"]);
}

#[tokio::test]
async fn a_deleted_function_is_gone() {
    let tenant = Tenant::new("versions-delete").await;
    let file = tenant.minimal("word.wat", "ok");
    tenant.pleat(&["deploy", &file]).await.ok();
    tenant.pleat(&["call", "word"]).await.ok();
    let deleted = tenant.pleat(&["delete", "word"]).await.ok().says(&["deleted word"]);
    assert_eq!(deleted.stdout, "");
    tenant.pleat(&["call", "word"]).await.failed(1).says(&["unknown skill `word`", "hint: "]);
    tenant.pleat(&["delete", "word"]).await.failed(1).says(&["there is no function `word`"]);
    tenant.pleat(&["rollback", "word"]).await.failed(1).says(&["there is no function `word`"]);
    let card = tenant.pleat(&["card", "--json"]).await.ok().json();
    assert_eq!(card["skills"], serde_json::json!([]));
    tenant.pleat(&["deploy", &file]).await.ok();
    assert_eq!(tenant.pleat(&["call", "word"]).await.ok().stdout, "ok\n");
}

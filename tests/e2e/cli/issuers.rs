//! `pleat issuers`: registered, listed, given new keys, removed.

use crate::cli::Tenant;

const KEYS: &str =
    r#"{"keys":[{"kty":"OKP","crv":"Ed25519","kid":"one","x":"11qYAYKxCrfVS_7TyWQHOg7hcvPapiMlrwIaaPcHURo"}]}"#;

#[tokio::test]
async fn an_issuer_is_registered_listed_rotated_and_removed() {
    let tenant = Tenant::new("issuers").await;
    let keys = tenant.file("jwks.json", KEYS);
    let made = tenant.pleat(&["issuers", "add", "my-backend", "--jwks", &keys, "--audience", "my-agent"]).await.ok();
    let made = made.says(&["tokens of my-backend are taken, for at most: invoke"]);
    let id = made.stdout.trim_end();
    assert!(id.len() == 12 && made.stdout.lines().count() == 1, "{made:?}");

    let table = tenant.pleat(&["issuers", "list"]).await.ok().stdout;
    let line = table.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("{table}"));
    for word in ["my-backend", " given ", " my-agent ", " invoke "] {
        assert!(line.contains(word), "{word}: {line}");
    }
    let other = tenant.file("other.json", &KEYS.replace("one", "two"));
    let rotated = tenant.pleat(&["issuers", "rotate", id, "--jwks", &other]).await.ok();
    assert_eq!(rotated.says(&[&format!("{id} has new keys")]).stdout, "");
    let list = tenant.pleat(&["issuers", "list", "--json"]).await.ok().json();
    assert_eq!(list["issuers"][0]["jwks"]["keys"][0]["kid"], "two", "{list}");

    let removed = tenant.pleat(&["issuers", "rm", id, "--json"]).await.ok().json();
    assert_eq!(removed, serde_json::json!({ "id": id, "removed": true }));
    tenant.pleat(&["issuers", "rm", id]).await.failed(1).says(&[&format!("there is no issuer `{id}`")]);
}

#[tokio::test]
async fn mistakes_are_told_before_anything_is_registered() {
    let tenant = Tenant::new("issuers-bad").await;
    let secret = tenant.file("private.json", &KEYS.replace("\"x\"", "\"d\":\"AAAA\",\"x\""));
    let add = async |more: &[&str]| tenant.pleat(&[&["issuers", "add", "my-backend"], more].concat()).await;
    add(&["--jwks", &secret]).await.failed(1).says(&["it holds a private key"]);
    add(&["--jwks", "/nowhere.json"]).await.failed(1).says(&["cannot read `/nowhere.json`"]);
    add(&["--jwks-url", "http://169.254.169.254/"]).await.failed(1).says(&["not a public one"]);
    add(&[]).await.failed(2).says(&["--jwks"]);
    add(&["--jwks", &secret, "--scopes", "root"]).await.failed(2).says(&["root"]);
    let list = tenant.pleat(&["issuers", "list", "--json"]).await.ok().json();
    assert_eq!(list, serde_json::json!({ "issuers": [] }));
}

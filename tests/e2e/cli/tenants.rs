//! `pleat tenants` and `pleat card`.

use serde_json::json;

use crate::cli::Tenant;
use crate::harness::dev::Dev;

#[tokio::test]
async fn a_tenant_is_made_listed_and_deleted() {
    let dev = Dev::shared().await;
    let made = dev.pleat(&["tenants", "create", "short-lived"]).await.ok().says(&["shown this once"]);
    let facts: Vec<(&str, &str)> =
        made.stdout.lines().filter_map(|line| line.split_once(' ')).map(|(name, value)| (name, value.trim())).collect();
    assert_eq!(facts[0], ("tenant", "short-lived"));
    assert_eq!(facts[1], ("url", format!("{}/t/short-lived", dev.url()).as_str()));
    let (name, key) = facts[2];
    assert!(name == "admin-key" && key.starts_with("plt_"), "{facts:?}");
    dev.pleat(&["list", "--key", key]).await.ok();
    dev.pleat(&["tenants", "create", "short-lived"]).await.failed(1).says(&["tenant `short-lived` already exists"]);
    let listed = async || dev.pleat(&["tenants", "list"]).await.ok().stdout.contains("short-lived ");
    assert!(listed().await);

    let unasked = dev.pleat(&["tenants", "delete", "short-lived"]).await.failed(2);
    unasked.says(&["deleting the tenant `short-lived` needs a confirmation", "hint: pass --yes"]);
    assert!(listed().await);
    let deleted = dev.pleat(&["tenants", "delete", "short-lived", "--yes"]).await.ok().says(&["deleted short-lived"]);
    assert_eq!(deleted.stdout, "");
    assert!(!listed().await);
    dev.pleat(&["list", "--key", key]).await.failed(1).says(&["this needs a valid key"]);
    dev.pleat(&["tenants", "delete", "short-lived", "--yes"]).await.failed(1).says(&["there is no such tenant"]);
}

#[tokio::test]
async fn a_tenant_is_given_a_plan_and_another() {
    let dev = Dev::shared().await;
    dev.pleat(&["tenants", "create", "planned", "--plan", "small"]).await.ok();
    let plan = async || {
        let listed = dev.pleat(&["tenants", "list"]).await.ok().stdout;
        let line = listed.lines().find(|line| line.starts_with("planned ")).unwrap_or_else(|| panic!("{listed}"));
        line.split_whitespace().nth(1).unwrap().to_owned()
    };
    assert_eq!(plan().await, "small");
    let set = dev.pleat(&["tenants", "set-plan", "planned", "unlimited"]).await.ok();
    set.says(&["planned has the plan unlimited"]);
    assert_eq!(plan().await, "unlimited");
    let unknown = dev.pleat(&["tenants", "set-plan", "planned", "golden"]).await.failed(1);
    unknown.says(&["there is no plan `golden`; there are small, standard, unlimited"]);
    dev.pleat(&["tenants", "create", "planned-too", "--plan", "golden"]).await.failed(1);
}

#[tokio::test]
async fn a_name_that_cannot_be_a_tenants_is_refused_before_anything_is_sent() {
    let dev = Dev::shared().await;
    for name in ["Upper", "-dash", "under_score", ""] {
        dev.pleat(&["tenants", "create", "--", name]).await.failed(2);
    }
}

#[tokio::test]
async fn the_card_is_the_one_that_is_published() {
    let tenant = Tenant::with_probe("card").await;
    let printed = tenant.pleat(&["card", "--json"]).await.ok();
    let card = printed.json();
    assert_eq!(card["skills"][0]["id"], "probe");
    assert_eq!(card["url"], json!(tenant.url("")));
    let published = reqwest::get(tenant.url("/.well-known/agent-card.json")).await.unwrap();
    assert_eq!(card, published.json::<serde_json::Value>().await.unwrap());
    let pretty = tenant.pleat(&["card"]).await.ok().says(&["/.well-known/agent-card.json"]);
    assert_eq!(serde_json::from_str::<serde_json::Value>(&pretty.stdout).unwrap(), card);
    // It needs no key.
    let open = tenant.dev.pleat(&["card", "--json", "--tenant", "card"]).await.ok();
    assert_eq!(open.json(), card);
}

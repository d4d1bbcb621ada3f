//! `pleat keys`: made, listed, revoked, and what each may do.

use crate::cli::Tenant;

#[tokio::test]
async fn a_key_is_printed_once_works_and_stops_when_it_is_revoked() {
    let tenant = Tenant::with_probe("keys").await;
    let made = tenant.pleat(&["keys", "create", "--scopes", "invoke", "--label", "frontend"]).await.ok();
    let made = made.says(&["shown this once"]);
    let key = made.stdout.trim_end();
    assert!(key.starts_with("plt_") && made.stdout.lines().count() == 1, "{made:?}");
    let id = key.split('_').nth(1).unwrap();
    let call = async || tenant.pleat(&["call", "probe", r#"{"do":"echo","value":"yes"}"#, "--key", key]).await;
    assert_eq!(call().await.ok().stdout, "yes\n");

    let table = tenant.pleat(&["keys", "list"]).await.ok().stdout;
    let line = table.lines().find(|line| line.starts_with(id)).unwrap_or_else(|| panic!("{table}"));
    assert!(line.contains(" invoke ") && line.contains(" active ") && line.ends_with("frontend"), "{line}");
    assert!(!table.contains(key), "{table}");

    let revoked = tenant.pleat(&["keys", "revoke", id]).await.ok().says(&[&format!("revoked {id}")]);
    assert_eq!(revoked.stdout, "");
    let refused = call().await.failed(1).says(&["this needs a valid key", "hint: "]);
    assert!(!refused.stderr.contains(key), "{refused:?}");
    let list = tenant.pleat(&["keys", "list", "--json"]).await.ok().json();
    let record = list["keys"].as_array().unwrap().iter().find(|record| record["id"] == id).unwrap();
    assert!(record["revokedAt"].is_string(), "{record}");
    tenant.pleat(&["keys", "revoke", "nosuchkey0"]).await.failed(1).says(&["there is no key `nosuchkey0`"]);
}

#[tokio::test]
async fn a_key_may_have_limits_of_its_own() {
    let tenant = Tenant::with_probe("keys-limits").await;
    let create = ["keys", "create", "--scopes", "invoke", "--rate", "60", "--concurrent", "4", "--json"];
    let made = tenant.pleat(&create).await.ok().json();
    assert_eq!((made["requestsPerMinute"].as_u64(), made["concurrentTasks"].as_u64()), (Some(60), Some(4)), "{made}");
    let budgets = ["--cpu-per-minute", "500", "--cpu-per-day", "900", "--bytes-per-day", "5000000000"];
    let create: Vec<&str> = ["keys", "create", "--scopes", "invoke", "--json"].into_iter().chain(budgets).collect();
    let made = tenant.pleat(&create).await.ok().json();
    let shown = ["cpuMsPerMinute", "cpuMsPerDay", "storedBytesPerDay"].map(|name| made[name].as_u64());
    assert_eq!(shown, [Some(500), Some(900), Some(5_000_000_000)], "{made}");
    tenant.pleat(&["keys", "create", "--scopes", "invoke", "--rate", "0"]).await.failed(2);
    tenant.pleat(&["keys", "create", "--scopes", "invoke", "--bytes-per-day", "0"]).await.failed(2);
}

#[tokio::test]
async fn a_key_does_what_its_scopes_say_and_makes_no_more_than_itself() {
    let tenant = Tenant::with_probe("keys-scopes").await;
    let make = async |scopes: &str| tenant.pleat(&["keys", "create", "--scopes", scopes, "-q"]).await.ok();
    let invoke = make("invoke").await;
    assert_eq!(invoke.stderr, "");
    let invoke = invoke.stdout.trim().to_owned();
    let admin = make("admin").await.stdout.trim().to_owned();
    let file = tenant.minimal("one.wat", "ok");
    let deploy = tenant.pleat(&["deploy", &file, "--key", &invoke]).await.failed(1);
    deploy.says(&["lacks the scope `deploy`", "hint: "]);
    tenant.pleat(&["keys", "list", "--key", &invoke]).await.failed(1).says(&["lacks the scope `admin`"]);
    tenant.pleat(&["call", "probe", "--key", &admin]).await.failed(1).says(&["lacks the scope `invoke`"]);
    tenant.pleat(&["tenants", "list", "--key", &tenant.key]).await.failed(1).says(&["lacks the scope `operator`"]);
    let wider = tenant.pleat(&["keys", "create", "--scopes", "deploy", "--key", &admin]).await.failed(1);
    wider.says(&["lacks the scope `deploy`"]);
}

#[tokio::test]
async fn keys_can_end_by_themselves() {
    let tenant = Tenant::new("keys-expiry").await;
    let made = tenant.pleat(&["keys", "create", "--scopes", "read", "--expires", "30d", "--json"]).await.ok().json();
    let list = tenant.pleat(&["keys", "list", "--json"]).await.ok().json();
    let record = list["keys"].as_array().unwrap().iter().find(|record| record["id"] == made["id"]).unwrap();
    assert!(record["expiresAt"].is_string(), "{record}");
    tenant.pleat(&["keys", "create", "--scopes", "read", "--expires", "soon"]).await.failed(2).says(&["12h, 30d"]);
}

#[tokio::test]
async fn a_whole_key_is_not_sent_where_its_id_belongs() {
    let tenant = Tenant::new("keys-id").await;
    let ran = tenant.pleat(&["keys", "revoke", &tenant.key]).await.failed(2);
    ran.says(&["give the id that `pleat keys list` shows, not the key"]);
    tenant.pleat(&["keys", "list"]).await.ok();
    tenant.pleat(&["keys", "create", "--scopes", "everything"]).await.failed(2).says(&["everything"]);
}

//! `pleat secrets`, `pleat settings`, `pleat tasks trace` and what `pleat deploy` says of capabilities.

use crate::harness::binary::{Ran, run, run_with};
use crate::harness::dev::Dev;
use crate::harness::project::write;
use crate::harness::root;

struct Tenant {
    dev: &'static Dev,
    key: String,
    files: tempfile::TempDir,
}

impl Tenant {
    async fn new(slug: &str) -> Self {
        let dev = Dev::shared().await;
        let made = dev.pleat(&["tenants", "create", slug, "--json"]).await.ok().json();
        let key = made["adminKey"].as_str().unwrap().to_owned();
        Self { dev, key, files: tempfile::tempdir().unwrap() }
    }

    async fn pleat(&self, arguments: &[&str]) -> Ran {
        run(self.dev.command(arguments).env("PLEAT_KEY", &self.key)).await
    }

    async fn pleat_with(&self, arguments: &[&str], stdin: &str) -> Ran {
        run_with(self.dev.command(arguments).env("PLEAT_KEY", &self.key), Some(stdin.as_bytes())).await
    }

    async fn deploy_reach(&self, more: &[&str]) -> Ran {
        let file = root().join("tests/fixtures/reach.wasm").display().to_string();
        self.pleat(&[&["deploy", &file, "--name", "reach"], more].concat()).await.ok()
    }

    async fn secret(&self, name: &str) -> String {
        let input = format!(r#"{{"do":"secret","name":"{name}"}}"#);
        self.pleat(&["call", "reach", &input]).await.ok().stdout
    }
}

#[tokio::test]
async fn a_deploy_shows_what_is_asked_for_before_and_now() {
    let tenant = Tenant::new("caps-deploy").await;
    let ran = tenant.deploy_reach(&["--grant", "kv", "--grant", "secret:API_KEY"]).await;
    let ran = ran.says(&["IT ASKS FOR", "to allow it: --grant ", "--grant skill:echo"]);
    let line = |ran: &Ran, name: &str| {
        let line = ran.stderr.lines().find(|line| line.split_whitespace().next() == Some(name));
        line.unwrap_or_else(|| panic!("{ran:?}")).split_whitespace().skip(1).map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(line(&ran, "kv"), ["-", "granted"]);
    assert_eq!(line(&ran, "secret:OTHER_KEY"), ["-", "-"]);
    let ran = tenant.deploy_reach(&["--grant", "all"]).await;
    assert_eq!(line(&ran, "kv"), ["granted", "granted"]);
    assert_eq!(line(&ran, "secret:OTHER_KEY"), ["-", "granted"]);
    assert!(!ran.stderr.contains("to allow it"), "{ran:?}");
    let minimal = root().join("tests/fixtures/minimal.wat").display().to_string();
    let refused = tenant.pleat(&["deploy", &minimal, "--grant", "kv"]).await;
    refused.failed(1).says(&["`kv` cannot be granted: the function does not ask for it; it asks for nothing"]);
}

#[tokio::test]
async fn secrets_are_set_from_every_side_and_shown_on_none() {
    let tenant = Tenant::new("caps-secrets").await;
    tenant.deploy_reach(&["--grant", "all"]).await;
    let set = tenant.pleat_with(&["secrets", "set", "API_KEY"], "from stdin\n").await.ok().says(&["set API_KEY"]);
    assert_eq!(set.stdout, "");
    assert_eq!(tenant.secret("API_KEY").await, "from stdin\n");
    tenant.pleat(&["secrets", "set", "API_KEY", "from-argument"]).await.ok();
    assert_eq!(tenant.secret("API_KEY").await, "from-argument\n");
    let file = write(tenant.files.path(), "value", "from a file\n");
    tenant.pleat(&["secrets", "set", "API_KEY", "--from-file", &file]).await.ok();
    assert_eq!(tenant.secret("API_KEY").await, "from a file\n");
    let list = tenant.pleat(&["secrets", "list"]).await.ok().stdout;
    // A file is taken as it is, with the end of its line.
    assert!(list.starts_with("NAME") && list.contains("API_KEY  12 ") && !list.contains("from"), "{list}");
    tenant.pleat(&["secrets", "rm", "API_KEY"]).await.ok().says(&["removed API_KEY"]);
    tenant.pleat(&["secrets", "rm", "API_KEY"]).await.failed(1).says(&["there is no secret `API_KEY`"]);
    tenant.pleat(&["secrets", "set", "not-a-name", "x"]).await.failed(2).says(&["cannot name a secret"]);
    assert_eq!(tenant.pleat(&["secrets", "list", "--json"]).await.ok().json()["secrets"], serde_json::json!([]));
}

#[tokio::test]
async fn an_environment_file_is_imported_whole_or_not_at_all() {
    let tenant = Tenant::new("caps-import").await;
    tenant.deploy_reach(&["--grant", "all"]).await;
    let text = "# a comment\n\nexport API_KEY=plain value # and why\nOTHER_KEY=\"two\\nlines \\\"quoted\\\"\nand a third\"\n\
                THIRD='single # \\n'\nEMPTY=\nAPI_KEY=last\n";
    let file = write(tenant.files.path(), ".env", text);
    let ran = tenant.pleat(&["secrets", "import", &file, "--json"]).await.ok();
    let names: Vec<String> = ran.rows().iter().map(|row| row["name"].as_str().unwrap().to_owned()).collect();
    assert_eq!(names, ["OTHER_KEY", "THIRD", "EMPTY", "API_KEY"]);
    assert_eq!(tenant.secret("API_KEY").await, "last\n");
    assert_eq!(tenant.secret("OTHER_KEY").await, "two\nlines \"quoted\"\nand a third\n");
    let list = tenant.pleat(&["secrets", "list"]).await.ok().stdout;
    let third = list.lines().find(|line| line.starts_with("THIRD ")).unwrap_or_else(|| panic!("{list}"));
    assert_eq!(third.split_whitespace().nth(1), Some("11"), "single quotes know no escapes: {list}");
    for (bad, words) in [
        ("A=1\nhunter2\n", "line 2 has no `=`"),
        ("A=\"hunter2\n", "line 1 has a quote"),
        ("a-b=hunter2", "line 1 does not"),
    ] {
        let file = write(tenant.files.path(), "bad.env", bad);
        let ran = tenant.pleat(&["secrets", "import", &file]).await.failed(1).says(&[words]);
        assert!(!ran.stderr.contains("hunter2"), "{ran:?}");
    }
    let after = tenant.pleat(&["secrets", "list", "--json"]).await.ok().json();
    assert_eq!(after["secrets"].as_array().unwrap().len(), 4, "a bad file sets nothing");
}

#[tokio::test]
async fn settings_are_set_shown_and_removed() {
    let tenant = Tenant::new("caps-settings").await;
    tenant.deploy_reach(&["--grant", "config:REGION"]).await;
    tenant.pleat(&["settings", "set", "REGION", "eu-west"]).await.ok().says(&["set REGION"]);
    assert_eq!(tenant.pleat(&["settings", "get", "REGION"]).await.ok().stdout, "eu-west\n");
    let called = tenant.pleat(&["call", "reach", r#"{"do":"config","name":"REGION"}"#]).await.ok();
    assert_eq!(called.stdout, "eu-west\n");
    let list = tenant.pleat(&["settings", "list"]).await.ok().stdout;
    assert!(list.lines().nth(1).unwrap().starts_with("REGION  eu-west "), "{list}");
    tenant.pleat(&["settings", "rm", "REGION"]).await.ok();
    tenant.pleat(&["settings", "get", "REGION"]).await.failed(1).says(&["there is no setting `REGION`", "hint: "]);
}

#[tokio::test]
async fn a_trace_shows_the_calls_below_a_task() {
    let tenant = Tenant::new("caps-trace").await;
    tenant.deploy_reach(&["--grant", "all"]).await;
    let input = r#"{"do":"call","skill":"reach","input":{"do":"echo","value":1}}"#;
    let ran = tenant.pleat(&["call", "reach", input, "--via", "a2a", "--json"]).await.ok().json();
    let id = ran["id"].as_str().unwrap();
    let trace = tenant.pleat(&["tasks", "trace", id]).await.ok().stdout;
    let lines: Vec<&str> = trace.lines().collect();
    assert!(lines[1].starts_with("reach v1") && lines[1].ends_with(id), "{trace}");
    assert!(lines[2].starts_with("  reach v1  completed") && !lines[2].contains(id), "{trace}");
    let child = lines[2].split_whitespace().last().unwrap();
    let shown = tenant.pleat(&["tasks", "get", child]).await.ok().stdout;
    assert!(shown.contains(&format!("parent   {id}")), "{shown}");
    assert!(shown.contains("over call"), "{shown}");
}

//! The official conformance suites, against a tenant whose tools, resources and prompts are deployed functions.
//!
//! They need Node 22 and the suites' packages, which not every machine has. These tests are therefore marked as ignored;
//! `.ci/run` installs what they need and runs them in a step of their own:
//! `PLEAT_MCP_NODE=…/node PLEAT_MCP_SUITES=… cargo test -p pleat --test e2e mcp::conformance -- --ignored`.

use std::path::PathBuf;
use std::process::Stdio;
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::Command;

use crate::harness::{TestServer, root};

/// What changes the platform while it is called reaches its control API: the set-up allows the address and gives the key.
const CHANGING: [&str; 2] = ["changing_tool", "changing_prompt"];

pub fn tool(variable: &str) -> PathBuf {
    std::env::var_os(variable).unwrap_or_else(|| panic!("set {variable}: see the module")).into()
}

/// A server whose tenant `acme` has all the fixtures, public.
async fn fixtures() -> TestServer {
    let allow: pleat_egress::AllowRule = "127.0.0.1:*".parse().unwrap();
    let server = TestServer::start_with(
        |config| {
            config.egress.allow.push(allow);
            config.egress.plain_http = true;
            config.event_interval = Duration::from_millis(10);
        },
        // So that the one call that takes longer is cut off, and found again.
        |config| config.mcp_stream = Duration::from_secs(2),
    )
    .await;
    let control = format!("{}/api/v1/tenants/acme", server.url);
    let set = async |path: &str, value: &str| {
        let (status, body) = server
            .api(
                reqwest::Method::PUT,
                &format!("/tenants/acme/{path}"),
                &server.deploy,
                Some(json!({ "value": value })),
            )
            .await;
        assert_eq!(status, 204, "{body}");
    };
    set("secrets/DEPLOY_KEY", &server.deploy).await;
    set("settings/CONTROL_URL", &control).await;
    for name in CHANGING {
        let source = format!("export const description = \"{}\";\nexport default () => null;\n", "Comes and goes");
        server.deploy(&format!("{name}.js"), source, "&visibility=public").await;
    }
    let mut files: Vec<_> =
        std::fs::read_dir(root().join("tests/fixtures/mcp")).unwrap().map(|file| file.unwrap().path()).collect();
    files.sort();
    for file in files.iter().filter(|file| file.extension().is_some_and(|ending| ending == "js")) {
        let name = file.file_name().unwrap().to_string_lossy().into_owned();
        server.deploy(&name, std::fs::read(file).unwrap(), "&visibility=public&grant=all").await;
    }
    server
}

/// Runs a suite; what it printed, if it did not pass.
async fn run(server: &TestServer, suite: &str, arguments: &[&str]) -> Result<String, String> {
    let entry =
        tool("PLEAT_MCP_SUITES").join(suite).join("node_modules/@modelcontextprotocol/conformance/dist/index.js");
    let url = format!("{}/mcp", server.tenant_url());
    let mut command = Command::new(tool("PLEAT_MCP_NODE"));
    command.arg(entry).args(["server", "--url", &url]).args(arguments).stdin(Stdio::null()).kill_on_drop(true);
    let directory = tempfile::tempdir().unwrap();
    let output = tokio::time::timeout(Duration::from_secs(280), command.current_dir(directory.path()).output());
    let output = output.await.expect("the suite ends").expect("it runs");
    let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
    // Scenarios that a revision does not score, the tasks extension among them, must pass too.
    if output.status.success() && !text.contains('✗') { Ok(text) } else { Err(text) }
}

#[tokio::test]
#[ignore = "needs Node and the suites: see the module"]
async fn everything_passes() {
    let server = fixtures().await;
    let mut failed = Vec::new();
    for (suite, arguments) in [
        ("0.1.16", &["--suite", "all"][..]),
        ("0.2.0-alpha.12", &["--requirements", "2025-11-25"][..]),
        ("0.2.0-alpha.12", &["--requirements", "2026-07-28"][..]),
    ] {
        match run(&server, suite, arguments).await {
            Ok(text) => {
                println!("{suite} {arguments:?}: {}", text.lines().rev().take(5).collect::<Vec<_>>().join(" | "))
            }
            Err(text) => failed.push(format!("{suite} {arguments:?}:\n{text}")),
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n\n"));
}

/// For whoever looks for a fault: keeps the fixtures' server up and says where it is.
#[tokio::test]
#[ignore = "serves until it is stopped"]
async fn serve_the_fixtures() {
    let server = fixtures().await;
    let place = std::env::var("PLEAT_MCP_URL_FILE").unwrap_or_else(|_| "mcp-url".to_owned());
    let urls: Value =
        json!({ "url": format!("{}/mcp", server.tenant_url()), "invoke": server.invoke, "admin": server.admin });
    std::fs::write(place, urls.to_string()).unwrap();
    std::future::pending::<()>().await;
}

//! `pleat call --raw`: the wire on stderr, with the key hidden, and a line for curl that does the same.

use std::process::Stdio;

use serde_json::{Value, json};

use crate::cli::Tenant;
use crate::harness::binary::Ran;
use crate::harness::dev::Dev;

/// The lines of the shell that were shown, run as they stand.
async fn pasted(ran: &Ran, key: Option<&str>, directory: &std::path::Path) -> String {
    let (_, lines) = ran.stderr.split_once("the same with curl:\n\n").unwrap_or_else(|| panic!("{ran:?}"));
    let (lines, _) = lines.split_once("\n\n").unwrap_or_else(|| panic!("{ran:?}"));
    let mut shell = tokio::process::Command::new("/bin/sh");
    shell.args(["-c", lines]).current_dir(directory).stdin(Stdio::null()).env_remove("PLEAT_KEY");
    shell.envs(key.map(|key| ("PLEAT_KEY", key)));
    let output = shell.output().await.expect("a shell");
    assert!(output.status.success(), "{lines}\n{output:?}");
    String::from_utf8(output.stdout).expect("UTF-8")
}

#[tokio::test]
async fn both_sides_are_shown_without_the_key_and_the_curl_line_does_the_same() {
    let tenant = Tenant::with_probe("call-raw").await;
    let input = r#"{"do":"echo","value":"it's"}"#;
    let ran = tenant.pleat(&["call", "probe", input, "--raw"]).await.ok();
    assert_eq!(ran.stdout, "it's\n", "data is what it is without --raw");
    assert!(!ran.stderr.contains(&tenant.key), "{ran:?}");
    let ran = ran.says(&[
        "> POST /t/call-raw/probe HTTP/1.1\n",
        "> authorization: Bearer ***\n",
        "> content-type: application/json\n",
        &format!("> {input}\n"),
        "< HTTP/1.1 200 OK\n",
        "< pleat-task-id: task_",
        "< \"it's\"\n",
    ]);
    assert_eq!(pasted(&ran, Some(&tenant.key), tenant.files.path()).await, "\"it's\"");

    let rpc = tenant.pleat(&["call", "probe", input, "--raw", "--via", "a2a", "--quiet"]).await.ok();
    let rpc = rpc.says(&["> POST /t/call-raw/_a2a/ HTTP/1.1\n", r#""method":"tasks/send""#, "< HTTP/1.1 200 OK\n"]);
    let answer: Value = serde_json::from_str(&pasted(&rpc, Some(&tenant.key), tenant.files.path()).await).unwrap();
    assert_eq!(answer["result"]["status"]["state"], "completed");
}

#[tokio::test]
async fn frames_of_a_stream_and_refusals_are_shown_as_they_come() {
    let tenant = Tenant::with_probe("call-raw-stream").await;
    let emit = json!({ "do": "emit", "chunks": 2, "delay_ms": 0 }).to_string();
    for via in ["http", "a2a"] {
        let ran = tenant.pleat(&["call", "probe", &emit, "--stream", "--raw", "--via", via]).await.ok();
        assert_eq!(ran.stdout, "chunk 1chunk 2\ndone\n", "{via}");
        let ran =
            ran.says(&["> accept: text/event-stream", "< content-type: text/event-stream", "< id: 1\n", "< data: {"]);
        let streamed = pasted(&ran, Some(&tenant.key), tenant.files.path()).await;
        assert!(streamed.contains("data: {") && streamed.contains("completed"), "{streamed}");
    }
    let refused = tenant.pleat(&["call", "missing", "{}", "--raw"]).await.failed(1);
    refused.says(&["< HTTP/1.1 404 Not Found", "< {\"error\"", "error: "]);
}

#[tokio::test]
async fn the_key_of_pleat_dev_is_read_from_its_file() {
    let dev = Dev::shared().await;
    let ran = dev.pleat(&["call", "hello", r#"{"name":"Ada"}"#, "--raw"]).await.ok().says(&["export PLEAT_KEY=$(sed"]);
    assert!(!ran.stderr.contains(dev.key("deploy_key")), "{ran:?}");
    assert_eq!(pasted(&ran, None, &dev.project().path).await, r#"{"greeting":"Hello, Ada!"}"#);
}

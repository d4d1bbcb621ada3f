//! What holds for every command: `--json` is one document and nothing else, `--quiet` is silence, errors are told.

use serde_json::Value;

use crate::cli::Tenant;

#[tokio::test]
async fn json_is_one_document_on_stdout_for_every_command() {
    let tenant = Tenant::with_probe("output-json").await;
    let file = tenant.minimal("one.wat", "v1");
    let next = tenant.minimal("next.wat", "v2");
    let task = tenant.task(r#"{"do":"echo","value":1}"#).await;
    let commands: [(&[&str], &str); 13] = [
        (&["deploy", &file], "/version"),
        (&["deploy", &next, "--name", "one"], "/version"),
        (&["list"], "/functions/0/name"),
        (&["versions", "one"], "/versions/0/hash"),
        (&["rollback", "one"], "/version"),
        (&["call", "probe", r#"{"do":"echo","value":{"a":1}}"#], "/a"),
        (&["call", "probe", r#"{"do":"echo","value":1}"#, "--via", "a2a"], "/status/state"),
        (&["tasks", "list"], "/tasks/0/id"),
        (&["tasks", "get", &task], "/skill"),
        (&["keys", "create", "--scopes", "read"], "/key"),
        (&["keys", "list"], "/keys/0/id"),
        (&["card"], "/skills/0/id"),
        (&["delete", "one"], "/deleted"),
    ];
    for (command, pointer) in commands {
        let arguments: Vec<&str> = command.iter().copied().chain(["--json", "--quiet"]).collect();
        let ran = tenant.pleat(&arguments).await.ok();
        assert!(ran.json().pointer(pointer).is_some_and(|value| !value.is_null()), "{command:?}: {ran:?}");
        assert_eq!(ran.stderr, "", "{command:?}");
    }
    for (command, pointer) in [
        (&["tenants", "create", "output-json-made"][..], "/adminKey"),
        (&["tenants", "list"], "/tenants/0/slug"),
        (&["tenants", "delete", "output-json-made", "--yes"], "/deleted"),
    ] {
        let arguments: Vec<&str> = command.iter().copied().chain(["--json"]).collect();
        let ran = tenant.dev.pleat(&arguments).await.ok();
        assert!(ran.json().pointer(pointer).is_some_and(|value| !value.is_null()), "{command:?}: {ran:?}");
    }
}

#[tokio::test]
async fn an_error_is_a_document_too_when_json_is_asked_for() {
    let tenant = Tenant::with_probe("output-error").await;
    let cases: [(&[&str], i32, &str); 4] = [
        (&["call", "nothing"], 1, "not_found"),
        (&["delete", "nothing"], 1, "not_found"),
        (&["call", "probe", "{"], 2, "usage"),
        (&["call", "probe", r#"{"do":"panic"}"#], 3, "task_ended"),
    ];
    for (command, code, word) in cases {
        let arguments: Vec<&str> = command.iter().copied().chain(["--json"]).collect();
        let ran = tenant.pleat(&arguments).await.failed(code);
        let error: Value = serde_json::from_str(&ran.stderr).unwrap_or_else(|fault| panic!("{fault}: {ran:?}"));
        assert!(error["error"]["message"].is_string(), "{error}");
        let got = error["error"]["code"].as_str().unwrap();
        assert!(got == word || got.contains("unknown"), "{command:?}: {error}");
    }
}

#[tokio::test]
async fn a_reader_that_has_seen_enough_is_no_error() {
    let tenant = Tenant::with_probe("output-pipe").await;
    for number in 0..3 {
        tenant.task(&format!(r#"{{"do":"flood_log","lines":100,"bytes":100{number}}}"#)).await;
    }
    let script = r#""$PLEAT" logs -n 10000 | head -n 1; echo "${PIPESTATUS[0]}""#;
    let mut shell = tokio::process::Command::new("bash");
    shell.args(["-c", script]).current_dir(&tenant.dev.project().path);
    shell.env("PLEAT", crate::harness::pleat()).env("PLEAT_KEY", &tenant.key);
    let output = shell.output().await.unwrap();
    let text = String::from_utf8(output.stdout).unwrap();
    assert_eq!(text.lines().nth(1), Some("0"), "{text}");
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
}

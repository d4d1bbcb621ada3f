//! `pleat call`: what is sent, what is printed, and how a call ends.

use serde_json::{Value, json};

use crate::cli::Tenant;
use crate::harness::binary::run_with;

const EMIT: &str = r#"{"do":"emit","chunks":3,"delay_ms":0}"#;

#[tokio::test]
async fn input_comes_from_the_line_a_file_or_stdin_and_json_goes_as_it_was_written() {
    let tenant = Tenant::new("call-input").await;
    let echo = crate::harness::root().join("tests/fixtures/echo.wasm").display().to_string();
    tenant.pleat(&["deploy", &echo, "--name", "echo"]).await.ok();
    let big = r#"{"big":12345678901234567890123,"half":0.50}"#;
    let file = tenant.file("input.json", big);
    for input in [big, &format!("@{file}")] {
        assert_eq!(tenant.pleat(&["call", "echo", input]).await.ok().stdout, format!("{big}\n"), "{input}");
    }
    let piped = run_with(&mut tenant.command(&["call", "echo", "-"]), Some(big.as_bytes())).await.ok();
    assert_eq!(piped.stdout, format!("{big}\n"));
    for (input, printed) in [("Ada Lovelace", "Ada Lovelace"), ("-5", "-5"), ("null", "null"), ("[1, 2]", "[1, 2]")] {
        assert_eq!(tenant.pleat(&["call", "echo", input]).await.ok().stdout, format!("{printed}\n"), "{input}");
    }
    assert_eq!(tenant.pleat(&["call", "echo"]).await.ok().stdout, "{}\n");
    let text = tenant.pleat(&["call", "echo", "Ada", "--json"]).await.ok();
    assert_eq!(text.json(), "Ada");
}

#[tokio::test]
async fn input_that_was_meant_to_be_json_and_is_not_never_leaves() {
    let tenant = Tenant::with_probe("call-bad-input").await;
    for input in [r#"{"do":"#, "[1,", r#""open"#, r#"{"a":1,"a":2}"#] {
        let ran = tenant.pleat(&["call", "probe", input]).await.failed(2);
        ran.says(&["error: INPUT is not", "hint: put it in single quotes"]);
    }
    let missing = tenant.pleat(&["call", "probe", "@missing.json"]).await.failed(1);
    missing.says(&["cannot read `missing.json`", "No such file"]);
    let tasks = tenant.pleat(&["tasks", "list", "--json"]).await.ok().json();
    assert_eq!(tasks["tasks"], json!([]));
}

#[tokio::test]
async fn results_are_text_or_json_on_both_doors() {
    let tenant = Tenant::with_probe("call-result").await;
    for via in ["http", "a2a"] {
        let call = async |value: &str, json: bool| {
            let input = format!(r#"{{"do":"echo","value":{value}}}"#);
            let mut arguments = vec!["call", "probe", &input, "--via", via];
            arguments.extend(json.then_some("--json"));
            tenant.pleat(&arguments).await.ok()
        };
        assert_eq!(call(r#""two\nlines""#, false).await.stdout, "two\nlines\n", "{via}");
        assert_eq!(call(r#"{"a":[1,true,null]}"#, false).await.stdout, "{\"a\":[1,true,null]}\n", "{via}");
        let whole = call("7", true).await.json();
        match via {
            "http" => assert_eq!(whole, 7),
            _ => {
                assert_eq!(whole["status"]["state"], "completed");
                assert_eq!(whole["artifacts"][0]["parts"][0]["text"], "7");
            }
        }
    }
}

#[tokio::test]
async fn chunks_are_data_progress_is_talk() {
    let tenant = Tenant::with_probe("call-stream").await;
    for via in ["http", "a2a"] {
        let ran = tenant.pleat(&["call", "probe", EMIT, "--stream", "--via", via]).await.ok();
        assert_eq!(ran.stdout, "chunk 1chunk 2chunk 3\ndone\n", "{via}");
        assert_eq!(ran.stderr, "progress 1 of 3\nprogress 2 of 3\nprogress 3 of 3\n", "{via}");
        let quiet = tenant.pleat(&["call", "probe", EMIT, "--stream", "--quiet", "--via", via]).await.ok();
        assert_eq!((quiet.stdout, quiet.stderr.as_str()), (ran.stdout, ""), "{via}");
    }
    let rows = tenant.pleat(&["call", "probe", EMIT, "--stream", "--json"]).await.ok().rows();
    let numbers: Vec<u64> = rows.iter().map(|row| row["seq"].as_u64().unwrap()).collect();
    assert_eq!(numbers, (1..=rows.len() as u64).collect::<Vec<_>>());
    assert_eq!(rows.last().unwrap()["body"], json!({ "status": { "state": "completed" } }));
    let rows = tenant.pleat(&["call", "probe", EMIT, "--stream", "--json", "--via", "a2a"]).await.ok().rows();
    assert!(rows.iter().all(|row| row["id"] == rows[0]["id"]), "{rows:?}");
    assert_eq!(rows.last().unwrap()["status"]["state"], "completed");
    assert_eq!(rows.last().unwrap()["final"], true);
}

#[tokio::test]
async fn a_failed_call_exits_with_3_and_shows_the_owner_where_it_failed() {
    let tenant = Tenant::new("call-failed").await;
    let source = "export default function (input) {\n  deeper();\n}\nfunction deeper() {\n  throw new RangeError('no luck');\n}\n";
    let file = tenant.file("unlucky.js", source);
    tenant.pleat(&["deploy", &file]).await.ok();
    for way in [&["--via", "http"][..], &["--via", "a2a"], &["--stream"], &["--stream", "--via", "a2a"]] {
        let arguments: Vec<&str> = ["call", "unlucky"].iter().chain(way).copied().collect();
        let ran = tenant.pleat(&arguments).await.failed(3);
        ran.says(&[
            "error: `unlucky` failed: RangeError: no luck (function_error",
            "\n  task: task_",
            "unlucky.js:5:",
            "hint: `pleat logs --task task_",
        ]);
    }
    let told = tenant.pleat(&["call", "unlucky", "--json"]).await.failed(3);
    let error: Value = serde_json::from_str(&told.stderr).unwrap_or_else(|fault| panic!("{fault}: {told:?}"));
    let error = &error["error"];
    assert_eq!((&error["state"], &error["reason"]), (&json!("failed"), &json!("function_error")), "{error}");
    assert!(error["taskId"].as_str().unwrap().starts_with("task_"), "{error}");
    assert!(error["stack"].as_str().unwrap().contains("unlucky.js:5:"), "{error}");
    // Whoever may only call it is told what happened and not where.
    let key = tenant.pleat(&["keys", "create", "--scopes", "invoke", "-q"]).await.ok().stdout;
    let caller = tenant.pleat(&["call", "unlucky", "--key", key.trim()]).await.failed(3).says(&["no luck"]);
    assert!(!caller.stderr.contains("unlucky.js"), "{caller:?}");
}

#[tokio::test]
async fn other_ends_have_their_own_words() {
    let tenant = Tenant::with_probe("call-ends").await;
    for via in ["http", "a2a"] {
        let call = |input: &'static str| {
            let tenant = &tenant;
            async move { tenant.pleat(&["call", "probe", input, "--via", via]).await }
        };
        let rejected = call(r#"{"do":"reject","reason":"not today"}"#).await.failed(3);
        rejected.says(&["error: `probe` was rejected: not today"]);
        call(r#"{"do":"panic"}"#).await.failed(3).says(&["`probe` failed", "boom", "(trap"]);
        call(r#"{"do":"spin"}"#).await.failed(3).says(&["`probe` failed", "CPU time", "(cpu_limit"]);
        let own = call(r#"{"do":"fail","code":"sold_out","message":"no tickets left"}"#).await.failed(3);
        own.says(&["no tickets left (function_error, sold_out)"]);
    }
}

#[tokio::test]
async fn a_question_is_told_and_answered_with_the_task() {
    let tenant = Tenant::with_probe("call-question").await;
    let question = r#"{"do":"need_input","prompt":"Which colour?","state":{"step":1}}"#;
    for via in ["http", "a2a"] {
        let ran = tenant.pleat(&["call", "probe", question, "--via", via]).await.failed(1);
        let ran = ran.says(&[
            "`probe` waits for an answer (input-required): Which colour?",
            "hint: answer it with `pleat call probe ANSWER --task ",
        ]);
        let task = ran.stderr.split("--task ").nth(1).unwrap().trim_end().trim_end_matches('`').to_owned();
        let answered = tenant.pleat(&["call", "probe", r#"{"do":"conversation"}"#, "--task", &task]).await.ok();
        let seen: Value = serde_json::from_str(&answered.stdout).unwrap();
        assert_eq!(seen["state"], json!({ "step": 1 }), "{seen}");
        let over = tenant.pleat(&["call", "probe", r#"{"do":"conversation"}"#, "--task", &task]).await.failed(1);
        over.says(&["completed"]);
    }
}

#[tokio::test]
async fn what_does_not_exist_is_told_with_a_way_out() {
    let tenant = Tenant::with_probe("call-unknown").await;
    for via in ["http", "a2a"] {
        let ran = tenant.pleat(&["call", "nothing", "--via", via]).await.failed(1);
        ran.says(&["error: unknown skill `nothing`"]);
    }
    let elsewhere = tenant.dev.pleat(&["call", "probe", "--tenant", "no-such-tenant"]).await.failed(1);
    elsewhere.says(&["there is no such tenant"]);
}

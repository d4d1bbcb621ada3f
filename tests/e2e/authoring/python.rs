//! Python functions, from the template and with everything they can do.
//!
//! Building one needs componentize-py, which not every machine has, and half a minute. These tests are therefore marked
//! as ignored, so that a run without them says so; `.ci/run` installs the tool and runs them in a step of its own:
//! `PLEAT_COMPONENTIZE_PY=… cargo test -p pleat --test e2e authoring::python -- --ignored --test-threads 1`.

use std::time::Duration;

use serde_json::{Value, json};

use super::Desk;
use crate::harness::binary::{Ran, run_within};
use crate::harness::{TestServer, root};

const VARIABLE: &str = "PLEAT_COMPONENTIZE_PY";
/// Building, and compiling without optimisation, on a machine that has other things to do.
const PATIENCE: Duration = Duration::from_secs(290);

async fn deploy(desk: &Desk, directory: &std::path::Path, arguments: &[&str]) -> Ran {
    let tool = std::env::var(VARIABLE).unwrap_or_else(|_| panic!("set {VARIABLE} to the path of componentize-py"));
    let mut command = desk.command(directory, &[&["deploy"], arguments].concat());
    run_within(command.env(VARIABLE, tool), None, PATIENCE).await
}

#[tokio::test]
#[ignore = "needs componentize-py: see the module"]
async fn a_python_function_is_made_built_deployed_and_called() {
    let (server, _directory) = TestServer::start_patient().await;
    let desk = Desk::at(&server.url, &server.admin);
    desk.pleat("", &["init", "-t", "python", "greeter"]).await.ok();
    let deployed =
        deploy(&desk, &desk.path("greeter"), &[]).await.ok().says(&["building greeter.py with componentize-py"]);
    assert!(deployed.stdout.starts_with("greeter v1 "), "{deployed:?}");
    assert_eq!(desk.call("greeter", &json!({ "name": "Ada" })).await, json!({ "greeting": "Hello, Ada!" }));
    desk.pleat("", &["call", "greeter", "{}"]).await.failed(1).says(&["the input does not match the skill's schema"]);

    desk.write("greeter/greeter.py", "import pleat\n\n@pleat.function\ndef handle(input, ctx):\n    return 1 +\n");
    let broken = deploy(&desk, &desk.path("greeter"), &[]).await.failed(1);
    let broken = broken.says(&["File \"greeter.py\", line 5", "    return 1 +", "SyntaxError"]);
    assert!(!broken.stderr.contains("entry.py") && !broken.stderr.contains("backtrace"), "{broken:?}");
    desk.write("greeter/greeter.py", "import pleat\n");
    let none = deploy(&desk, &desk.path("greeter"), &["greeter.py"]).await.failed(1);
    none.says(&["greeter.py has no function: decorate one with `@pleat.function`"]);
    assert_eq!(desk.call("greeter", &json!({ "name": "Ada" })).await, json!({ "greeting": "Hello, Ada!" }));
}

#[tokio::test]
#[ignore = "needs componentize-py: see the module"]
async fn a_python_function_can_do_what_the_contract_has_and_nothing_else() {
    let (server, _directory) = TestServer::start_patient().await;
    let desk = Desk::at(&server.url, &server.admin);
    deploy(&desk, &root().join("tests/fixtures/python"), &["python-probe.py"]).await.ok();
    let call = async |what: &str| server.http(&server.admin, "python-probe", json!({ "do": what })).await;

    let good = [
        ("context", json!(["python-probe", "http", 1, 1, "task_"])),
        ("data", json!({ "point": { "x": 1, "y": 2 }, "date": "2026-11-16" })),
        ("content", json!({ "n": 2 })),
        ("speak", json!("spoken")),
    ];
    for (what, answer) in good {
        assert_eq!(call(what).await, (200, answer), "{what}");
    }
    let (_, shouted) = server.http(&server.admin, "python-probe", json!({ "do": "module", "value": "hey" })).await;
    assert_eq!(shouted, "HEY!");
    denied(&call("denied").await.1);
    let (one, other) = (call("fresh").await.1, call("fresh").await.1);
    for field in ["random", "uuid"] {
        assert_ne!(one[field], other[field], "every call has random numbers of its own: {one} {other}");
    }
    assert_eq!((&one["loaded"], &one["parsed"]), (&other["loaded"], &json!("2026-11-16T00:00:00")));

    let bad = [
        ("recurse", "function_error", "stack_overflow"),
        ("fail", "function_error", "exception"),
        ("error", "function_error", "closed"),
        ("bad_result", "function_error", "bad_result"),
        ("half", "function_error", "bad_result"),
        ("nan", "function_error", "bad_result"),
        ("exit", "function_error", "exit"),
        ("spin", "cpu_limit", ""),
        ("memory", "memory_limit", ""),
    ];
    for (what, reason, code) in bad {
        let (_, body) = call(what).await;
        let task = server.task(body["taskId"].as_str().unwrap_or_else(|| panic!("{what}: {body}"))).await;
        let failure = &task["failure"];
        assert_eq!(failure["reason"], reason, "{what}: {task}");
        assert_eq!(failure["code"].as_str().unwrap_or_default(), code, "{what}: {task}");
        if what == "fail" {
            let stack = failure["detail"].as_str().unwrap();
            assert!(stack.contains("File \"words.py\", line 9, in fail\n    raise KeyError"), "{stack}");
            assert!(!stack.contains("entry.py"), "{stack}");
        }
    }
    conversation(&server).await;
}

fn denied(answers: &Value) {
    let expected = json!({
        "file": "FileNotFoundError", "directory": "FileNotFoundError", "network": "gaierror",
        "process": "AttributeError", "secret": "not_granted", "kv": "not_granted", "call": "not_granted",
        "http": "not_granted", "config": null, "environment": null
    });
    assert_eq!(*answers, expected);
}

/// The task waits, and the second turn has what the first kept.
async fn conversation(server: &TestServer) {
    let params = json!({ "skill": "python-probe", "message": { "do": "ask" } });
    let (_, asked) = server.rpc_as(&server.admin, "tasks/send", params).await;
    assert_eq!(asked["result"]["status"]["state"], "input-required", "{asked}");
    let params = json!({ "id": asked["result"]["id"], "skill": "python-probe", "message": { "do": "ask" } });
    let (_, answered) = server.rpc_as(&server.admin, "tasks/send", params).await;
    assert_eq!(answered["result"]["status"]["state"], "completed", "{answered}");
    assert!(answered.to_string().contains(r#"\"state\":{\"asked\":1}"#), "{answered}");
}

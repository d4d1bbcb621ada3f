//! What authors read when something goes wrong, at deploy and in a call.

use serde_json::json;

use super::Script;
use crate::harness::TestServer;

/// Each file with a piece of the refusal.
async fn refused(rows: &[(&str, &[&str])]) {
    let server = TestServer::start().await;
    for (source, pieces) in rows {
        let (status, body) = server.try_deploy("hello.js", *source, "").await;
        assert_eq!(status, 422, "{source}\n{body}");
        let message = body["error"]["message"].as_str().unwrap();
        for piece in *pieces {
            assert!(message.contains(piece), "{source}\n{message}\nlacks {piece}");
        }
    }
}

#[tokio::test]
async fn nothing_outside_is_reached_from_the_top_level() {
    let top = "works only while the function runs: the top level of hello.js runs once, at deploy";
    refused(&[
        (
            "const page = await fetch('https://example.com');\nexport default () => page;",
            &["`fetch`", top, "hello.js:1"],
        ),
        ("export default () => 1;\nsetTimeout(() => {}, 1);", &["`setTimeout`", top, "hello.js:2:"]),
        ("console.log('hi');\nexport default () => 1;", &["`console.log`", top]),
        ("export const id = crypto.randomUUID();\nexport default () => id;", &["`crypto.randomUUID`", top]),
        (
            "await new Promise(() => {});\nexport default () => 1;",
            &["the top level waits for a promise that can never settle"],
        ),
        (
            "Promise.reject(new Error('lost'));\nexport default () => 1;",
            &["unhandled rejection at the top level", "lost"],
        ),
    ])
    .await;
}

#[tokio::test]
async fn what_does_not_load_is_shown_where_it_is() {
    refused(&[
        (
            "export default () => {\n  const a = 1 b;\n};",
            &["hello.js:2:15: SyntaxError", "  2 |   const a = 1 b;", "    |               ^"],
        ),
        (
            "const x = require('fs');\nexport default () => x;",
            &["require is not defined", "use `export default` and `import`"],
        ),
        (
            "import _ from 'lodash';\nexport default () => _;",
            &[
                "hello.js:1:15: ",
                "cannot import `lodash`: packages and URLs are not available",
                "import _ from 'lodash'",
            ],
        ),
        (
            "import { x } from './gone.js';\nexport default () => x;",
            &["cannot import `./gone.js`: there is no file `gone.js` among those deployed"],
        ),
        (
            "import x from '../up.js';\nexport default () => x;",
            &["cannot import `../up.js`: it lies outside of the function's directory"],
        ),
        ("export const a = 1;", &["hello.js has no default export"]),
        ("export default 5;", &["hello.js has a default export that is not a function"]),
    ])
    .await;
}

#[tokio::test]
async fn errors_of_a_call_keep_their_code_and_stack() {
    let script = Script::start().await;
    let (reason, code, message) = script.failure("throw new PleatError('no_such_city', 'never heard of it');").await;
    assert_eq!(
        (reason.as_str(), code.as_str(), message.as_str()),
        ("function_error", "no_such_city", "never heard of it")
    );
    let (_, code, message) = script.failure("throw new DOMException('gone', 'AbortError');").await;
    assert_eq!((code.as_str(), message.as_str()), ("exception", "AbortError: gone"));
    let (_, code, message) = script.failure("await Promise.reject(new TypeError('late'));").await;
    assert_eq!((code.as_str(), message.as_str()), ("exception", "TypeError: late"));
    let (_, code, message) = script.failure("return () => 1;").await;
    assert_eq!(code, "bad_result", "{message}");
    let (_, code, _) = script.failure("const a = {}; a.a = a; return a;").await;
    assert_eq!(code, "bad_result");
    let (_, code, message) = script.failure("ctx.reject('no');").await;
    assert_eq!(code, "bad_result");
    assert!(message.contains("write `return ctx.reject(…)`"), "{message}");
    let (_, code, message) = script.failure("return await import('./other.js');").await;
    assert_eq!(code, "import_failed", "{message}");
}

#[tokio::test]
async fn unnoticed_rejections_are_logged_with_the_place() {
    let script = Script::start().await;
    script.server.deploy("quiet.js", "export default () => {\n  lose();\n  return 1;\n};\nfunction lose() {\n  Promise.reject(new Error('unnoticed'));\n}\n", "&visibility=public").await;
    assert_eq!(script.server.http("", "quiet", json!(null)).await, (200, json!(1)));
    let (_, logs) = script.server.api(reqwest::Method::GET, "/tenants/acme/logs", &script.server.admin, None).await;
    let text = logs.to_string();
    assert!(text.contains("unhandled rejection: Error: unnoticed") && text.contains("quiet.js:6:"), "{text}");
}

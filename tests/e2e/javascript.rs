//! JavaScript as its authors know it: globals, the event loop, errors, TypeScript and imports, over the real doors.
//!
//! Most tests send code to one function that evaluates it, because each deployed file costs a compilation.

mod bundles;
mod capable;
mod errors;
mod event_loop;
mod fetching;
mod globals;
mod hostile;
mod typescript;
mod urls;

use serde_json::{Value, json};

use crate::harness::TestServer;

/// Runs the body of an async function that is its input.
const EVALUATE: &str = "\
const AsyncFunction = (async () => {}).constructor;
export const description = 'Runs its input';
export default async function (input, ctx) {
  return await new AsyncFunction('ctx', input.code)(ctx);
}
";

struct Script {
    server: TestServer,
}

impl Script {
    async fn start() -> Self {
        let server = TestServer::start().await;
        server.deploy("evaluate.js", EVALUATE, "&visibility=public").await;
        Self { server }
    }

    async fn ask(&self, code: &str) -> (u16, Value) {
        self.server.http("", "evaluate", json!({ "code": code })).await
    }

    /// What the code returns.
    async fn value(&self, code: &str) -> Value {
        let (status, body) = self.ask(code).await;
        assert_eq!(status, 200, "{code}\n{body:#}");
        body
    }

    /// Each expression with the JSON that it must give.
    async fn table(&self, rows: &[(&str, Value)]) {
        let items: Vec<String> = rows
            .iter()
            .map(|(code, _)| {
                format!("await (async () => {{ try {{ return await ({code}); }} catch (e) {{ return `${{e.name}}: ${{e.message}}`; }} }})()")
            })
            .collect();
        let got = self.value(&format!("return [{}];", items.join(",\n"))).await;
        for ((code, expected), got) in rows.iter().zip(got.as_array().unwrap()) {
            assert_eq!(got, expected, "{code}");
        }
    }

    /// The failure of the code: its reason, its code and its message.
    async fn failure(&self, code: &str) -> (String, String, String) {
        let (status, body) = self.ask(code).await;
        assert!(status >= 400, "{code}\n{body:#}");
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        (text(&body["reason"]), text(&body["error"]["code"]), text(&body["error"]["message"]))
    }
}

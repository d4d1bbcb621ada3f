//! `fetch`, `ctx.secrets`, `ctx.config`, `ctx.kv` and `ctx.call` where they are granted: the effects are real.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::http::{HeaderMap, Method, StatusCode};
use axum::response::{IntoResponse, Redirect};
use axum::routing::{any, get};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::sync::Barrier;

use super::Script;
use crate::harness::TestServer;

/// A server of the outside world. `/together` answers when three have asked.
async fn world() -> u16 {
    let together = Arc::new(Barrier::new(3));
    let meet = move || {
        let together = Arc::clone(&together);
        async move {
            let met = tokio::time::timeout(Duration::from_secs(20), together.wait()).await;
            if met.is_ok() { StatusCode::OK } else { StatusCode::REQUEST_TIMEOUT }
        }
    };
    let router = Router::new()
        .route("/echo", any(echo))
        .route("/home", get(|| async { Redirect::temporary("/echo") }))
        .route("/never", get(std::future::pending::<StatusCode>))
        .route("/missing", get(|| async { (StatusCode::NOT_FOUND, [("x-why", "gone")], "no such thing") }))
        .route("/bytes", get(|| async { vec![0_u8, 255, 128] }))
        .route("/together", get(meet));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let port = listener.local_addr().unwrap().port();
    tokio::spawn(async move { axum::serve(listener, router).await });
    port
}

async fn echo(headers: HeaderMap, method: Method, body: String) -> impl IntoResponse {
    let header = |name: &str| headers.get(name).and_then(|value| value.to_str().ok()).unwrap_or_default().to_owned();
    let seen =
        json!({ "method": method.as_str(), "type": header("content-type"), "key": header("x-key"), "body": body });
    ([("content-type", "application/json")], seen.to_string())
}

impl Script {
    /// One to which everything is granted, and a world that it may reach.
    async fn granted() -> (Self, u16) {
        let port = world().await;
        let rule = format!("127.0.0.1:{port}").parse::<pleat_egress::AllowRule>().unwrap();
        let server = TestServer::start_with(|config| config.egress.allow.push(rule), |_| {}).await;
        let asks = json!({
            "hosts": [format!("127.0.0.1:{port}")], "secrets": ["KEY", "UNSET"], "config": ["COLOR"],
            "skills": ["evaluate", "other"], "keyValue": true,
        });
        let source = format!("export const capabilities = {asks};\n{}", super::EVALUATE);
        server.deploy("evaluate.js", source, "&visibility=public&grant=all").await;
        (Self { server }, port)
    }

    async fn put(&self, path: &str, value: &str) {
        let body = Some(json!({ "value": value }));
        let (status, answer) =
            self.server.api(reqwest::Method::PUT, &format!("/tenants/acme{path}"), &self.server.deploy, body).await;
        assert!(status < 300, "{path}: {status} {answer}");
    }
}

#[tokio::test]
async fn fetch_sends_and_receives() {
    let (script, port) = Script::granted().await;
    let at = |path: &str, rest: &str| format!("await fetch('http://127.0.0.1:{port}{path}'{rest})");
    let post = at("/echo", ", { method: 'POST', headers: { 'X-Key': 'k1' }, body: JSON.stringify({ a: 'ü' }) }");
    let form = at("/echo", ", { method: 'PUT', body: new URLSearchParams({ q: 'a b' }) }");
    let parts = format!(
        "(async () => {{ const r = {}; return [r.status, r.ok, r.headers.get('X-Why'), await r.text(), r.redirected, r.type]; }})()",
        at("/missing", "")
    );
    let home = format!(
        "(async () => {{ const r = {}; return [r.redirected, new URL(r.url).pathname, r.ok]; }})()",
        at("/home", "")
    );
    let again = format!(
        "(async () => {{ const r = {}; const c = r.clone(); return [(await r.json()).method, (await c.json()).method]; }})()",
        at("/echo", "")
    );
    let late = format!("({}).status", at("/never", ", { signal: AbortSignal.timeout(30) }"));
    let left = format!(
        "(async () => {{ const c = new AbortController(); setTimeout(() => c.abort(new Error('left')), 5); return {}; }})()",
        at("/never", ", { signal: c.signal }")
    );
    let request = format!(
        "(await (await fetch(new Request('http://127.0.0.1:{port}/echo', {{ method: 'POST', body: 'r' }}))).json()).body"
    );
    script
        .table(&[
            (&format!("(await ({post}).json())"), json!({ "method": "POST", "type": "text/plain;charset=UTF-8", "key": "k1", "body": "{\"a\":\"ü\"}" })),
            (&format!("(await ({form}).json())"), json!({ "method": "PUT", "type": "application/x-www-form-urlencoded;charset=UTF-8", "key": "", "body": "q=a+b" })),
            (&parts, json!([404, false, "gone", "no such thing", false, "basic"])),
            (&home, json!([true, "/echo", true])),
            (&format!("({}).status", at("/home", ", { redirect: 'manual' }")), json!(307)),
            (&at("/home", ", { redirect: 'error' }"), json!("TypeError: fetch failed: the server redirects, and redirect is `error`")),
            (&format!("[...await ({}).bytes()]", at("/bytes", "")), json!([0, 255, 128])),
            (&again, json!(["GET", "GET"])),
            (&late, json!("TimeoutError: the operation was aborted because it took too long")),
            (&left, json!("Error: left")),
            (&request, json!("r")),
            ("await fetch('https://elsewhere.example').catch((e) => e.cause.code)", json!("fetch_not_granted")),
        ])
        .await;
}

/// The server answers none of the three before all have asked: were they sent one after the other, none would be.
#[tokio::test]
async fn requests_and_calls_run_side_by_side() {
    let (script, port) = Script::granted().await;
    let one = format!("fetch('http://127.0.0.1:{port}/together').then((r) => r.status)");
    let code = format!("return await Promise.all([{one}, {one}, {one}]);");
    assert_eq!(script.value(&code).await, json!([200, 200, 200]));
    let call =
        format!("ctx.call('evaluate', {{ code: `return (await fetch('http://127.0.0.1:{port}/together')).status;` }})");
    let code = format!("return await Promise.all([{call}, {one}, {call}]);");
    assert_eq!(script.value(&code).await, json!([200, 200, 200]));
}

#[tokio::test]
async fn secrets_and_settings_are_read() {
    let (script, _) = Script::granted().await;
    script.put("/secrets/KEY", "s3cret").await;
    script.put("/settings/COLOR", "blue").await;
    script
        .table(&[
            ("ctx.secrets.get('KEY')", json!("s3cret")),
            ("ctx.config.get('COLOR')", json!("blue")),
            (
                "(() => { try { return ctx.secrets.get('UNSET'); } catch (e) { return e.code; } })()",
                json!("secret_not_found"),
            ),
            (
                "(() => { try { return ctx.secrets.get('OTHER'); } catch (e) { return e.code; } })()",
                json!("secret_not_granted"),
            ),
            ("ctx.config.get('OTHER') ?? 'none'", json!("none")),
        ])
        .await;
}

#[tokio::test]
async fn values_outlive_the_call() {
    let (script, _) = Script::granted().await;
    script
        .value("await ctx.kv.set('a', 'text'); await ctx.kv.set('b', { n: [1, null] }); await ctx.kv.set('c', new Uint8Array([0, 255]), { ttlSeconds: 600 });")
        .await;
    script
        .table(&[
            ("await ctx.kv.get('a')", json!("text")),
            ("await ctx.kv.getJson('b')", json!({ "n": [1, null] })),
            ("[...await ctx.kv.getBytes('c')]", json!([0, 255])),
            ("(await ctx.kv.get('zz')) === undefined", json!(true)),
            ("[await ctx.kv.increment('n'), await ctx.kv.increment('n', 5), await ctx.kv.increment('n', -2)]", json!([1, 6, 4])),
            ("await ctx.kv.increment('a').catch((e) => e.code)", json!("kv_not_a_number")),
            ("await ctx.kv.set('', 'x').catch((e) => e.code)", json!("kv_invalid_key")),
            ("await ctx.kv.set('k', () => 1).catch((e) => e.code)", json!("kv_bad_value")),
            ("await ctx.kv.set('k', 'x', { ttlSeconds: -1 }).catch((e) => e.message)", json!("ctx.kv.set: ttlSeconds must be a whole number above 0")),
            ("(await ctx.kv.list()).keys", json!(["a", "b", "c", "n"])),
            ("await (async () => { const one = await ctx.kv.list('', { limit: 3 }); const two = await ctx.kv.list('', { cursor: one.cursor }); return [one.keys, two.keys, two.cursor === undefined]; })()", json!([["a", "b", "c"], ["n"], true])),
            ("[await ctx.kv.delete('a'), await ctx.kv.delete('a'), (await ctx.kv.list('a')).keys]", json!([true, false, []])),
        ])
        .await;
}

#[tokio::test]
async fn other_skills_answer_or_fail_as_themselves() {
    let (script, _) = Script::granted().await;
    let fails = "throw new PleatError(\"too_hot\", \"open a window\", { retryable: true, details: { degrees: 40 } })";
    let rows: [(&str, Value); 6] = [
        ("await ctx.call('evaluate', { code: 'return ctx.door + ctx.turn;' })", json!("call1")),
        (
            &format!(
                "await ctx.call('evaluate', {{ code: '{fails}' }}).catch((e) => [e instanceof PleatError, e.code, e.message, e.retryable, e.details.degrees])"
            ),
            json!([true, "too_hot", "open a window", true, 40]),
        ),
        ("await ctx.call('other', 1).catch((e) => e.code)", json!("call_unknown_skill")),
        ("await ctx.call('nobody', 1).catch((e) => e.code)", json!("call_not_granted")),
        ("await ctx.call('evaluate', {}, { signal: AbortSignal.abort('no') }).catch((e) => e)", json!("no")),
        ("await ctx.call('evaluate', { code: 'return ctx.caller;' }) === ctx.caller", json!(true)),
    ];
    script.table(&rows).await;
}

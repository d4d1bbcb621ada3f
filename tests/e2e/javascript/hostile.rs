//! Scripts that would not end: each is stopped by a limit, and the platform serves the next call.

use super::Script;

#[tokio::test]
async fn endless_work_is_stopped_by_a_limit() {
    let script = Script::start().await;
    let rows = [
        ("for (;;) {}", &["cpu_limit"][..]),
        (
            "const again = () => Promise.resolve().then(again); again(); await new Promise(() => {});",
            &["cpu_limit", "memory_limit"],
        ),
        (
            "const again = () => queueMicrotask(again); again(); await new Promise(() => {});",
            &["cpu_limit", "memory_limit"],
        ),
        (
            "const held = []; const grow = () => { for (let i = 0; i < 1000; i++) held.push(new Promise(() => {})); queueMicrotask(grow); }; grow(); await new Promise(() => {});",
            &["memory_limit", "cpu_limit"],
        ),
        ("for (;;) setTimeout(() => {}, 1e6);", &["memory_limit", "cpu_limit"]),
        ("let s = 'x'; for (;;) s += s;", &["memory_limit", "function_error"]),
        ("const f = () => f() + 1; return f();", &["function_error"]),
        ("const a = []; for (let i = 0; ; i++) a.push(new Uint8Array(1 << 20).fill(1));", &["memory_limit"]),
        (
            "const deep = {}; let at = deep; for (let i = 0; i < 1e5; i++) at = at.a = {}; return JSON.stringify(deep);",
            &["function_error", "stack_limit", "cpu_limit"],
        ),
        ("return new TextEncoder().encode('x'.repeat(1 << 28)).length;", &["memory_limit", "function_error"]),
        (
            "const t = new EventTarget(); t.addEventListener('x', () => t.dispatchEvent(new Event('x'))); t.dispatchEvent(new Event('x')); return 1;",
            &["", "cpu_limit", "function_error"],
        ),
    ];
    for (code, reasons) in rows {
        let (status, body) = script.ask(code).await;
        let reason = body["reason"].as_str().unwrap_or_default();
        assert!(reasons.contains(&reason), "{code}\n{status} {body:#}");
    }
    assert_eq!(script.value("return 'still here';").await, "still here");
}

/// Timers let time pass, so it is the wall clock that ends a loop of them.
#[tokio::test]
async fn an_endless_loop_of_timers_ends_by_the_wall_clock() {
    let script = Script::start().await;
    let source = "export const limits = { wallMs: 300 };\nexport default async () => {\n  for (;;) await new Promise((resolve) => setTimeout(resolve, 0));\n};\n";
    script.server.deploy("ticking.js", source, "&visibility=public").await;
    let (_, body) = script.server.http("", "ticking", serde_json::json!(null)).await;
    assert_eq!(body["reason"], "wall_limit", "{body}");
}

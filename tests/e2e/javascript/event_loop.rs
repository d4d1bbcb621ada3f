//! Promises, timers and their order; what waits for nothing is told.

use serde_json::json;

use super::Script;

#[tokio::test]
async fn jobs_and_timers_come_in_their_order() {
    let script = Script::start().await;
    let code = "
        const seen = [];
        setTimeout(() => { seen.push('timer 1'); Promise.resolve().then(() => seen.push('job of timer 1')); }, 1);
        setTimeout((word) => seen.push(word), 1, 'timer 2');
        setTimeout(() => seen.push('late'), 30);
        setTimeout(() => seen.push('early'), 10);
        queueMicrotask(() => seen.push('microtask'));
        Promise.resolve().then(() => seen.push('job'));
        seen.push('sync');
        await new Promise((resolve) => setTimeout(resolve, 40));
        return seen;";
    let expected = json!(["sync", "microtask", "job", "timer 1", "job of timer 1", "timer 2", "early", "late"]);
    assert_eq!(script.value(code).await, expected);
}

#[tokio::test]
async fn timers_repeat_until_they_are_cleared() {
    let script = Script::start().await;
    script
        .table(&[
            ("await new Promise((resolve) => { let n = 0; const id = setInterval(() => { n += 1; if (n === 3) { clearInterval(id); setTimeout(() => resolve(n), 5); } }, 1); })", json!(3)),
            ("await new Promise((resolve) => { const id = setTimeout(() => resolve('fired'), 1); clearTimeout(id); clearTimeout(id); clearTimeout(undefined); setTimeout(() => resolve('cleared'), 5); })", json!("cleared")),
            ("await new Promise((resolve) => { let other; setTimeout(() => { clearTimeout(other); setTimeout(resolve, 5, 'kept'); }, 1); other = setTimeout(() => resolve('fired'), 1); })", json!("kept")),
            ("typeof setTimeout(() => {}, 0)", json!("number")),
            ("setTimeout('code', 1)", json!("TypeError: setTimeout: the callback must be a function")),
            ("(() => { const a = performance.now(); const b = performance.now(); return Number.isInteger(a) && b >= a && performance.timeOrigin > 1.6e12; })()", json!(true)),
            ("await (async () => { const a = performance.now(); const d = Date.now(); await new Promise((r) => setTimeout(r, 20)); return performance.now() - a >= 20 && Date.now() - d >= 19; })()", json!(true)),
        ])
        .await;
}

#[tokio::test]
async fn the_call_ends_with_the_function_whatever_is_left() {
    let script = Script::start().await;
    let value = script
        .value("setInterval(() => {}, 1); setTimeout(() => { throw new Error('never'); }, 100000); return 1;")
        .await;
    assert_eq!(value, json!(1));
}

#[tokio::test]
async fn what_waits_for_nothing_is_told() {
    let script = Script::start().await;
    let (reason, code, message) = script.failure("await new Promise(() => {});").await;
    assert_eq!((reason.as_str(), code.as_str()), ("function_error", "never_settled"), "{message}");
    assert!(message.contains("waits for something that never comes"), "{message}");
    // With a timer still to come it is not yet lost; afterwards it is.
    let (_, code, _) = script.failure("setTimeout(() => {}, 5); await new Promise(() => {});").await;
    assert_eq!(code, "never_settled");
}

#[tokio::test]
async fn a_throwing_timer_fails_the_call() {
    let script = Script::start().await;
    let code = "setTimeout(() => { throw new RangeError('in a timer'); }, 1); await new Promise(() => {});";
    let (_, code, message) = script.failure(code).await;
    assert_eq!((code.as_str(), message.as_str()), ("exception", "RangeError: in a timer"));
}

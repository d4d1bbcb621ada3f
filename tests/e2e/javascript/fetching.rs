//! fetch and its classes, as far as they go without reaching anything; what is reached is for `capabilities`.

use serde_json::json;

use super::Script;

#[tokio::test]
async fn headers_are_names_and_values() {
    let script = Script::start().await;
    script
        .table(&[
            ("[...new Headers({ 'X-B': '2', a: ' 1 ' })]", json!([["a", "1"], ["x-b", "2"]])),
            ("(() => { const h = new Headers([['a', '1'], ['A', '2']]); h.append('set-cookie', 'x=1'); h.append('set-cookie', 'y=2'); return [h.get('a'), h.getSetCookie(), h.has('b'), h.get('b'), [...h.keys()]]; })()", json!(["1, 2", ["x=1", "y=2"], false, null, ["a", "set-cookie", "set-cookie"]])),
            ("new Headers({ 'bad name': '1' })", json!("TypeError: Headers: `bad name` is not a header's name")),
            ("new Headers({ a: 'x\\r\\ny: z' })", json!("TypeError: Headers: a value has a line break or a NUL")),
            ("new Headers({ a: '€' })", json!("TypeError: Headers: a value has a character outside of Latin-1; encode it")),
        ])
        .await;
}

#[tokio::test]
async fn requests_and_responses_carry_bodies() {
    let script = Script::start().await;
    script
        .table(&[
            ("(() => { const r = new Request('http://a.example/#f', { method: 'post', body: 'x', headers: { a: '1' } }); return [r.url, r.method, r.headers.get('content-type'), r.bodyUsed, r.redirect, r.body]; })()", json!(["http://a.example/", "POST", "text/plain;charset=UTF-8", false, "follow", null])),
            ("await new Request('http://a.example', { method: 'PUT', body: new URLSearchParams({ q: 'ä' }) }).text()", json!("q=%C3%A4")),
            ("new Request('http://a.example', { method: 'POST', body: new URLSearchParams() }).headers.get('content-type')", json!("application/x-www-form-urlencoded;charset=UTF-8")),
            ("[...await new Request('http://a.example', { method: 'POST', body: new Uint8Array([1, 2]) }).bytes()]", json!([1, 2])),
            ("new Request('http://a.example', { body: 'x' })", json!("TypeError: a GET request cannot have a body")),
            ("new Request('/relative')", json!("TypeError: invalid URL: `/relative`")),
            ("new Request('http://u:p@a.example')", json!("TypeError: a URL with a user name or password is refused; use the header authorization")),
            ("new Request('http://a.example', { method: 'POST', body: { a: 1 } })", json!("TypeError: a plain object is no body: use JSON.stringify(…) and the header content-type: application/json")),
            ("new Request('http://a.example', { method: 'TRACE' })", json!("TypeError: the method TRACE is not allowed")),
            ("await new Response('{\"a\":1}').json()", json!({"a": 1})),
            ("(() => { const r = Response.json({ a: 1 }, { status: 201 }); return [r.status, r.ok, r.headers.get('content-type')]; })()", json!([201, true, "application/json"])),
            ("await (async () => { const r = new Response('x'); const c = r.clone(); return [await r.text(), await c.text(), r.bodyUsed]; })()", json!(["x", "x", true])),
            ("await (async () => { const r = new Response('x'); await r.text(); return await r.text(); })()", json!("TypeError: the body has been read already; use clone() before reading")),
            ("(await new Response('\\ufeffx').text()).length", json!(1)),
            ("(await new Response(new Uint8Array([1, 2, 3]).subarray(1)).arrayBuffer()).byteLength", json!(2)),
            ("new Response('x', { status: 99 })", json!("RangeError: Response: the status must be between 200 and 599")),
            ("Response.redirect('http://a.example/x', 303).headers.get('location')", json!("http://a.example/x")),
            ("Response.error().type", json!("error")),
            ("typeof FormData", json!("undefined")),
        ])
        .await;
}

#[tokio::test]
async fn what_was_not_granted_says_what_to_grant() {
    let script = Script::start().await;
    let (reason, code, message) = script.failure("await fetch('https://api.example.com/x');").await;
    assert_eq!((reason.as_str(), code.as_str()), ("function_error", "fetch_not_granted"), "{message}");
    assert!(message.contains("--grant host:api.example.com"), "{message}");
    script
        .table(&[
            ("await fetch('https://api.example.com').catch((e) => [e instanceof TypeError, e.cause instanceof PleatError, e.cause.code])", json!([true, true, "fetch_not_granted"])),
            ("await fetch('https://api.example.com', { signal: AbortSignal.abort() })", json!("AbortError: this operation was aborted")),
            ("await fetch('nonsense')", json!("TypeError: invalid URL: `nonsense`")),
            ("(() => { try { return ctx.secrets.get('KEY'); } catch (e) { return [e.name, e.code, e.message]; } })()", json!(["PleatError", "secret_not_granted", "the secret `KEY` is not granted: name it in `capabilities` and deploy with `--grant secret:KEY`"])),
            ("ctx.config.get('COLOR') ?? 'none'", json!("none")),
            ("await ctx.kv.get('a').catch((e) => e.code)", json!("kv_not_granted")),
            ("await Promise.all([ctx.kv.set('a', { b: 1 }), ctx.kv.delete('a'), ctx.kv.increment('a'), ctx.kv.list(), ctx.kv.getJson('a')].map((p) => p.catch((e) => e.code)))", json!(["kv_not_granted", "kv_not_granted", "kv_not_granted", "kv_not_granted", "kv_not_granted"])),
            ("await ctx.call('other', {}).catch((e) => [e.code, e.message.includes('--grant skill:other')])", json!(["call_not_granted", true])),
            ("await ctx.call('other', 1n).catch((e) => e.code)", json!("bad_input")),
        ])
        .await;
}

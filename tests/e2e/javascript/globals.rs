//! The globals, against what the standards say of them.

use serde_json::json;

use super::Script;

#[tokio::test]
async fn text_is_encoded_and_decoded() {
    let script = Script::start().await;
    script
        .table(&[
            ("[...new TextEncoder().encode('é€😀')]", json!([195, 169, 226, 130, 172, 240, 159, 152, 128])),
            ("[...new TextEncoder().encode('\\ud800')]", json!([239, 191, 189])),
            ("[...new TextEncoder().encode()]", json!([])),
            ("new TextEncoder().encodeInto('a€😀', new Uint8Array(5))", json!({"read": 2, "written": 4})),
            ("new TextDecoder().decode(new Uint8Array([239, 187, 191, 104, 105]))", json!("hi")),
            (
                "new TextDecoder('utf-8', { ignoreBOM: true }).decode(new Uint8Array([239, 187, 191, 104]))",
                json!("\u{feff}h"),
            ),
            ("new TextDecoder().decode(new Uint8Array([104, 255, 105]))", json!("h\u{fffd}i")),
            ("new TextDecoder().decode(new Uint8Array([0xe2, 0x82]))", json!("\u{fffd}")),
            (
                "new TextDecoder('utf-8', { fatal: true }).decode(new Uint8Array([255]))",
                json!("TypeError: TextDecoder.decode: the data is not valid utf-8"),
            ),
            ("new TextDecoder('utf-16le').decode(new Uint8Array([0x3d, 0xd8, 0x00, 0xde]))", json!("😀")),
            ("new TextDecoder('latin1').decode(new Uint8Array([0x80, 0xe9]))", json!("€é")),
            ("new TextDecoder('UTF8').encoding", json!("utf-8")),
            (
                "new TextDecoder('klingon').encoding",
                json!("RangeError: TextDecoder: `klingon` is not supported; use utf-8, utf-16le or latin1"),
            ),
            (
                "(() => { const d = new TextDecoder(); const b = new TextEncoder().encode('a€😀z'); let s = ''; \
                 for (const x of b) s += d.decode(new Uint8Array([x]), { stream: true }); return s + d.decode(); })()",
                json!("a€😀z"),
            ),
            ("new TextDecoder().decode(new Uint16Array([0x6968]).buffer)", json!("hi")),
            ("new TextDecoder().decode(new DataView(new Uint8Array([1, 104, 105]).buffer, 1))", json!("hi")),
            ("btoa('hello\\xff')", json!("aGVsbG//")),
            ("atob(' aGVs bG8 ')", json!("hello")),
            ("btoa('€').length", json!("InvalidCharacterError: String contains an invalid character")),
        ])
        .await;
}

#[tokio::test]
async fn clones_are_whole_and_apart() {
    let script = Script::start().await;
    script
        .table(&[
            ("structuredClone({ a: [1, { b: 'x' }], u: undefined })", json!({"a": [1, {"b": "x"}]})),
            ("(() => { const a = { }; a.self = a; const b = structuredClone(a); return b.self === b && b !== a; })()", json!(true)),
            ("[...structuredClone(new Map([[{ k: 1 }, new Set([1, 2])]])).values()].map((s) => [...s])", json!([[1, 2]])),
            ("structuredClone(new Date(5)).getTime()", json!(5)),
            ("String(structuredClone(/a+/gi))", json!("/a+/gi")),
            ("[...structuredClone(new Uint8Array([1, 2, 3]).subarray(1))]", json!([2, 3])),
            ("(() => { const b = new ArrayBuffer(2); const [x, y] = structuredClone([b, b]); return x === y && x !== b; })()", json!(true)),
            ("(() => { const e = structuredClone(new RangeError('far', { cause: { n: 1 } })); return [e instanceof RangeError, e.message, e.cause.n]; })()", json!([true, "far", 1])),
            ("structuredClone(10n).toString()", json!("10")),
            ("structuredClone(new Boolean(false)).valueOf()", json!(false)),
            ("structuredClone({ f: () => 1 })", json!("DataCloneError: a function cannot be cloned")),
            ("structuredClone(Symbol('s'))", json!("DataCloneError: a symbol cannot be cloned")),
            ("structuredClone(new WeakMap())", json!("DataCloneError: this object cannot be cloned")),
            ("(() => { const b = new ArrayBuffer(4); const c = structuredClone(b, { transfer: [b] }); return [b.byteLength, c.byteLength]; })()", json!([0, 4])),
        ])
        .await;
}

#[tokio::test]
async fn crypto_has_random_values_digests_and_hmac() {
    let script = Script::start().await;
    let hex = "const hex = (b) => [...new Uint8Array(b)].map((x) => x.toString(16).padStart(2, '0')).join('');";
    let digest = |name: &str| {
        format!(
            "(async () => {{ {hex} return hex(await crypto.subtle.digest('{name}', new TextEncoder().encode('abc'))); }})()"
        )
    };
    let key = "crypto.subtle.importKey('raw', new TextEncoder().encode('key'), { name: 'HMAC', hash: 'SHA-256' }, false, ['sign', 'verify'])";
    let text = "new TextEncoder().encode('The quick brown fox jumps over the lazy dog')";
    let sign =
        format!("(async () => {{ {hex} return hex(await crypto.subtle.sign('HMAC', await {key}, {text})); }})()");
    let verify = format!(
        "(async () => {{ const k = await {key}; const s = await crypto.subtle.sign('HMAC', k, {text}); \
         const good = await crypto.subtle.verify('HMAC', k, s, {text}); new Uint8Array(s)[0] ^= 1; \
         return [good, await crypto.subtle.verify('HMAC', k, s, {text})]; }})()"
    );
    script
        .table(&[
            (&digest("SHA-1"), json!("a9993e364706816aba3e25717850c26c9cd0d89d")),
            (&digest("sha-256"), json!("ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad")),
            ("(await crypto.subtle.digest('SHA-384', new Uint8Array())).byteLength", json!(48)),
            ("(await crypto.subtle.digest({ name: 'SHA-512' }, new Uint8Array())).byteLength", json!(64)),
            (&sign, json!("f7bc83f430538424b13298e6aa6fb143ef4d59a14946175997479dbc2d1a3cd8")),
            (&verify, json!([true, false])),
            (
                "await crypto.subtle.digest('MD5', new Uint8Array())",
                json!("NotSupportedError: the digest `MD5` is not supported; use SHA-1, SHA-256, SHA-384, SHA-512"),
            ),
            (
                "await crypto.subtle.encrypt()",
                json!("NotSupportedError: crypto.subtle.encrypt is not supported; there are digest and HMAC"),
            ),
            (
                "/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/.test(crypto.randomUUID())",
                json!(true),
            ),
            ("crypto.getRandomValues(new Uint32Array(8)).some((n) => n !== 0)", json!(true)),
            (
                "crypto.getRandomValues(new Uint8Array(65537))",
                json!("QuotaExceededError: crypto.getRandomValues: at most 65536 bytes at once"),
            ),
            (
                "crypto.getRandomValues(new Float64Array(1))",
                json!("TypeMismatchError: crypto.getRandomValues: use an array of integers"),
            ),
        ])
        .await;
    let (one, two) =
        (script.value("return crypto.randomUUID();").await, script.value("return crypto.randomUUID();").await);
    assert_ne!(one, two, "every call has random numbers of its own");
    let (one, two) = (script.value("return Math.random();").await, script.value("return Math.random();").await);
    assert_ne!(one, two);
}

#[tokio::test]
async fn events_reach_their_listeners() {
    let script = Script::start().await;
    script
        .table(&[
            ("(() => { const t = new EventTarget(); let n = 0; const f = () => n += 1; t.addEventListener('x', f); t.addEventListener('x', f); t.dispatchEvent(new Event('x')); t.removeEventListener('x', f); t.dispatchEvent(new Event('x')); return n; })()", json!(1)),
            ("(() => { const t = new EventTarget(); let n = 0; t.addEventListener('x', () => n += 1, { once: true }); t.dispatchEvent(new Event('x')); t.dispatchEvent(new Event('x')); return n; })()", json!(1)),
            ("(() => { const t = new EventTarget(); t.addEventListener('x', (e) => e.preventDefault()); return t.dispatchEvent(new Event('x', { cancelable: true })); })()", json!(false)),
            ("(() => { const c = new AbortController(); let seen; c.signal.onabort = (e) => { seen = e.type; }; c.abort(); c.abort(); return [seen, c.signal.aborted, c.signal.reason.name]; })()", json!(["abort", true, "AbortError"])),
            ("AbortSignal.abort('why').reason", json!("why")),
            ("(() => { const c = new AbortController(); const s = AbortSignal.any([c.signal, new AbortController().signal]); c.abort(7); return [s.aborted, s.reason]; })()", json!([true, 7])),
            ("AbortSignal.abort(new Error('stop')).throwIfAborted()", json!("Error: stop")),
            ("await new Promise((resolve) => { const s = AbortSignal.timeout(5); s.addEventListener('abort', () => resolve(s.reason.name)); })", json!("TimeoutError")),
            ("new AbortSignal()", json!("TypeError: Illegal constructor: use `new AbortController().signal`")),
        ])
        .await;
}

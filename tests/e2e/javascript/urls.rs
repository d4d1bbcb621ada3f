//! URL and URLSearchParams, by a table in the manner of the web platform tests.

use serde_json::{Value, json};

use super::Script;

#[tokio::test]
async fn urls_are_parsed_by_the_standard() {
    let script = Script::start().await;
    let href = |input: &str, base: &str| {
        format!(
            "new URL({}, {}).href",
            json!(input),
            if base.is_empty() { "undefined".to_owned() } else { json!(base).to_string() }
        )
    };
    let rows = [
        ("http://example.com", "", "http://example.com/"),
        ("HTTP://EXAMPLE.com:80/a/../b/./c", "", "http://example.com/b/c"),
        ("https://example.com:443/", "", "https://example.com/"),
        ("https://example.com:8443/?q=ü#f g", "", "https://example.com:8443/?q=%C3%BC#f%20g"),
        ("  https://example.com/\ta\nb ", "", "https://example.com/ab"),
        ("https://münchen.example/ß", "", "https://xn--mnchen-3ya.example/%C3%9F"),
        ("https://ＥＸＡＭＰＬＥ.com", "", "https://example.com/"),
        ("http://0x7f.1/", "", "http://127.0.0.1/"),
        ("http://2130706433/", "", "http://127.0.0.1/"),
        ("http://[::1]:3000/x", "", "http://[::1]:3000/x"),
        ("http://[1:0:0:0:0:0:0:2]/", "", "http://[1::2]/"),
        ("../c?x#y", "https://example.com/a/b/", "https://example.com/a/c?x#y"),
        ("//other.example/p", "https://example.com/a", "https://other.example/p"),
        ("?q", "https://example.com/a/b?z#h", "https://example.com/a/b?q"),
        ("#h2", "https://example.com/a?z", "https://example.com/a?z#h2"),
        ("/x\\y", "https://example.com", "https://example.com/x/y"),
        ("", "https://example.com/a?b#c", "https://example.com/a?b"),
        ("mailto:a@b.example", "", "mailto:a@b.example"),
        ("data:text/plain,hi there", "", "data:text/plain,hi there"),
        ("https://user:pa%20ss@example.com/", "", "https://user:pa%20ss@example.com/"),
        ("javascript:alert(1)", "", "javascript:alert(1)"),
        ("https://example.com/%7Efoo/%zz", "", "https://example.com/%7Efoo/%zz"),
        ("https://example.com/a b?c d", "", "https://example.com/a%20b?c%20d"),
    ];
    let expressions: Vec<(String, Value)> =
        rows.iter().map(|(input, base, expected)| (href(input, base), json!(expected))).collect();
    let rows: Vec<(&str, Value)> = expressions.iter().map(|(code, value)| (code.as_str(), value.clone())).collect();
    script.table(&rows).await;
    let invalid = [
        "",
        "example.com",
        "http://",
        "http://a b/",
        "http://[::1",
        "http://1.2.3.4.5.6.0x/",
        "https://exa%23mple.org",
        "http://example.com:99999/",
        "//x",
        "http://a<b",
    ];
    let code = format!("return {}.map((text) => URL.canParse(text));", json!(invalid));
    assert_eq!(script.value(&code).await, json!(vec![false; invalid.len()]));
}

#[tokio::test]
async fn the_parts_of_a_url_can_be_read_and_set() {
    let script = Script::start().await;
    let url = "new URL('https://user:pw@example.com:8080/a/b?x=1&y=2#frag')";
    let set = |change: &str| format!("(() => {{ const u = {url}; {change}; return u.href; }})()");
    let parts = format!(
        "(() => {{ const u = {url}; return [u.protocol, u.username, u.password, u.host, u.hostname, u.port, u.pathname, u.search, u.hash, u.origin]; }})()"
    );
    script
        .table(&[
            (&parts, json!(["https:", "user", "pw", "example.com:8080", "example.com", "8080", "/a/b", "?x=1&y=2", "#frag", "https://example.com:8080"])),
            (&set("u.port = ''"), json!("https://user:pw@example.com/a/b?x=1&y=2#frag")),
            (&set("u.port = '99999'"), json!("https://user:pw@example.com:8080/a/b?x=1&y=2#frag")),
            (&set("u.hostname = 'other.example'"), json!("https://user:pw@other.example:8080/a/b?x=1&y=2#frag")),
            (&set("u.pathname = 'c d'"), json!("https://user:pw@example.com:8080/c%20d?x=1&y=2#frag")),
            (&set("u.search = ''; u.hash = ''"), json!("https://user:pw@example.com:8080/a/b")),
            (&set("u.protocol = 'http'"), json!("http://user:pw@example.com:8080/a/b?x=1&y=2#frag")),
            (&set("u.username = 'ä'; u.password = ''"), json!("https://%C3%A4@example.com:8080/a/b?x=1&y=2#frag")),
            (&set("u.href = 'http://new.example'"), json!("http://new.example/")),
            (&set("u.href = 'nonsense'"), json!("TypeError: invalid URL: `nonsense`")),
            (&set("u.searchParams.append('z', 'a b&c')"), json!("https://user:pw@example.com:8080/a/b?x=1&y=2&z=a+b%26c#frag")),
            (&set("u.searchParams.delete('x'); u.searchParams.delete('y')"), json!("https://user:pw@example.com:8080/a/b#frag")),
            ("(() => { const u = new URL('http://a.example/?q=1'); const p = u.searchParams; u.search = '?r=2'; return [p.get('q'), p.get('r'), p === u.searchParams]; })()", json!([null, "2", true])),
            ("JSON.stringify({ u: new URL('http://a.example') })", json!(r#"{"u":"http://a.example/"}"#)),
            ("new URL('mailto:x').origin", json!("null")),
            ("URL.parse('nope')", json!(null)),
            ("`${new URL('x', 'http://a.example/b/c')}`", json!("http://a.example/b/x")),
            ("new URL('nope')", json!("TypeError: invalid URL: `nope`")),
        ])
        .await;
}

#[tokio::test]
async fn search_parameters_are_a_list_of_pairs() {
    let script = Script::start().await;
    script
        .table(&[
            ("new URLSearchParams('?a=1&a=2&b=%20+%2B').getAll('a')", json!(["1", "2"])),
            ("new URLSearchParams('?a=1&a=2&b=%20+%2B').get('b')", json!("  +")),
            ("new URLSearchParams('a&=x&&b=').toString()", json!("a=&=x&b=")),
            ("new URLSearchParams({ a: 1, 'b c': 'ü' }).toString()", json!("a=1&b+c=%C3%BC")),
            ("new URLSearchParams([['a', '1'], ['a', '2']]).toString()", json!("a=1&a=2")),
            ("new URLSearchParams([['a']])", json!("TypeError: URLSearchParams: each item must be a pair of name and value")),
            ("new URLSearchParams(new URLSearchParams('q=1')).toString()", json!("q=1")),
            ("(() => { const p = new URLSearchParams('a=1&b=2&a=3'); p.set('a', '9'); p.append('c', ''); p.delete('b'); return [p.toString(), p.size, p.has('a'), p.has('a', '1'), p.get('zz')]; })()", json!(["a=9&c=", 2, true, false, null])),
            ("(() => { const p = new URLSearchParams('z=1&a=2&z=0&é=3'); p.sort(); return p.toString(); })()", json!("a=2&z=1&z=0&%C3%A9=3")),
            ("[...new URLSearchParams('a=1&b=2')]", json!([["a", "1"], ["b", "2"]])),
            ("[...new URLSearchParams('a=1&b=2').keys(), ...new URLSearchParams('a=1').values()]", json!(["a", "b", "1"])),
            ("(() => { const seen = []; new URLSearchParams('a=1').forEach((v, k) => seen.push(k + v)); return seen; })()", json!(["a1"])),
            ("new URLSearchParams('x=\\ud800').get('x')", json!("\u{fffd}")),
            ("new URLSearchParams(\"*-._ ~!'()\").toString()", json!("*-._+%7E%21%27%28%29=")),
        ])
        .await;
}

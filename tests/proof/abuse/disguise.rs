//! Personal data inside a file, under every disguise that passed once: the guardrail must block each, in and out.

use base64::Engine as _;
use base64::engine::general_purpose::{STANDARD, STANDARD_NO_PAD, URL_SAFE};
use reqwest::Method;
use serde_json::{Value, json};

use crate::node::{Node, Tenant};
use crate::row::Row;

const TEXT: &str = "Please write to jane.doe@example.com about the invoice, in her own time.";

/// Accepts any message.
const READER: &str = "export const description = 'reads a message';\nexport default () => 'read';\n";
/// Returns the file that its input describes, so that outputs are tried too.
const WRITER: &str = r#"
export const description = "returns the file that its input describes";
export default (input, ctx) => ctx.content([
  { type: "resource", resource: { uri: "file:///f", mimeType: input.type, blob: input.blob } },
]);
"#;

struct Disguise {
    name: &'static str,
    media_type: &'static str,
    base64: String,
}

pub async fn prove() -> Vec<Row> {
    let node = Node::start().await;
    let tenant = node.tenant("disguise").await;
    node.deploy(&tenant, "reader", "reader.js", READER.into()).await;
    node.deploy(&tenant, "writer", "writer.js", WRITER.into()).await;
    guard(&node, &tenant, "reader", "input").await;
    guard(&node, &tenant, "writer", "output").await;
    let disguises = disguises();
    let (mut passed_in, mut passed_out) = (Vec::new(), Vec::new());
    for disguise in &disguises {
        let answer = send(&node, &tenant, disguise).await;
        // Blocked by the guardrail, or refused before it: base64 that clients may not send, a type that nothing accepts.
        if !matches!(answer["error"]["code"].as_i64(), Some(-32_050 | -32_602 | -32_005)) {
            passed_in.push(format!("{}: {answer}", disguise.name));
        }
        let input = json!({ "type": disguise.media_type, "blob": disguise.base64 });
        let called = node.call(&tenant, "writer", &input).await;
        if called.status != 403 {
            passed_out.push(format!("{}: {} {}", disguise.name, called.status, called.body));
        }
    }
    let tried = format!("an address in {} files in disguise", disguises.len());
    vec![
        Row::none("abuse.files.in", format!("{tried}, sent: neither blocked nor refused"), &passed_in),
        Row::none("abuse.files.out", "the same, returned by a function: not blocked", &passed_out),
    ]
}

async fn guard(node: &Node, tenant: &Tenant, skill: &str, target: &str) {
    let policy = json!({ "checks": [{ "type": "pii", "action": "block", "target": target }] });
    let path = format!("/tenants/{}/guard/skills/{skill}", tenant.slug);
    let (status, body) = node.api(Method::PUT, &path, &tenant.key, Some(policy)).await;
    assert_eq!(status, 204, "{body}");
}

async fn send(node: &Node, tenant: &Tenant, disguise: &Disguise) -> Value {
    let file = json!({ "bytes": disguise.base64, "mimeType": disguise.media_type });
    let message = json!({
        "kind": "message", "role": "user", "messageId": disguise.name, "metadata": { "skill": "reader" },
        "parts": [{ "kind": "file", "file": file }]
    });
    node.rpc(&tenant.slug, &tenant.key, "message/send", json!({ "message": message })).await
}

fn disguises() -> Vec<Disguise> {
    let plain = STANDARD.encode(TEXT);
    let utf16 = |units: fn(u16) -> [u8; 2]| TEXT.encode_utf16().flat_map(units).collect::<Vec<u8>>();
    let marked = [b"\xff\xfe".to_vec(), utf16(u16::to_le_bytes)].concat();
    let svg = format!("<svg xmlns=\"http://www.w3.org/2000/svg\"><text>{TEXT}</text></svg>");
    let one = |name, media_type, base64: String| Disguise { name, media_type, base64 };
    vec![
        one("plain", "text/plain", plain.clone()),
        one("capital", "Text/plain", plain.clone()),
        one("shouted", "TEXT/PLAIN; charset=utf-8", plain.clone()),
        one("python", "application/x-python", plain.clone()),
        one("toml", "application/toml", plain.clone()),
        one("octets", "application/octet-stream", plain.clone()),
        one("made up", "x-unknown/x-unknown", plain.clone()),
        one("picture", "image/png", plain.clone()),
        one("svg", "image/svg+xml", STANDARD.encode(&svg)),
        one("unpadded", "text/plain", STANDARD_NO_PAD.encode(format!("{TEXT}."))),
        one("wrapped", "text/plain", wrapped(&plain, "\r\n")),
        one("spaced", "application/toml", wrapped(&plain, " ")),
        one("url-safe", "text/plain", URL_SAFE.encode(format!("{TEXT}???>>>"))),
        one("utf-16le", "text/plain", STANDARD.encode(utf16(u16::to_le_bytes))),
        one("utf-16be", "application/octet-stream", STANDARD.encode(utf16(u16::to_be_bytes))),
        one("utf-16 marked", "application/x-python", STANDARD.encode(marked)),
    ]
}

fn wrapped(base64: &str, separator: &str) -> String {
    let lines: Vec<&str> = (0..base64.len()).step_by(64).map(|at| &base64[at..base64.len().min(at + 64)]).collect();
    lines.join(separator)
}

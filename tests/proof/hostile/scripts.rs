//! Scripts: what can be done to an interpreter, at its top level and in a call.

use serde_json::json;

use super::{Attack, Limits, Specimen};

/// Does what its input says.
pub const FIEND: &str = r#"
export const description = "does what its input says";
export const limits = { cpuMs: 200, wallMs: 2000 };
export const capabilities = { secrets: ["NONE"], keyValue: true, skills: ["fiend"], hosts: ["*"] };

const many = (what) => Promise.all(Array.from({ length: 200 }, what));
const deeds = {
  spin() { for (;;); },
  regex() { return /^(a+)+$/.test("a".repeat(60) + "b"); },
  recursion() { const f = (n) => f(n + 1) + 1; return f(0); },
  strings() { let s = "x"; for (;;) s += s; },
  arrays() { const all = []; for (;;) all.push(new Array(1000).fill(all.length)); },
  typed() { const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(165)); },
  async promises() { const again = () => Promise.resolve().then(again); await again(); },
  async never() { await new Promise(() => {}); },
  promiseFlood() { for (;;) Promise.resolve().then(() => {}); },
  getter() { const o = { get x() { return this.x; } }; return o.x; },
  proxy() { const p = new Proxy({}, { get: (t, k, r) => r[k] }); return p.x; },
  proxyKeys() { return new Proxy({}, { ownKeys: () => { for (;;); } }); },
  toJSON() { const o = { toJSON() { return { o }; } }; return o; },
  json() { return JSON.parse("[".repeat(1000000)); },
  jsonLarge() { return JSON.parse("[" + "[],".repeat(3000000) + "0]"); },
  deep() { let v = 0; for (let i = 0; i < 100000; i++) v = [v]; return v; },
  output() { return "x".repeat(40000000); },
  wide() { return new Array(3000000).fill(0); },
  error() { throw new Error("x".repeat(20000000)); },
  bigint() { let n = 3n; for (;;) n = n * n; },
  sort() { const a = Array.from({ length: 1000000 }, (_, i) => -i); a.sort((x, y) => { for (;;); }); },
  generator() { function* g() { for (;;) yield 1; } return [...g()]; },
  atomics() { return Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1e9); },
  catchAll() { for (;;) { try { for (;;); } catch (e) { } finally { continue; } } },
  evalBomb() { for (;;) new Function("return " + "[".repeat(500) + "]".repeat(500))(); },
  log(i, ctx) { for (;;) console.log("x".repeat(1000)); },
  emit(i, ctx) { for (;;) { try { ctx.emit("x".repeat(1000)); } catch { } } },
  progress(i, ctx) { for (let n = 0; ; n++) ctx.progress(n); },
  random() { for (;;) Math.random(); },
  clock() { for (;;) Date.now(); },
  async secrets(i, ctx) { for (;;) await ctx.secrets.get("NONE"); },
  async values(i, ctx) { for (let n = 0; ; n++) await ctx.kv.set("value" + n, "x".repeat(60000)); },
  async counters(i, ctx) { for (;;) await many(() => ctx.kv.increment("count")); },
  async lists(i, ctx) { for (;;) await ctx.kv.list(""); },
  callsItself(i, ctx) { return ctx.call("fiend", i); },
  async callsMany(i, ctx) { for (;;) await many(() => ctx.call("fiend", { do: "spin" }).catch(() => {})); },
  async callsNobodyWaitsFor(i, ctx) { for (;;) { ctx.call("fiend", { do: "never" }).catch(() => {}); await null; } },
  async fetches() { for (;;) await many(() => fetch("https://192.0.2.1/").catch(() => {})); },
};

export default (input, ctx) => deeds[input.do](input, ctx);
"#;

const DEEDS: [&str; 38] = [
    "spin",
    "regex",
    "recursion",
    "strings",
    "arrays",
    "typed",
    "promises",
    "never",
    "promiseFlood",
    "getter",
    "proxy",
    "proxyKeys",
    "toJSON",
    "json",
    "jsonLarge",
    "deep",
    "output",
    "wide",
    "error",
    "bigint",
    "sort",
    "generator",
    "atomics",
    "catchAll",
    "evalBomb",
    "log",
    "emit",
    "progress",
    "random",
    "clock",
    "secrets",
    "values",
    "counters",
    "lists",
    "callsItself",
    "callsMany",
    "callsNobodyWaitsFor",
    "fetches",
];

pub fn all() -> Vec<Specimen> {
    let mut all: Vec<Specimen> = DEEDS.into_iter().map(deed).collect();
    all.extend([
        script("top-loop", "for (;;);".to_owned()),
        script("top-memory", "const all = []; for (;;) all.push(new Uint8Array(1 << 20).fill(1));".to_owned()),
        script("top-recursion", "const f = () => f() + 1; f();".to_owned()),
        script("top-await", "await new Promise(() => {});".to_owned()),
        script("top-brackets", "[".repeat(900_000)),
        script("top-functions", "function f(){".repeat(60_000)),
        script("top-nothing", "// nothing".to_owned()),
        script("top-manifest", "export const description = 'x'.repeat(1e7); export default () => 1;".to_owned()),
    ]);
    all
}

fn deed(name: &str) -> Specimen {
    let attack = Attack::Call { function: "fiend", input: json!({ "do": name }), limits: Limits::SHORT };
    Specimen { name: format!("js-{}", name.to_ascii_lowercase()), attack }
}

fn script(name: &str, source: String) -> Specimen {
    let attack = Attack::File { file: "hostile.js", source: source.into_bytes(), limits: Limits::DEFAULT };
    Specimen { name: format!("js-{name}"), attack }
}

//! Files that are small to send and large to compile, or not what they say they are.

use super::{Attack, Limits, Specimen};
use crate::guest::Guest;
use crate::harness::fixture;
use crate::options::Scale;

pub fn all(scale: Scale) -> Vec<Specimen> {
    let mut all = light();
    if scale.is_full() {
        all.extend(heavy());
    }
    all
}

/// A second or two to find out.
fn light() -> Vec<Specimen> {
    let function = |name: &str, body: String| bomb(name, Guest::new("").put("functions", &format!("(func {body})")));
    let module = |name: &str, fields: String| bomb(name, Guest::new("").put("functions", &fields));
    vec![
        function("bomb-nested-20000", nested(20_000)),
        module("bomb-nested-3900", format!("(func {}) ", nested(3_900)).repeat(10)),
        module("bomb-functions-100000", "(func) ".repeat(100_000)),
        function("bomb-locals-60000", format!("(local {})", "i64 ".repeat(60_000))),
        module("bomb-locals-fitting", format!("(func (local {}))", "i64 ".repeat(49_000)).repeat(20)),
        function("bomb-br-table", format!("(br_table {} (i32.const 0))", "0 ".repeat(300_000))),
        text("bomb-components", components(100)),
        text("bomb-type-doubling", doubling(40)),
        text("bomb-parentheses", "(".repeat(2_000_000)),
        text("bomb-text-component", format!("(component {})", "(component".repeat(50_000))),
        binary("bomb-custom-sections", sections(300_000)),
        binary("bomb-truncated", fixture("probe.wasm")[..100_000].to_vec()),
        binary("bomb-corrupt", corrupt()),
        binary("bomb-noise", [b"\0asm\x0d\0\x01\0".as_slice(), &[0xA5; 50_000]].concat()),
        binary("bomb-empty", b"\0asm\x0d\0\x01\0".to_vec()),
    ]
}

/// As much as the compiler may use, and more.
fn heavy() -> Vec<Specimen> {
    let function = |name: &str, body: String| bomb(name, Guest::new("").put("functions", &format!("(func {body})")));
    let module = |name: &str, fields: String| bomb(name, Guest::new("").put("functions", &fields));
    vec![
        function("bomb-adds-500000", adds(500_000)),
        function("bomb-adds-fitting", adds(140_000)),
        module("bomb-functions-50000", "(func) ".repeat(50_000)),
        module("bomb-types", "(type (func (param i32 i64 f32 f64) (result i32)))".repeat(150_000)),
        module("bomb-globals", "(global i32 (i32.const 0))".repeat(250_000)),
        module("bomb-data", "(data (i32.const 0) \"x\")".repeat(90_000)),
        function("bomb-calls", format!("(local i32) {}", "(call_indirect (type $v) (i32.const 0))".repeat(60_000)))
            .with("(type $v (func)) (table 1 funcref)"),
        binary("bomb-custom-large", large_section(30 << 20)),
    ]
}

impl Specimen {
    /// The same with something before the functions.
    fn with(mut self, fields: &str) -> Self {
        if let Attack::File { source, .. } = &mut self.attack {
            let text = String::from_utf8_lossy(source).replace(";;; table", fields);
            *source = text.into_bytes();
        }
        self
    }
}

fn bomb(name: &str, guest: Guest) -> Specimen {
    file(name, "hostile.wat", guest.bytes(), Limits::SHORT)
}

fn text(name: &str, text: String) -> Specimen {
    file(name, "hostile.wat", text.into_bytes(), Limits::DEFAULT)
}

fn binary(name: &str, bytes: Vec<u8>) -> Specimen {
    file(name, "hostile.wasm", bytes, Limits::DEFAULT)
}

fn file(name: &str, file: &'static str, source: Vec<u8>, limits: Limits) -> Specimen {
    Specimen { name: name.to_owned(), attack: Attack::File { file, source, limits } }
}

/// In the linear form of the text, which its parser does not recurse for.
fn nested(depth: usize) -> String {
    format!("{}{}", "block ".repeat(depth), "end ".repeat(depth))
}

fn adds(count: usize) -> String {
    format!("(local i32) {}", "local.get 0 local.get 0 i32.add local.set 0 ".repeat(count))
}

fn components(depth: usize) -> String {
    format!("{}{}", "(component ".repeat(depth), ")".repeat(depth))
}

/// Types that name the one before twice: each is twice as large.
fn doubling(steps: usize) -> String {
    let mut text = "(component (type $t0 (tuple u64 u64))".to_owned();
    for step in 1..=steps {
        text.push_str(&format!("(type $t{step} (tuple $t{before} $t{before}))", before = step - 1));
    }
    text.push_str(&format!("(import \"wasi:io/x\" (func (param \"a\" $t{steps}))))"));
    text
}

fn sections(count: usize) -> Vec<u8> {
    let mut bytes = fixture("echo.wasm");
    for _ in 0..count {
        bytes.extend([0, 2, 1, b'x']);
    }
    bytes
}

fn large_section(size: u32) -> Vec<u8> {
    let mut bytes = fixture("echo.wasm");
    bytes.push(0);
    let mut rest = size;
    while rest >= 0x80 {
        bytes.push(u8::try_from(rest & 0x7f).unwrap_or_default() | 0x80);
        rest >>= 7;
    }
    bytes.push(u8::try_from(rest).unwrap_or_default());
    bytes.extend([1, b'x']);
    bytes.resize(bytes.len() + size as usize - 2, 0);
    bytes
}

/// Every thousandth byte is another.
fn corrupt() -> Vec<u8> {
    let mut bytes = fixture("echo.wasm");
    bytes.iter_mut().skip(500).step_by(1_000).for_each(|byte| *byte ^= 0x15);
    bytes
}

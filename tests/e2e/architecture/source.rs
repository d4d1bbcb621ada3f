//! What every source file keeps to.

use std::path::{Path, PathBuf};

use super::{files, text};

const CODE: &[&str] = &["services", "tests", "benches", "functions-sdk"];
const MOST_LINES: usize = 500;

/// All that may hold unsafe code: loading native code that the platform itself compiled. The others are guests, inside
/// their sandbox: the script engine has an allocator of its own, and the fixture's misbehaviour is its purpose.
const UNSAFE: &[&str] = &[
    "functions-sdk/js/engine/src/allocator.rs",
    "functions-sdk/js/engine/src/native/text.rs",
    "services/runtime/src/function.rs",
    "services/runtime/src/snapshot/kept.rs",
    "tests/fixtures/probe/src/hostile.rs",
];

/// This file speaks of what it forbids.
fn others() -> Vec<PathBuf> {
    files(CODE, ".rs").into_iter().filter(|path| path != Path::new("tests/e2e/architecture/source.rs")).collect()
}

/// Without comments, and without the tests at the end of a file.
fn program(path: &Path) -> String {
    let text = text(path);
    let text = text.split("#[cfg(test)]").next().unwrap_or_default();
    text.lines().filter(|line| !line.trim_start().starts_with("//")).collect::<Vec<_>>().join("\n")
}

#[test]
fn every_file_says_first_why_it_exists() {
    let files = files(CODE, ".rs");
    assert!(files.len() > 150, "the search finds the source: {}", files.len());
    let silent: Vec<_> = files.iter().filter(|path| !text(path).starts_with("//! ")).collect();
    assert!(silent.is_empty(), "files that do not open with `//!`: {silent:?}");
}

#[test]
fn no_file_is_too_long_to_read() {
    let long: Vec<_> = files(CODE, ".rs").into_iter().filter(|path| text(path).lines().count() > MOST_LINES).collect();
    assert!(long.is_empty(), "files of more than {MOST_LINES} lines: {long:?}");
}

#[test]
fn modules_are_named_by_their_file() {
    let nameless: Vec<_> = files(CODE, "mod.rs").into_iter().filter(|path| path.ends_with("mod.rs")).collect();
    assert!(nameless.is_empty(), "use `foo.rs` and `foo/`: {nameless:?}");
}

#[test]
fn a_tenant_is_made_from_a_row_only() {
    let outside = |path: &PathBuf| !path.starts_with("services/store") && !path.starts_with("tests");
    let made: Vec<_> =
        others().into_iter().filter(outside).filter(|path| program(path).contains("TenantId::from_row")).collect();
    assert!(made.is_empty(), "`TenantId::from_row` outside the store: {made:?}");
    let store = files(&["services/store"], ".rs");
    assert!(store.iter().any(|path| program(path).contains("TenantId::from_row")), "the search finds what is there");
}

#[test]
fn unsafe_code_is_where_it_is_known_to_be() {
    let is_unsafe = |path: &PathBuf| {
        let program = program(path);
        ["unsafe {", "unsafe fn", "unsafe impl", "unsafe extern"].iter().any(|form| program.contains(form))
    };
    let found: Vec<_> = others().into_iter().filter(is_unsafe).collect();
    let unknown: Vec<_> = found.iter().filter(|path| !UNSAFE.iter().any(|known| Path::new(known) == **path)).collect();
    assert!(unknown.is_empty(), "unsafe code in {unknown:?}");
    for known in UNSAFE.iter().filter(|known| known.starts_with("services")) {
        let program = program(Path::new(known));
        assert!(found.iter().any(|path| path == Path::new(known)), "{known} no longer holds any: take it off the list");
        assert_eq!(program.matches("unsafe {").count(), 1, "{known} has one unsafe block");
        assert!(program.contains("Component::deserialize"), "{known} only loads native code");
    }
}

#[test]
fn sql_stays_in_the_store() {
    let outside = |path: &PathBuf| path.starts_with("services") && !path.starts_with("services/store");
    let statements = ["SELECT ", "INSERT INTO ", "DELETE FROM ", "UPDATE tasks"];
    let found: Vec<_> = others()
        .into_iter()
        .filter(outside)
        .filter(|path| statements.iter().any(|statement| program(path).contains(statement)))
        .collect();
    assert!(found.is_empty(), "SQL outside the store: {found:?}");
}

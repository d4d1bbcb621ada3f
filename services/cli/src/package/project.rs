//! Which files of a directory are functions or pipelines: what `pleat deploy` takes without being told, and what `pleat dev` watches.
//!
//! A directory also has configurations, tests and scripts; none of them must become a skill that others can call.

use std::io::Read;
use std::path::{Path, PathBuf};

use super::Kind;

/// Read to tell; what a function says of itself stands at the top.
const LOOK_AT: u64 = 1 << 20;
/// The first bytes of a component; those of a core module differ.
const COMPONENT: &[u8] = b"\0asm\x0d\0\x01\0";
const PIPELINE_ENDINGS: [&str; 3] = [".pipeline.yaml", ".pipeline.yml", ".pipeline.json"];
/// A script that exports one of these says what it is.
const SAYS_WHAT_IT_IS: [&str; 8] =
    ["description", "input", "title", "output", "examples", "tags", "capabilities", "visibility"];

/// Files at the top of the directory that may be functions, by their names, and the directory itself if it is the crate
/// of one. In order.
pub fn candidates(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| may_be_function(path)).collect();
    found.sort();
    if is_function(directory) {
        found.push(directory.to_owned());
    }
    found
}

/// Those that are, by what is in them.
pub fn functions(directory: &Path) -> Vec<PathBuf> {
    candidates(directory).into_iter().filter(|path| is_function(path)).collect()
}

fn may_be_function(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let aside = [".d.", ".config.", ".test.", ".spec."].iter().any(|part| name.contains(part));
    !name.starts_with('.') && !aside && path.is_file() && Kind::of(path).is_some()
}

/// Files at the top of the directory that are definitions of pipelines, by their names. In order.
pub fn pipelines(directory: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(directory).into_iter().flatten().flatten();
    let mut found: Vec<PathBuf> = entries.map(|entry| entry.path()).filter(|path| is_pipeline(path)).collect();
    found.sort();
    found
}

pub fn is_pipeline(path: &Path) -> bool {
    let name = path.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let named = PIPELINE_ENDINGS.iter().any(|ending| name.ends_with(ending));
    named && !name.starts_with('.') && path.is_file()
}

pub fn is_function(path: &Path) -> bool {
    match Kind::of(path) {
        Some(Kind::JavaScript | Kind::TypeScript) => is_script(&beginning(path)),
        Some(Kind::Python) => text_has_line(&beginning(path), "@pleat.function"),
        Some(Kind::Component) => beginning(path).starts_with(COMPONENT),
        Some(Kind::ComponentText) => text_has_line(&beginning(path), "(component"),
        Some(Kind::Crate) => text_has_line(&beginning(&path.join("Cargo.toml")), "pleat-function"),
        None => false,
    }
}

/// A default export alone is what every configuration file has.
fn is_script(bytes: &[u8]) -> bool {
    let says = |line: &str| {
        let exported =
            ["export const ", "export let ", "export var "].iter().find_map(|start| line.strip_prefix(start));
        let name = exported.and_then(|rest| rest.split([' ', '=', ':', ';']).next());
        name.is_some_and(|name| SAYS_WHAT_IT_IS.contains(&name))
    };
    let text = String::from_utf8_lossy(bytes);
    text_has_line(bytes, "export default") && text.lines().any(says)
}

fn text_has_line(bytes: &[u8], start: &str) -> bool {
    String::from_utf8_lossy(bytes).lines().any(|line| line.starts_with(start))
}

fn beginning(path: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    // What cannot be read is no function; deploying it by name tells why.
    let _ = std::fs::File::open(path).and_then(|file| file.take(LOOK_AT).read_to_end(&mut bytes));
    bytes
}

//! A Python file becomes a component by componentize-py, which the author has installed. It runs in a directory of its
//! own, with the SDK and the contract that this binary brings.

use std::ffi::{OsStr, OsString};
use std::path::{Path, PathBuf};

use super::tool;
use crate::child;
use crate::embedded;
use crate::output::Output;
use crate::problem::Problem;

/// Overrides the search.
const VARIABLE: &str = "PLEAT_COMPONENTIZE_PY";
const TOOL: &str = "componentize-py";
const MISSING: &str = "install it: python3 -m venv .venv && .venv/bin/pip install componentize-py==0.25.1";
/// What the component is built from; it loads the author's file.
const APP: &str = "pleat_app";

pub fn build(file: &Path, output: &Output) -> Result<Vec<u8>, Problem> {
    let unreadable = |source| Problem::Unreadable { path: file.to_owned(), source };
    let file = file.canonicalize().map_err(unreadable)?;
    let (directory, name) = match (file.parent(), file.file_name().and_then(OsStr::to_str)) {
        (Some(directory), Some(name)) => (directory, name),
        _ => return Err(Problem::usage("the file's name is not UTF-8", "rename it")),
    };
    let tool = find(directory);
    output.note(&format!("building {name} with {TOOL}, which takes some 20 s"));
    let failed =
        |error: std::io::Error| Problem::failed(format!("cannot build in a new directory: {error}"), "see TMPDIR");
    let place = tempfile::tempdir().map_err(failed)?;
    furnish(place.path(), name).map_err(failed)?;
    let component = place.path().join("component.wasm");
    let mut command = child::build_tool(tool);
    command.current_dir(place.path()).args(["--quiet", "--wit-path", "wit", "--world", "function"]);
    command.args(["componentize", APP, "--python-path", "sdk", "--python-path"]).arg(directory);
    command.arg("--output").arg(&component);
    // Where it is not active, it is still the directory's own.
    if std::env::var_os("VIRTUAL_ENV").is_none() && directory.join(".venv").is_dir() {
        command.env("VIRTUAL_ENV", directory.join(".venv"));
    }
    let ran = tool::run(&mut command, MISSING)?;
    if !ran.status.success() {
        let message = format!("{name} cannot be built\n{}", excerpt(&tool::said(&ran)));
        return Err(Problem::failed(message, "the top level of the file runs at build; mend it and deploy again"));
    }
    super::read(&component)
}

/// All Python files beside it, since any of them may be imported.
pub fn sources(file: &Path) -> Vec<PathBuf> {
    let mut files = vec![file.to_owned()];
    let beside = file.parent().map(std::fs::read_dir).and_then(Result::ok).into_iter().flatten().flatten();
    let others = beside.map(|entry| entry.path()).filter(|path| path.extension() == Some(OsStr::new("py")));
    files.extend(others.filter(|path| path != file));
    files
}

/// The one that is named, that of the directory's own environment, or else the one on the path.
fn find(directory: &Path) -> OsString {
    if let Some(named) = std::env::var_os(VARIABLE).filter(|named| !named.is_empty()) {
        return named;
    }
    own_tool(directory).map_or_else(|| OsString::from(TOOL), PathBuf::into_os_string)
}

/// That of the directory's own environment, where it would be run.
pub fn own_tool(directory: &Path) -> Option<PathBuf> {
    let named = std::env::var_os(VARIABLE).is_some_and(|named| !named.is_empty());
    let own = directory.join(".venv/bin").join(TOOL);
    (!named && own.is_file()).then_some(own)
}

fn furnish(place: &Path, file_name: &str) -> std::io::Result<()> {
    embedded::write(embedded::WIT, &place.join("wit"))?;
    embedded::write(embedded::PYTHON_SDK, &place.join("sdk/pleat"))?;
    let app = format!("from pleat.entry import load\n\nHandler = load({})\n", serde_json::json!(file_name));
    std::fs::write(place.join("sdk").join(APP).with_extension("py"), app)
}

/// The part of the tool's words that is about the author's file: the last traceback, without the SDK's frames and the
/// tool's own trailer, with paths as the author knows them. `/0` is the SDK's directory at build, `/1` the author's.
fn excerpt(said: &str) -> String {
    let Some((_, traceback)) = said.rsplit_once("Traceback (most recent call last):\n") else {
        return said.to_owned();
    };
    let traceback = traceback.split("\nCaused by:").next().unwrap_or(traceback);
    let mut kept = Vec::new();
    let mut of_sdk = false;
    for line in traceback.trim_end().lines() {
        if line.starts_with("  File ") || !line.starts_with("    ") {
            of_sdk = line.starts_with("  File \"/0/");
        }
        if !of_sdk {
            kept.push(line.replacen("  File \"/1/", "  File \"", 1));
        }
    }
    kept.join("\n")
}

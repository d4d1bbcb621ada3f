//! A crate becomes a component by `cargo build --release --target wasm32-wasip2`.

use std::ffi::OsStr;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use super::tool;
use crate::child;
use crate::output::Output;
use crate::problem::Problem;

const TARGET: &str = "wasm32-wasip2";
const RUST_MISSING: &str = "install Rust: https://rustup.rs";

pub struct Built {
    /// The crate's name.
    pub name: String,
    pub component: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    target_directory: PathBuf,
}

#[derive(Deserialize)]
struct Package {
    name: String,
    manifest_path: PathBuf,
    targets: Vec<Target>,
}

#[derive(Deserialize)]
struct Target {
    name: String,
    crate_types: Vec<String>,
}

pub fn build(directory: &Path, output: &Output) -> Result<Built, Problem> {
    let manifest = directory.join("Cargo.toml");
    let (built, target_directory) = described(&manifest)?;
    require_target()?;
    output.note(&format!("building {} with cargo", directory.display()));
    let mut cargo = child::build_tool("cargo");
    cargo.args(["build", "--quiet", "--release", "--target", TARGET, "--manifest-path"]).arg(&manifest);
    let ran = tool::run(&mut cargo, RUST_MISSING)?;
    if !ran.status.success() {
        return Err(Problem::failed(format!("`cargo build` failed\n{}", tool::said(&ran)), "mend it and deploy again"));
    }
    let component = target_directory.join(TARGET).join("release").join(built.1);
    Ok(Built { name: built.0, component })
}

/// Names of the crate and of the file it becomes, and where cargo puts it.
fn described(manifest: &Path) -> Result<((String, String), PathBuf), Problem> {
    let mut cargo = child::build_tool("cargo");
    cargo.args(["metadata", "--format-version", "1", "--no-deps", "--manifest-path"]).arg(manifest);
    let ran = tool::run(&mut cargo, RUST_MISSING)?;
    let unusable = |why: String| {
        let hint = "it must be one crate with `crate-type = [\"cdylib\"]`; `pleat init -t rust` makes such a crate";
        Problem::failed(format!("`{}` is not the crate of a function: {why}", manifest.display()), hint)
    };
    if !ran.status.success() {
        return Err(unusable(tool::said(&ran)));
    }
    let metadata: Metadata = serde_json::from_slice(&ran.stdout).map_err(|error| unusable(error.to_string()))?;
    let here = manifest.canonicalize().unwrap_or_else(|_| manifest.to_owned());
    let package = metadata.packages.into_iter().find(|package| package.manifest_path == here);
    let package = package.ok_or_else(|| unusable("it is a workspace".to_owned()))?;
    let library = package.targets.iter().find(|target| target.crate_types.iter().any(|kind| kind == "cdylib"));
    let library = library.ok_or_else(|| unusable("it has no `cdylib`".to_owned()))?;
    let file = format!("{}.wasm", library.name.replace('-', "_"));
    Ok(((package.name, file), metadata.target_directory))
}

/// Told here, because what the compiler says of a missing target are hundreds of lines.
fn require_target() -> Result<(), Problem> {
    let mut rustc = child::build_tool("rustc");
    rustc.args(["--print", "target-libdir", "--target", TARGET]);
    let ran = tool::run(&mut rustc, RUST_MISSING)?;
    let library = String::from_utf8_lossy(&ran.stdout);
    if ran.status.success() && Path::new(library.trim()).is_dir() {
        return Ok(());
    }
    let hint = format!("add it: rustup target add {TARGET}");
    Err(Problem::failed(format!("the Rust target `{TARGET}` is not installed"), hint))
}

pub fn sources(directory: &Path) -> Vec<PathBuf> {
    let mut files = vec![directory.join("Cargo.toml")];
    let mut left = vec![directory.join("src")];
    while let Some(next) = left.pop() {
        for entry in std::fs::read_dir(next).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                left.push(path);
            } else if path.extension() == Some(OsStr::new("rs")) {
                files.push(path);
            }
        }
    }
    files
}

//! Puts into the binary what it must know or carry: what it was built from, for `pleat version`; and the SDKs, the
//! contract and the templates of `pleat init`, so that nothing has to be fetched. A list made by hand would miss the
//! next file.

use std::error::Error;
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

const TREES: &[(&str, &str)] = &[
    ("WIT", "wit"),
    ("PYTHON_SDK", "python/pleat"),
    ("RUST_SDK", "rust"),
    ("TEMPLATE_JS", "templates/js"),
    ("TEMPLATE_TS", "templates/ts"),
    ("TEMPLATE_PYTHON", "templates/python"),
    ("TEMPLATE_RUST", "templates/rust"),
];
/// What building and running leaves behind.
const LEFT_OUT: &[&str] = &["target", "__pycache__", "Cargo.lock"];

fn main() -> Result<(), Box<dyn Error>> {
    tell_origin();
    embed()
}

fn tell_origin() {
    let said = |program: &str, arguments: &[&str]| {
        let output = Command::new(program).args(arguments).output().ok().filter(|output| output.status.success());
        output.map(|output| String::from_utf8_lossy(&output.stdout).trim().to_owned()).filter(|text| !text.is_empty())
    };
    // A source tree without its history (an archive, an image's build) knows it from outside, or not at all.
    let commit = std::env::var("PLEAT_COMMIT").ok().or_else(|| said("git", &["rev-parse", "--short=12", "HEAD"]));
    let rustc = std::env::var("RUSTC").ok().and_then(|rustc| said(&rustc, &["--version"]));
    let unknown = || "unknown".to_owned();
    println!("cargo:rustc-env=PLEAT_BUILD_COMMIT={}", commit.unwrap_or_else(unknown));
    println!("cargo:rustc-env=PLEAT_BUILD_RUSTC={}", rustc.unwrap_or_else(unknown));
    for name in ["PROFILE", "TARGET"] {
        println!("cargo:rustc-env=PLEAT_BUILD_{name}={}", std::env::var(name).unwrap_or_else(|_| unknown()));
    }
    println!("cargo:rerun-if-env-changed=PLEAT_COMMIT");
    println!("cargo:rerun-if-changed=build.rs");
}

fn embed() -> Result<(), Box<dyn Error>> {
    // Asked for now, not when this program was compiled: checkouts may share a target directory.
    let sdk = PathBuf::from(std::env::var("CARGO_MANIFEST_DIR")?).join("../../functions-sdk").canonicalize()?;
    let mut code = String::new();
    for (name, place) in TREES {
        let root = sdk.join(place);
        let mut files = Vec::new();
        gather(&root, &mut files)?;
        files.sort();
        writeln!(code, "pub static {name}: Files = &[")?;
        for file in files {
            let relative = file.strip_prefix(&root)?.display().to_string();
            writeln!(code, "    ({relative:?}, include_str!({:?})),", file.display().to_string())?;
        }
        writeln!(code, "];")?;
    }
    std::fs::write(PathBuf::from(std::env::var("OUT_DIR")?).join("embedded.rs"), code)?;
    Ok(())
}

fn gather(directory: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    // A directory's own time changes when a file comes or goes; `include_str!` follows what is in it.
    println!("cargo:rerun-if-changed={}", directory.display());
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if LEFT_OUT.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            gather(&entry.path(), files)?;
        } else {
            files.push(entry.path());
        }
    }
    Ok(())
}

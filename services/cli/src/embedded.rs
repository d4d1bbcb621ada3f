//! The files that the binary brings along: the contract, the SDKs and the templates, as `build.rs` found them.

use std::io::Result;
use std::path::Path;

/// Relative paths and what is in the files.
pub type Files = &'static [(&'static str, &'static str)];

include!(concat!(env!("OUT_DIR"), "/embedded.rs"));

/// For editors: the types of a function in JavaScript.
pub static JAVASCRIPT_TYPES: &str = include_str!("../../../functions-sdk/js/pleat.d.ts");

/// Writes the files below `directory`.
pub fn write(files: Files, directory: &Path) -> Result<()> {
    for (name, text) in files {
        let path = directory.join(name);
        if let Some(parent) = path.parent() {
            std::fs::create_dir_all(parent)?;
        }
        std::fs::write(path, text)?;
    }
    Ok(())
}

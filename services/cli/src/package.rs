//! From what is on disk to what is uploaded: scripts and components go as they are, Python and Rust are built first.
//! What the upload contains is the server's to judge.

mod gather;
mod imports;
pub mod project;
pub mod python;
mod rust;
mod tool;

use std::path::{Path, PathBuf};

use pleat_domain::limits;

use crate::output::{Output, size};
use crate::problem::Problem;

/// What is sent.
pub struct Package {
    /// The server tells the language by its extension.
    pub file_name: String,
    pub content_type: &'static str,
    pub bytes: Vec<u8>,
}

/// What a path is: a file by its name, a directory by what is in it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    JavaScript,
    TypeScript,
    Component,
    ComponentText,
    Python,
    /// A directory with a `Cargo.toml`.
    Crate,
}

impl Kind {
    pub fn of(path: &Path) -> Option<Self> {
        if path.is_dir() {
            return path.join("Cargo.toml").is_file().then_some(Self::Crate);
        }
        let extension = path.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "js" | "mjs" => Some(Self::JavaScript),
            "ts" | "mts" => Some(Self::TypeScript),
            "wasm" => Some(Self::Component),
            "wat" => Some(Self::ComponentText),
            "py" => Some(Self::Python),
            _ => None,
        }
    }

    const fn content_type(self) -> &'static str {
        match self {
            Self::JavaScript => "application/javascript",
            Self::TypeScript => "application/typescript",
            Self::ComponentText => "text/plain",
            Self::Component | Self::Python | Self::Crate => "application/wasm",
        }
    }
}

impl Package {
    /// Builds what has to be built, which can take minutes, and says so.
    pub fn of(path: &Path, output: &Output) -> Result<Self, Problem> {
        let Some(kind) = Kind::of(path) else {
            let message = format!("cannot tell what `{}` is by its name", path.display());
            let hint = "deploy a .js, .ts or .py file, a component as .wasm or .wat, or a directory with a Cargo.toml";
            return Err(Problem::usage(message, hint));
        };
        let name = path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
        let (file_name, bytes) = match kind {
            Kind::Python => (as_component(&name), python::build(path, output)?),
            Kind::Crate => {
                let built = rust::build(path, output)?;
                (format!("{}.wasm", built.name), read(&built.component)?)
            }
            Kind::JavaScript | Kind::TypeScript => return Self::script(path, name, kind),
            Kind::Component | Kind::ComponentText => (name, read(path)?),
        };
        Ok(Self { file_name, content_type: kind.content_type(), bytes })
    }

    /// A script goes with the files that it imports.
    fn script(path: &Path, name: String, kind: Kind) -> Result<Self, Problem> {
        let bytes = read(path)?;
        // A file that is too large for a script, or no text at all, is sent as it is and refused with the reason.
        if bytes.len() <= limits::SCRIPT_UPLOAD
            && std::str::from_utf8(&bytes).is_ok()
            && let Some(bundle) = gather::gather(path)?
        {
            let (file_name, bytes) = (format!("{name}.bundle"), bundle.to_bytes());
            return Ok(Self { file_name, content_type: "application/vnd.pleat.bundle+json", bytes });
        }
        Ok(Self { file_name: name, content_type: kind.content_type(), bytes })
    }
}

/// Everything that a function is made of, as far as it is on disk beside it: when one of these changes, the function has.
pub fn sources(path: &Path) -> Vec<PathBuf> {
    match Kind::of(path) {
        Some(Kind::Python) => python::sources(path),
        Some(Kind::Crate) => rust::sources(path),
        Some(Kind::JavaScript | Kind::TypeScript) => gather::sources(path),
        _ => vec![path.to_owned()],
    }
}

/// What was built is named like what it was built from.
fn as_component(name: &str) -> String {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    format!("{stem}.wasm")
}

fn read(file: &Path) -> Result<Vec<u8>, Problem> {
    let unreadable = |source| Problem::Unreadable { path: file.to_owned(), source };
    let length = std::fs::metadata(file).map_err(unreadable)?.len();
    if length > limits::COMPONENT_UPLOAD as u64 {
        let message = format!("it has {length} bytes; the most is {}", size(limits::COMPONENT_UPLOAD));
        return Err(Problem::failed(message, "build it for release, and strip what is not needed"));
    }
    std::fs::read(file).map_err(unreadable)
}

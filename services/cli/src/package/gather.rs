//! Gathers a script with the files that it imports by relative paths. What is in them is the server's to judge: an import
//! of a file that is not there is refused there, with the place.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};

use pleat_domain::Bundle;

use super::imports;
use crate::problem::Problem;

/// What marks the directory of a project.
const MARKS: [&str; 5] = ["package.json", "tsconfig.json", "deno.json", "jsconfig.json", ".git"];

/// The entry and all that it imports; nothing if it imports no file.
pub fn gather(entry: &Path) -> Result<Option<Bundle>, Problem> {
    let entry = canonical(entry)?;
    let files = files(&entry)?;
    if files.len() == 1 {
        return Ok(None);
    }
    let base = common(files.keys());
    let relative = |path: &Path| {
        let parts = path.strip_prefix(&base).unwrap_or(path).components();
        parts.map(|part| part.as_os_str().to_string_lossy()).collect::<Vec<_>>().join("/")
    };
    let named = files.iter().map(|(path, text)| (relative(path), text.clone())).collect();
    let bundle = Bundle::new(relative(&entry), named)
        .map_err(|fault| Problem::failed(fault.to_string(), "import less, or build a single file of it"))?;
    Ok(Some(bundle))
}

/// The files that a script is made of, as far as they can be read.
pub fn sources(entry: &Path) -> Vec<PathBuf> {
    let found = canonical(entry).and_then(|entry| files(&entry));
    found.map_or_else(|_| vec![entry.to_owned()], |files| files.into_keys().collect())
}

/// The entry and all that it imports, with their texts.
fn files(entry: &Path) -> Result<BTreeMap<PathBuf, String>, Problem> {
    let root = root(entry);
    let mut files = BTreeMap::new();
    let mut wanted = vec![entry.to_owned()];
    while let Some(path) = wanted.pop() {
        if files.contains_key(&path) {
            continue;
        }
        let text = read(&path)?;
        let is_script = path.extension().is_none_or(|extension| extension != "json");
        for specifier in if is_script { imports::relative(&text) } else { Vec::new() } {
            wanted.extend(resolve(&path, &specifier, &root)?);
        }
        files.insert(path, text);
    }
    Ok(files)
}

/// The file that is meant, if there is one.
fn resolve(from: &Path, specifier: &str, root: &Path) -> Result<Option<PathBuf>, Problem> {
    let written = normal(&from.parent().unwrap_or(root).join(specifier));
    let Some(found) = [written.clone()].into_iter().chain(typed(&written)).find(|path| path.is_file()) else {
        return Ok(None);
    };
    let found = canonical(&found)?;
    if found.starts_with(root) {
        return Ok(Some(found));
    }
    let message = format!("`{}` imports `{specifier}`, which lies outside of the function's project", from.display());
    Err(Problem::failed(message, format!("keep what a function imports below `{}`", root.display())))
}

/// TypeScript is imported by the name that its JavaScript would have.
fn typed(path: &Path) -> Option<PathBuf> {
    match path.extension()?.to_str()? {
        "js" => Some(path.with_extension("ts")),
        "mjs" => Some(path.with_extension("mts")),
        _ => None,
    }
}

/// Without `.` and `..`, by the text alone.
fn normal(path: &Path) -> PathBuf {
    let mut plain = PathBuf::new();
    for part in path.components() {
        match part {
            Component::CurDir => {}
            Component::ParentDir => {
                plain.pop();
            }
            other => plain.push(other),
        }
    }
    plain
}

/// The nearest directory that looks like a project's; else the one of the entry.
fn root(entry: &Path) -> PathBuf {
    let own = entry.parent().unwrap_or(entry);
    let marked = own.ancestors().find(|directory| MARKS.iter().any(|mark| directory.join(mark).exists()));
    marked.unwrap_or(own).to_owned()
}

/// The deepest directory that holds all of the files.
fn common<'a>(mut files: impl Iterator<Item = &'a PathBuf>) -> PathBuf {
    let mut base = files.next().and_then(|path| path.parent()).map(Path::to_owned).unwrap_or_default();
    for path in files {
        while !path.starts_with(&base) && base.pop() {}
    }
    base
}

fn canonical(path: &Path) -> Result<PathBuf, Problem> {
    std::fs::canonicalize(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })
}

fn read(path: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })
}

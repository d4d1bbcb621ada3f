//! The configuration file: where it is, and what it says.

use std::path::{Path, PathBuf};

use serde_json::Value;

use crate::problem::Problem;

/// Looked for when none is named, in this order.
const PLACES: &[&str] = &["pleat.toml", "/etc/pleat/pleat.toml"];

/// The file that was named, or the first that is there.
pub fn find(named: Option<&Path>) -> Result<Option<PathBuf>, Problem> {
    match named.filter(|path| !path.as_os_str().is_empty()) {
        Some(path) if path.is_file() => Ok(Some(path.to_owned())),
        Some(path) => {
            let hint = "name another with --config (PLEAT_CONFIG), or make one: `pleat config --default > pleat.toml`";
            Err(Problem::usage(format!("there is no configuration file `{}`", path.display()), hint))
        }
        None => Ok(PLACES.iter().map(PathBuf::from).find(|path| path.is_file())),
    }
}

pub fn read(path: &Path) -> Result<Value, Problem> {
    let text = std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })?;
    toml::from_str(&text).map_err(|error| {
        let message = format!("`{}` is not TOML: {}", path.display(), error.to_string().trim_end());
        Problem::usage(message, "mend the line; texts stand in quotes, lists in brackets")
    })
}

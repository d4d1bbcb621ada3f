//! The value of a secret or a setting: from the command line, a file or stdin. It is never shown.

use std::io::{IsTerminal, Read};
use std::path::{Path, PathBuf};

use clap::Args;

use crate::problem::Problem;

#[derive(Args)]
pub struct ValueArgs {
    /// The value; `-` or nothing reads it from stdin, without a line's end
    #[arg(value_name = "VALUE", conflicts_with = "from_file", allow_hyphen_values = true)]
    value: Option<String>,
    /// Read the value from a file, as it is
    #[arg(long, value_name = "FILE")]
    from_file: Option<PathBuf>,
}

impl ValueArgs {
    pub fn read(&self, name: &str) -> Result<String, Problem> {
        match (self.value.as_deref(), &self.from_file) {
            (_, Some(path)) => file(path),
            (Some(value), None) if value != "-" => Ok(value.to_owned()),
            _ => stdin(name),
        }
    }
}

pub fn file(path: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })
}

fn stdin(name: &str) -> Result<String, Problem> {
    let unreadable = |source| Problem::Unreadable { path: PathBuf::from("stdin"), source };
    if std::io::stdin().is_terminal() {
        // Typed where others may look on: asked for, and not echoed.
        return rpassword::prompt_password(format!("value of {name} (not shown): ")).map_err(unreadable);
    }
    let mut text = String::new();
    std::io::stdin().lock().read_to_string(&mut text).map_err(unreadable)?;
    // `echo secret | pleat secrets set NAME` means the line, not its end.
    let length = text.strip_suffix("\r\n").or_else(|| text.strip_suffix('\n')).map_or(text.len(), str::len);
    text.truncate(length);
    Ok(text)
}

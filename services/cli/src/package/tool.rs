//! Running somebody else's tool: found or not, and what it said when it failed.

use std::io::ErrorKind;
use std::process::{Command, Output as Ran, Stdio};

use crate::problem::Problem;

/// Runs to the end and keeps what it said. `missing` is what to do where the tool is not installed.
pub fn run(command: &mut Command, missing: &str) -> Result<Ran, Problem> {
    let name = command.get_program().to_string_lossy().into_owned();
    command.stdin(Stdio::null()).output().map_err(|error| match error.kind() {
        ErrorKind::NotFound => Problem::failed(format!("`{name}` is not installed"), missing),
        _ => Problem::failed(format!("`{name}` cannot be run: {error}"), missing),
    })
}

/// Both streams of a tool as one text.
pub fn said(ran: &Ran) -> String {
    let (output, errors) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    format!("{}\n{}", output.trim_end(), errors.trim_end()).trim().to_owned()
}

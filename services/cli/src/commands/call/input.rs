//! What is sent: from the command line, a file or stdin, always as JSON text.

use std::io::Read;
use std::path::{Path, PathBuf};

use pleat_domain::json;
use serde_json::Value;

use crate::problem::Problem;

pub fn read(input: Option<&str>) -> Result<String, Problem> {
    match input {
        None => Ok("{}".to_owned()),
        Some("-") => as_json(stdin()?, "stdin"),
        Some(text) => match text.strip_prefix('@') {
            Some(path) => as_json(file(Path::new(path))?, path),
            None => as_json(text.to_owned(), "INPUT"),
        },
    }
}

fn stdin() -> Result<String, Problem> {
    let mut text = String::new();
    let read = std::io::stdin().lock().read_to_string(&mut text);
    read.map_err(|source| Problem::Unreadable { path: PathBuf::from("stdin"), source })?;
    Ok(text)
}

fn file(path: &Path) -> Result<String, Problem> {
    std::fs::read_to_string(path).map_err(|source| Problem::Unreadable { path: path.to_owned(), source })
}

/// JSON stays as it was written. Other text becomes a string, unless it plainly was meant to be JSON: a forgotten
/// brace must not reach the function as text.
fn as_json(text: String, origin: &str) -> Result<String, Problem> {
    let fault = match json::check(text.as_bytes()) {
        Ok(()) => return Ok(text),
        Err(fault) => fault,
    };
    if text.trim_start().starts_with(['{', '[', '"']) {
        let hint = "put it in single quotes so that the shell leaves it alone; text is sent as a JSON string";
        return Err(Problem::usage(format!("{origin} is {}", wording(&fault.to_string())), hint));
    }
    Ok(Value::String(text).to_string())
}

fn wording(fault: &str) -> String {
    if fault.starts_with("not valid") { fault.to_owned() } else { format!("not acceptable JSON: {fault}") }
}

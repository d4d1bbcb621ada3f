//! Running a program to its end, with a bound, keeping what it said for the error.
//!
//! Must not be used for the server itself: that one outlives us.

use std::io::ErrorKind;
use std::path::Path;
use std::process::Stdio;
use std::time::Duration;

use tokio::process::Command;
use tokio::time::timeout;

use super::error::EmbeddedError;

/// Runs `command` and gives its standard output; it is killed when `limit` has passed.
pub(super) async fn run(mut command: Command, limit: Duration) -> Result<String, EmbeddedError> {
    let program = name_of(&command);
    command.stdin(Stdio::null()).kill_on_drop(true);
    let output = match timeout(limit, command.output()).await {
        Err(_) => return Err(EmbeddedError::Slow { program, seconds: limit.as_secs() }),
        Ok(Err(source)) if source.kind() == ErrorKind::NotFound => return Err(EmbeddedError::Missing { program }),
        Ok(Err(source)) => return Err(EmbeddedError::Spawn { program, source }),
        Ok(Ok(output)) => output,
    };
    if output.status.success() {
        return Ok(String::from_utf8_lossy(&output.stdout).into_owned());
    }
    let said = gist(&String::from_utf8_lossy(&output.stderr));
    let output = if said.is_empty() { output.status.to_string() } else { said };
    Err(EmbeddedError::Failed { program, output })
}

/// The last `count` lines that say something, joined to one.
pub(super) fn last_lines(text: &str, count: usize) -> String {
    let lines: Vec<&str> = text.lines().map(str::trim).filter(|line| !line.is_empty()).collect();
    let skipped = lines.len().saturating_sub(count);
    lines.into_iter().skip(skipped).collect::<Vec<_>>().join(" / ")
}

/// The first lines that name an error (clients bury it under advice), else the last ones.
fn gist(text: &str) -> String {
    let names_it = |line: &&str| line.to_lowercase().contains("error") && line.split_whitespace().count() > 2;
    let errors: Vec<&str> = text.lines().map(str::trim).filter(names_it).take(3).collect();
    if errors.is_empty() { last_lines(text, 4) } else { errors.join(" / ") }
}

/// An error with its causes, for the places that keep a reason as text and try the next thing.
pub(super) fn reason(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut cause = error.source();
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}

fn name_of(command: &Command) -> String {
    let program = Path::new(command.as_std().get_program());
    program.file_name().unwrap_or(program.as_os_str()).to_string_lossy().into_owned()
}

#[cfg(test)]
mod tests {
    use super::{gist, last_lines};

    #[test]
    fn the_last_lines_that_say_something_are_kept() {
        assert_eq!(last_lines("one\n\n two \nthree\n\n", 2), "two / three");
        assert_eq!(last_lines("", 2), "");
    }

    #[test]
    fn the_error_is_told_and_not_the_advice_after_it() {
        let npm =
            "npm error code ECONNREFUSED\nnpm error errno 1\nnpm error\nnpm error network down\nnpm error see log";
        assert_eq!(gist(npm), "npm error code ECONNREFUSED / npm error errno 1 / npm error network down");
        assert_eq!(gist("cannot\nwork\n"), "cannot / work");
    }
}

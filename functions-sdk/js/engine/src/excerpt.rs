//! Errors at load as an author reads them: `file:line:column: what`, the line itself and a caret below it.

use crate::modules::Files;

/// The widest piece of a line that is shown; minified files have one line of megabytes.
const WIDTH: usize = 100;

/// `message` with its place. `frames` is a QuickJS stack; its first frame in one of the author's files is the place.
pub fn explain(files: &Files, file_name: &str, message: &str, frames: &str) -> String {
    let Some((path, line, column)) = frames.lines().find_map(|frame| place(files, frame)) else {
        return format!("{file_name}: {message}");
    };
    let mut text = format!("{path}:{line}:{column}: {message}");
    if let Some(excerpt) = files.text(path).and_then(|source| excerpt(source, line, column)) {
        text.push('\n');
        text.push_str(&excerpt);
    }
    // One frame says no more than the place does.
    if frames.lines().count() > 1 {
        text.push('\n');
        text.push_str(frames.trim_end());
    }
    text
}

/// `    at lookup (lib/util.js:3:10)` or `    at hello.js:3:10`.
fn place<'a>(files: &Files, frame: &'a str) -> Option<(&'a str, usize, usize)> {
    let frame = frame.trim().trim_end_matches(')');
    let (rest, column) = frame.rsplit_once(':')?;
    let (rest, line) = rest.rsplit_once(':')?;
    let path = rest.rsplit_once('(').map_or_else(|| rest.strip_prefix("at ").unwrap_or(rest), |(_, path)| path);
    files.text(path)?;
    Some((path, line.parse().ok()?, column.parse().ok()?))
}

fn excerpt(source: &str, line: usize, column: usize) -> Option<String> {
    let text = source.lines().nth(line.checked_sub(1)?)?;
    let at = column.saturating_sub(1);
    let from = if at < WIDTH { 0 } else { at - WIDTH / 2 };
    let shown: String = text.chars().skip(from).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let caret = " ".repeat(at - from);
    Some(format!("  {number} | {}\n  {margin} | {caret}^", shown.trim_end()))
}

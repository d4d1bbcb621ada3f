//! Errors at load as an author reads them: `file:line:column: what`, the line itself and a caret below it.

/// The widest piece of a line that is shown; minified files have one line of megabytes.
const WIDTH: usize = 100;

/// `message` with its place. `frames` is a QuickJS stack; its first frame in the author's file is the place.
pub fn explain(file_name: &str, source: &str, message: &str, frames: &str) -> String {
    let Some((line, column)) = place(file_name, frames) else {
        return format!("{file_name}: {message}");
    };
    let mut text = format!("{file_name}:{line}:{column}: {message}");
    if let Some(excerpt) = excerpt(source, line, column) {
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

fn place(file_name: &str, frames: &str) -> Option<(usize, usize)> {
    let prefix = format!("{file_name}:");
    frames.lines().find_map(|frame| {
        let (_, rest) = frame.split_once(&prefix)?;
        let (line, rest) = rest.split_once(':')?;
        let column = rest.split(|character: char| !character.is_ascii_digit()).next()?;
        Some((line.parse().ok()?, column.parse().ok()?))
    })
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

//! Errors as an author reads them: `file:line:column: what`, the line itself and a caret below it, as the script
//! engine writes its own.

/// The widest piece of a line that is shown; minified files have one line of megabytes.
const WIDTH: usize = 100;

/// `message` about the place at `offset` (in bytes) of `source`.
pub fn explain(file_name: &str, source: &str, offset: usize, message: &str) -> String {
    let before = source.get(..source.floor_char_boundary(offset)).unwrap_or(source);
    let line = before.matches('\n').count() + 1;
    let start = before.rfind('\n').map_or(0, |end| end + 1);
    let column = before.get(start..).unwrap_or_default().chars().count();
    let text = source.get(start..).unwrap_or_default().lines().next().unwrap_or_default();
    let from = if column < WIDTH { 0 } else { column - WIDTH / 2 };
    let shown: String = text.chars().skip(from).take(WIDTH).map(|c| if c.is_control() { ' ' } else { c }).collect();
    let number = line.to_string();
    let (margin, caret) = (" ".repeat(number.len()), " ".repeat(column - from));
    format!("{file_name}:{line}:{}: {message}\n  {number} | {}\n  {margin} | {caret}^", column + 1, shown.trim_end())
}

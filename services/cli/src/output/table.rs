//! Aligned columns, without colour and without lines, so that `awk` can read them too.

/// A table under construction.
pub struct Table {
    rows: Vec<Vec<String>>,
}

impl Table {
    pub fn new(header: &[&str]) -> Self {
        Self { rows: vec![header.iter().map(ToString::to_string).collect()] }
    }

    /// A table of two columns without a header: names and values.
    pub const fn of_facts() -> Self {
        Self { rows: Vec::new() }
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // A cell with a line's end in it would break the row for whoever reads it by lines.
        self.rows.push(cells.into_iter().map(|cell| cell.replace(['\n', '\t'], " ")).collect());
    }

    pub fn fact(&mut self, name: &str, value: impl Into<String>) {
        self.row([name.to_owned(), value.into()]);
    }

    /// Without a line's end after the last row.
    pub fn render(&self) -> String {
        let columns = self.rows.iter().map(Vec::len).max().unwrap_or(0);
        let widths: Vec<usize> = (0..columns).map(|column| self.width(column)).collect();
        let lines: Vec<String> = self.rows.iter().map(|row| line(row, &widths)).collect();
        lines.join("\n")
    }

    fn width(&self, column: usize) -> usize {
        self.rows.iter().filter_map(|row| row.get(column)).map(|cell| cell.chars().count()).max().unwrap_or(0)
    }
}

fn line(row: &[String], widths: &[usize]) -> String {
    let mut text = String::new();
    for (cell, width) in row.iter().zip(widths) {
        text.push_str(&format!("{cell:<width$}  "));
    }
    text.truncate(text.trim_end().len());
    text
}

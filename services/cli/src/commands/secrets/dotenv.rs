//! Files of `NAME=VALUE` lines, as many tools write them: comments, `export`, single and double quotes, values of
//! several lines in quotes. Nothing is expanded. Faults name the line and never quote it.

use pleat_domain::SettingName;

use crate::problem::Problem;

pub fn parse(text: &str) -> Result<Vec<(SettingName, String)>, Problem> {
    let mut pairs: Vec<(SettingName, String)> = Vec::new();
    let mut lines = (1..).zip(text.lines());
    while let Some((number, line)) = lines.next() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let line = line.strip_prefix("export ").unwrap_or(line);
        let (name, rest) = line.split_once('=').ok_or_else(|| fault(number, "has no `=`"))?;
        let name = SettingName::parse(name.trim()).map_err(|_| fault(number, "does not begin with a good name"))?;
        let rest = rest.trim_start();
        let value = match rest.chars().next() {
            Some(quote @ ('"' | '\'')) => {
                let mut raw = rest.get(1..).unwrap_or_default().to_owned();
                let mut value = quoted(&raw, quote);
                while value.is_none() {
                    let (_, more) = lines.next().ok_or_else(|| fault(number, "has a quote that does not end"))?;
                    raw.push('\n');
                    raw.push_str(more);
                    value = quoted(&raw, quote);
                }
                value.unwrap_or_default()
            }
            _ => rest.split(" #").next().unwrap_or_default().trim_end().to_owned(),
        };
        pairs.retain(|(earlier, _)| *earlier != name);
        pairs.push((name, value));
    }
    Ok(pairs)
}

/// What is before the closing quote; only double quotes know escapes.
fn quoted(raw: &str, quote: char) -> Option<String> {
    let mut value = String::new();
    let mut characters = raw.chars();
    while let Some(character) = characters.next() {
        match character {
            '\\' if quote == '"' => match characters.next()? {
                'n' => value.push('\n'),
                't' => value.push('\t'),
                'r' => value.push('\r'),
                other => value.push(other),
            },
            end if end == quote => return Some(value),
            other => value.push(other),
        }
    }
    None
}

fn fault(line: usize, what: &str) -> Problem {
    Problem::failed(
        format!("line {line} {what}"),
        "lines are NAME=VALUE, names of letters, digits and `_`; nothing was set",
    )
}

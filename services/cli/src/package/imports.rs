//! The paths that a script imports, found by reading its text as far as needed: strings and comments are told apart, the
//! rest is words. It may find one too many (in text of another language inside a template, say), which does no harm.

/// The relative specifiers of `import … from '…'`, `export … from '…'`, `import '…'` and `import('…')`.
pub fn relative(source: &str) -> Vec<String> {
    let mut found = Vec::new();
    let mut rest = source;
    // The last two things before a string, as words or single characters.
    let (mut before, mut last) = ("", "");
    while let Some(first) = rest.chars().next() {
        let length = length(rest, first);
        let (token, after) = rest.split_at(length);
        rest = after;
        if first.is_whitespace() || token.starts_with("//") || token.starts_with("/*") {
            continue;
        }
        let is_import = matches!(last, "from" | "import") || (last == "(" && before == "import");
        if is_import
            && let Some(specifier) = unquoted(token)
            && (specifier.starts_with("./") || specifier.starts_with("../"))
        {
            found.push(specifier.to_owned());
        }
        (before, last) = (last, token);
    }
    found
}

/// How long the thing is that `text` begins with.
fn length(text: &str, first: char) -> usize {
    let found = match first {
        '"' | '\'' => return quoted(text, first, true),
        '`' => return quoted(text, first, false),
        _ if text.starts_with("//") => text.find('\n'),
        _ if text.starts_with("/*") => text.find("*/").map(|end| end + 2),
        _ if is_part(first) => text.find(|character| !is_part(character)),
        _ => Some(first.len_utf8()),
    };
    found.unwrap_or(text.len())
}

/// A string ends with its line at the latest, so that a quote in a regular expression does not swallow the file.
fn quoted(text: &str, quote: char, one_line: bool) -> usize {
    let mut escaped = false;
    for (at, character) in text.char_indices().skip(1) {
        match character {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            _ if character == quote => return at + 1,
            '\n' if one_line => return at,
            _ => {}
        }
    }
    text.len()
}

fn unquoted(token: &str) -> Option<&str> {
    let inner = ['"', '\'', '`'].into_iter().find_map(|quote| token.strip_prefix(quote)?.strip_suffix(quote))?;
    (!inner.contains(['\\', '$', '\n'])).then_some(inner)
}

fn is_part(character: char) -> bool {
    character.is_alphanumeric() || matches!(character, '_' | '$')
}

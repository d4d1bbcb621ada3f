//! URI templates as functions offer them: `{name}` stands for one or more characters, none of which is a slash.

/// Whether a URI is one of the template's. Takes time in proportion to the length of both, whatever the template.
pub fn matches(template: &str, uri: &str) -> bool {
    let uri = uri.as_bytes();
    // Where in the URI what was read of the template may end.
    let mut ends = vec![false; uri.len() + 1];
    if let Some(first) = ends.first_mut() {
        *first = true;
    }
    let mut rest = template;
    while !rest.is_empty() {
        let (literal, after) = rest.split_once('{').map_or((rest, None), |(literal, after)| (literal, Some(after)));
        ends = past_literal(&ends, literal.as_bytes(), uri);
        rest = match after.map(|after| after.split_once('}')) {
            None => "",
            // A variable that is not closed is none.
            Some(None) => return false,
            Some(Some((_, after))) => {
                ends = past_variable(&ends, uri);
                after
            }
        };
    }
    ends.last().copied().unwrap_or(false)
}

fn past_literal(ends: &[bool], literal: &[u8], uri: &[u8]) -> Vec<bool> {
    let mut next = vec![false; ends.len()];
    for (at, _) in ends.iter().enumerate().filter(|(_, end)| **end) {
        let fits = uri.get(at..).is_some_and(|tail| tail.starts_with(literal));
        if let (true, Some(end)) = (fits, next.get_mut(at + literal.len())) {
            *end = true;
        }
    }
    next
}

fn past_variable(ends: &[bool], uri: &[u8]) -> Vec<bool> {
    let mut next = vec![false];
    for (before, byte) in ends.iter().zip(uri) {
        let inside = next.last().copied().unwrap_or(false);
        next.push((*before || inside) && *byte != b'/');
    }
    next
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_variable_is_one_segment_or_a_part_of_it() {
        assert!(matches("test://template/{id}/data", "test://template/123/data"));
        assert!(matches("a://{x}-{y}", "a://1-2"));
        assert!(matches("a://x", "a://x"));
        for wrong in ["test://template//data", "test://template/1/2/data", "test://template/1/date", "x"] {
            assert!(!matches("test://template/{id}/data", wrong), "{wrong}");
        }
        assert!(!matches("a://{x", "a://1"));
        assert!(matches("", "") && !matches("", "a") && !matches("a", ""));
    }

    #[test]
    fn many_variables_take_no_longer_than_few() {
        let (template, uri) = ("{x}".repeat(60) + "!", "a".repeat(4_000));
        assert!(!matches(&template, &uri));
        assert!(matches(&"{x}".repeat(60), &uri));
    }
}

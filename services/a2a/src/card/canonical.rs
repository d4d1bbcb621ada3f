//! The one way to write a JSON value (RFC 8785), so that two sides sign and check the same bytes.

use std::fmt::Write;

use serde_json::Value;

/// The canonical form. Numbers are the doubles that every JSON reader sees in them.
pub fn write(value: &Value) -> String {
    let mut text = String::new();
    append(value, &mut text);
    text
}

fn append(value: &Value, text: &mut String) {
    match value {
        Value::Null => text.push_str("null"),
        Value::Bool(flag) => text.push_str(if *flag { "true" } else { "false" }),
        Value::Number(number) => text.push_str(&of_number(number.as_f64().unwrap_or_default())),
        Value::String(one) => append_text(one, text),
        Value::Array(items) => {
            text.push('[');
            for (place, item) in items.iter().enumerate() {
                comma(place, text);
                append(item, text);
            }
            text.push(']');
        }
        Value::Object(fields) => {
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            // 3.2.3: by UTF-16 code units, which is not the order of the bytes above U+FFFF.
            fields.sort_by(|(one, _), (other, _)| one.encode_utf16().cmp(other.encode_utf16()));
            text.push('{');
            for (place, (name, field)) in fields.into_iter().enumerate() {
                comma(place, text);
                append_text(name, text);
                text.push(':');
                append(field, text);
            }
            text.push('}');
        }
    }
}

fn comma(place: usize, text: &mut String) {
    if place > 0 {
        text.push(',');
    }
}

/// 3.2.2.2: escapes where JSON needs them, the short ones where there are any, in lower case otherwise.
fn append_text(one: &str, text: &mut String) {
    text.push('"');
    for letter in one.chars() {
        match letter {
            '"' => text.push_str("\\\""),
            '\\' => text.push_str("\\\\"),
            '\u{8}' => text.push_str("\\b"),
            '\t' => text.push_str("\\t"),
            '\n' => text.push_str("\\n"),
            '\u{c}' => text.push_str("\\f"),
            '\r' => text.push_str("\\r"),
            control if control < ' ' => {
                // Writing to a string does not fail.
                let _ = write!(text, "\\u{:04x}", u32::from(control));
            }
            plain => text.push(plain),
        }
    }
    text.push('"');
}

/// 3.2.2.3: as ECMAScript writes a number: the shortest digits that give it back, and where the point goes.
fn of_number(number: f64) -> String {
    if number == 0.0 {
        return "0".to_owned();
    }
    let (digits, point) = decimal(number.abs());
    let count = i32::try_from(digits.len()).unwrap_or(i32::MAX);
    let zeros = |count: i32| "0".repeat(usize::try_from(count).unwrap_or_default());
    let split = |at: i32| digits.split_at_checked(usize::try_from(at).unwrap_or_default()).unwrap_or((&digits, ""));
    let text = if (count..=21).contains(&point) {
        format!("{digits}{}", zeros(point - count))
    } else if (1..=21).contains(&point) {
        let (whole, rest) = split(point);
        format!("{whole}.{rest}")
    } else if (-5..=0).contains(&point) {
        format!("0.{}{digits}", zeros(-point))
    } else {
        let (first, rest) = split(1);
        let fraction = if rest.is_empty() { String::new() } else { format!(".{rest}") };
        format!("{first}{fraction}e{:+}", point - 1)
    };
    if number < 0.0 { format!("-{text}") } else { text }
}

/// The digits `d` and the place `p` for which the number is 0.d × 10^p. The library's shortest digits are the right ones,
/// of two that are equally near the even ones; the standard library's are not always.
fn decimal(number: f64) -> (String, i32) {
    let text = serde_json::Number::from_f64(number).map(|number| number.to_string()).unwrap_or_default();
    let (mantissa, exponent) = text.split_once('e').unwrap_or((&text, "0"));
    let (whole, fraction) = mantissa.split_once('.').unwrap_or((mantissa, ""));
    let all = format!("{whole}{fraction}");
    let significant = all.trim_start_matches('0');
    let leading = all.len() - significant.len();
    let place = i32::try_from(whole.len()).unwrap_or(i32::MAX) - i32::try_from(leading).unwrap_or(i32::MAX);
    (significant.trim_end_matches('0').to_owned(), place + exponent.parse::<i32>().unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    /// The samples of RFC 8785, appendix B, and the edges of each way to write a number.
    #[test]
    fn numbers_are_written_as_ecmascript_does() {
        let samples = [
            (0.0, "0"),
            (-0.0, "0"),
            (5e-324, "5e-324"),
            (-5e-324, "-5e-324"),
            (f64::MAX, "1.7976931348623157e+308"),
            (9_007_199_254_740_992.0, "9007199254740992"),
            (-9_007_199_254_740_992.0, "-9007199254740992"),
            (295_147_905_179_352_830_000.0, "295147905179352830000"),
            (9.999_999_999_999_997e22, "9.999999999999997e+22"),
            (1e23, "1e+23"),
            (1.000_000_000_000_000_1e23, "1.0000000000000001e+23"),
            (999_999_999_999_999_700_000.0, "999999999999999700000"),
            (999_999_999_999_999_900_000.0, "999999999999999900000"),
            (1e21, "1e+21"),
            (9.999_999_999_999_997e-7, "9.999999999999997e-7"),
            (0.000_001, "0.000001"),
            (333_333_333.333_333_25, "333333333.33333325"),
            (1.5, "1.5"),
            (100.0, "100"),
            (-0.000_003_333_333_333_333_3, "-0.0000033333333333333"),
            (1_424_953_923_781_206.2, "1424953923781206.2"),
        ];
        for (number, expected) in samples {
            assert_eq!(of_number(number), expected, "{number:e}");
        }
    }

    /// RFC 8785, 3.2.3, and the example of 3.2.2.
    #[test]
    fn names_are_in_the_order_of_their_code_units_and_texts_are_escaped_as_little_as_can_be() {
        let sorted = json!({"€": 1, "\r": 2, "\u{fb33}": 3, "1": 4, "😀": 5, "\u{80}": 6, "ö": 7});
        let expected = "{\"\\r\":2,\"1\":4,\"\u{80}\":6,\"ö\":7,\"€\":1,\"😀\":5,\"\u{fb33}\":3}";
        assert_eq!(write(&sorted), expected);
        let text = json!(["€$\u{f}\nA'B\"\\\\\"/\u{7f}", {"b": [true, null], "a": {}}]);
        assert_eq!(write(&text), "[\"€$\\u000f\\nA'B\\\"\\\\\\\\\\\"/\u{7f}\",{\"a\":{},\"b\":[true,null]}]");
    }
}

//! Lengths of time as people write them: `500ms`, `30s`, `5m`, `1h`.

use std::time::Duration;

const UNITS: [(&str, u64); 4] = [("h", 3_600_000), ("m", 60_000), ("s", 1_000), ("ms", 1)];

pub(crate) fn parse(text: &str) -> Option<Duration> {
    let digits = text.trim_end_matches(|one: char| one.is_ascii_alphabetic());
    let unit = text.strip_prefix(digits)?;
    let (_, milliseconds) = UNITS.iter().find(|(name, _)| *name == unit)?;
    let plain = digits.bytes().all(|byte| byte.is_ascii_digit());
    let number: u64 = digits.parse().ok().filter(|_| plain)?;
    number.checked_mul(*milliseconds).map(Duration::from_millis)
}

/// In the largest unit that fits, so that one length has one form.
pub(crate) fn format(duration: Duration) -> String {
    let milliseconds = u64::try_from(duration.as_millis()).unwrap_or(u64::MAX);
    let fits = |one: &&(&str, u64)| milliseconds > 0 && milliseconds % one.1 == 0;
    let (name, size) = UNITS.iter().find(fits).unwrap_or(&("ms", 1));
    format!("{}{name}", milliseconds / size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_have_one_form() {
        for (text, form) in
            [("500ms", "500ms"), ("1000ms", "1s"), ("90s", "90s"), ("120s", "2m"), ("60m", "1h"), ("0s", "0ms")]
        {
            assert_eq!(parse(text).map(format).as_deref(), Some(form));
        }
        for bad in
            ["", "5", "s", "-1s", "+1s", "1.5s", "1 s", "1d", "1S", "99999999999999999999s", "18446744073709551615h"]
        {
            assert_eq!(parse(bad), None, "{bad}");
        }
    }
}

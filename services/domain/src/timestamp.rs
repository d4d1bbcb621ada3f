//! The one way times are written on a wire: RFC 3339, UTC, milliseconds, `Z`.

use time::OffsetDateTime;
use time::format_description::BorrowedFormatItem;
use time::macros::format_description;

const FORMAT: &[BorrowedFormatItem<'_>] =
    format_description!("[year]-[month]-[day]T[hour]:[minute]:[second].[subsecond digits:3]Z");

pub fn format(at: OffsetDateTime) -> String {
    at.to_offset(time::UtcOffset::UTC).format(FORMAT).unwrap_or_default()
}

/// For `#[serde(with = "timestamp")]`.
pub fn serialize<S: serde::Serializer>(at: &OffsetDateTime, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&format(*at))
}

pub fn deserialize<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<OffsetDateTime, D::Error> {
    let text = <std::borrow::Cow<'de, str> as serde::Deserialize>::deserialize(deserializer)?;
    OffsetDateTime::parse(&text, &time::format_description::well_known::Rfc3339).map_err(serde::de::Error::custom)
}

#[cfg(test)]
mod tests {
    use super::*;
    use time::macros::datetime;

    #[test]
    fn times_are_utc_with_milliseconds() {
        assert_eq!(format(datetime!(2026-11-16 03:04:05.678912 +01:00)), "2026-11-16T02:04:05.678Z");
    }
}

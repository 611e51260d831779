//! Moments and durations in words.

use alloc::format;
use alloc::string::String;

use time::OffsetDateTime;

/// A moment, from nanoseconds since 1970: `2026-03-01 12:34:56 UTC, Sunday`.
pub fn date(nanoseconds: u64) -> String {
    match OffsetDateTime::from_unix_timestamp_nanos(nanoseconds.into()) {
        Ok(moment) => format!(
            "{:04}-{:02}-{:02} {:02}:{:02}:{:02} UTC, {}",
            moment.year(),
            u8::from(moment.month()),
            moment.day(),
            moment.hour(),
            moment.minute(),
            moment.second(),
            moment.weekday()
        ),
        Err(_) => format!("{nanoseconds} ns after the start of 1970"),
    }
}

/// A duration: `2 days 3:04:05.678`.
pub fn duration(nanoseconds: u64) -> String {
    let milliseconds = nanoseconds / 1_000_000;
    let (seconds, rest) = (milliseconds / 1000, milliseconds % 1000);
    let (minutes, hours, days) = (seconds / 60 % 60, seconds / 3600 % 24, seconds / 86_400);
    let days = match days {
        0 => String::new(),
        1 => "1 day ".into(),
        days => format!("{days} days "),
    };
    format!("{days}{hours}:{minutes:02}:{:02}.{rest:03}", seconds % 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_and_durations_in_words() {
        assert_eq!(date(0), "1970-01-01 00:00:00 UTC, Thursday");
        assert_eq!(
            date(1_709_210_096_999_999_999),
            "2024-02-29 12:34:56 UTC, Thursday"
        );
        assert_eq!(duration(0), "0:00:00.000");
        assert_eq!(duration(3_661_042_000_000), "1:01:01.042");
        assert_eq!(duration(86_400_000_000_000), "1 day 0:00:00.000");
        assert_eq!(duration(180_000_000_000_000), "2 days 2:00:00.000");
    }
}

//! ISO 8601 times, which locks record.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

const DAY: u64 = 24 * 60 * 60;

/// Returns the days from 1970-01-01 to a date, counted in eras of 400 years that begin in March
/// (Howard Hinnant's `days_from_civil`).
fn days_to(year: u64, month: u64, day: u64) -> Option<u64> {
    let year = if month <= 2 { year.checked_sub(1)? } else { year };
    let (era, of_era) = (year / 400, year % 400);
    let of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
    (era * 146_097 + of_era * 365 + of_era / 4 - of_era / 100 + of_year).checked_sub(719_468)
}

/// The inverse of [`days_to`], `civil_from_days`.
fn date_of(days: u64) -> (u64, u64, u64) {
    let days = days + 719_468;
    let (era, of_era) = (days / 146_097, days % 146_097);
    let year = (of_era - of_era / 1_460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let day = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    (era * 400 + year + u64::from(month <= 2), month, day)
}

/// Writes a time as `Date.prototype.toISOString` does.
pub fn iso(time: SystemTime) -> String {
    let since = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    let (days, of_day) = (since.as_secs() / DAY, since.as_secs() % DAY);
    let (year, month, day) = date_of(days);
    let (hours, minutes, seconds) = (of_day / 3_600, of_day / 60 % 60, of_day % 60);
    let millis = since.subsec_millis();
    format!("{year:04}-{month:02}-{day:02}T{hours:02}:{minutes:02}:{seconds:02}.{millis:03}Z")
}

/// Parses a time in that format, or returns `None` for any other text.
pub fn parse(iso: &str) -> Option<SystemTime> {
    let shape = iso.bytes().map(|byte| if byte.is_ascii_digit() { b'0' } else { byte });
    if !shape.eq(*b"0000-00-00T00:00:00.000Z") {
        return None;
    }
    let number = |start: usize, end: usize| iso[start..end].parse::<u64>().ok();
    let days = days_to(number(0, 4)?, number(5, 7)?, number(8, 10)?)?;
    let seconds = (number(11, 13)? * 60 + number(14, 16)?) * 60 + number(17, 19)?;
    Some(UNIX_EPOCH + Duration::from_millis((days * DAY + seconds) * 1_000 + number(20, 23)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_written_and_read_as_javascript_does() {
        for (millis, text) in [
            (0, "1970-01-01T00:00:00.000Z"),
            (951_782_400_000, "2000-02-29T00:00:00.000Z"),
            (1_763_789_025_007, "2025-11-22T05:23:45.007Z"),
            (4_107_542_399_999, "2100-02-28T23:59:59.999Z"),
        ] {
            let time = UNIX_EPOCH + Duration::from_millis(millis);
            assert_eq!(iso(time), text);
            assert_eq!(parse(text), Some(time));
        }
        for text in ["", "2025-11-22", "2025-11-22T05:23:45Z", "2025-11-22T05:23:45.007+01:00"] {
            assert_eq!(parse(text), None);
        }
    }

    #[test]
    fn every_day_is_one_more() {
        for days in 0..60_000 {
            let (year, month, day) = date_of(days);
            assert_eq!(days_to(year, month, day), Some(days));
        }
    }
}

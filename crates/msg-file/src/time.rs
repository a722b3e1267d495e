//! Dates and times of RFC 3339, as the `time` of a cell has them (MF-25): written and recognised.
//!
//! It does not know what time it is.

/// Seconds since 1970 as the `time` of a cell has them: RFC 3339, in UTC.
///
/// ```
/// assert_eq!(msg_file::rfc3339(951_782_400), "2000-02-29T00:00:00Z");
/// ```
#[must_use]
pub fn rfc3339(seconds: u64) -> String {
    let (year, month, day) = date(seconds / 86_400);
    let (hour, minute, second) = (seconds / 3600 % 24, seconds / 60 % 60, seconds % 60);
    format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}Z")
}

/// The date of a day since 1970-01-01. Years are counted from March, so that the leap day is a
/// year's last.
fn date(day: u64) -> (u64, u64, u64) {
    const DAYS_OF_400_YEARS: u64 = 146_097;
    let day = day + 719_468; // since 0000-03-01
    let of_era = day % DAYS_OF_400_YEARS;
    let year_of_era = (of_era - of_era / 1460 + of_era / 36_524 - of_era / 146_096) / 365;
    let of_year = of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    let month = (5 * of_year + 2) / 153; // 0 is March
    let day_of_month = of_year - (153 * month + 2) / 5 + 1;
    let year = day / DAYS_OF_400_YEARS * 400 + year_of_era;
    if month < 10 { (year, month + 3, day_of_month) } else { (year + 1, month - 9, day_of_month) }
}

/// Whether `text` is a date and time of RFC 3339 (MF-25).
pub(crate) fn is_rfc3339(text: &str) -> bool {
    let b = text.as_bytes();
    let number = |range: std::ops::Range<usize>| -> Option<u32> {
        let digits = b.get(range)?;
        digits
            .iter()
            .all(u8::is_ascii_digit)
            .then(|| digits.iter().fold(0, |n, d| n * 10 + u32::from(d - b'0')))
    };
    let fields = (|| {
        let (year, month, day) = (number(0..4)?, number(5..7)?, number(8..10)?);
        let (hour, minute, second) = (number(11..13)?, number(14..16)?, number(17..19)?);
        let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
        let days = match month {
            2 => 28 + u32::from(leap),
            4 | 6 | 9 | 11 => 30,
            1..=12 => 31,
            _ => 0,
        };
        let marks = b[4] == b'-'
            && b[7] == b'-'
            && matches!(b[10], b'T' | b't' | b' ')
            && b[13] == b':'
            && b[16] == b':';
        Some(marks && (1..=days).contains(&day) && hour < 24 && minute < 60 && second < 61)
    })();
    if fields != Some(true) {
        return false;
    }
    let mut at = 19;
    if b.get(at) == Some(&b'.') {
        let n = b[at + 1..].iter().take_while(|c| c.is_ascii_digit()).count();
        if n == 0 {
            return false;
        }
        at += 1 + n;
    }
    match &b[at..] {
        [b'Z' | b'z'] => true,
        [b'+' | b'-', _, _, b':', _, _] => {
            number(at + 1..at + 3).is_some_and(|h| h < 24)
                && number(at + 4..at + 6).is_some_and(|m| m < 60)
        }
        _ => false,
    }
}

//! When an endpoint wants to be asked again: `retry-after-ms`, or `Retry-After` in seconds or as a date.
//!
//! Knows no bounds; who waits decides how long is too long.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use ureq::http::HeaderMap;

/// The wait that the headers ask for.
pub(super) fn read(headers: &HeaderMap) -> Option<Duration> {
    let text = |name: &str| headers.get(name)?.to_str().ok().map(str::trim);
    let millis = || text("retry-after-ms")?.parse().ok().map(Duration::from_millis);
    let after = || wait(text("retry-after")?, SystemTime::now());
    millis().or_else(after)
}

fn wait(text: &str, now: SystemTime) -> Option<Duration> {
    if let Ok(seconds) = text.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let then = UNIX_EPOCH + Duration::from_secs(date(text)?);
    Some(then.duration_since(now).unwrap_or_default())
}

/// Seconds of the Unix epoch of `Sun, 06 Nov 1994 08:49:37 GMT`.
fn date(text: &str) -> Option<u64> {
    let mut fields = text.split([' ', ',', ':']).filter(|it| !it.is_empty()).skip(1);
    let day: u64 = fields.next()?.parse().ok()?;
    let name = fields.next()?;
    const MONTHS: [&str; 12] =
        ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = 1 + MONTHS.iter().position(|it| *it == name)? as u64;
    let mut number = || fields.next()?.parse::<u64>().ok();
    let (year, hour, minute, second) = (number()?, number()?, number()?, number()?);
    if !(1970..=9999).contains(&year) || !(1..=31).contains(&day) || hour > 23 || minute > 59 {
        return None;
    }
    // Years that begin in March end with the day that is there every fourth year.
    let (y, m) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let days = 365 * y + y / 4 - y / 100 + y / 400 + (153 * m + 2) / 5 + day - 1 - 719_468;
    Some(days * 86_400 + hour * 3_600 + minute * 60 + second)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_and_dates() {
        let now = UNIX_EPOCH + Duration::from_secs(784_111_770);
        for (text, want) in [
            ("2", Some(2)),
            ("0.0", Some(0)),
            ("-3", Some(0)),
            ("Sun, 06 Nov 1994 08:49:37 GMT", Some(7)),
            ("Sun, 06 Nov 1994 08:49:00 GMT", Some(0)),
            ("soon", None),
            ("Sun, 06 Nov", None),
            ("NaN", Some(0)),
            ("1e300", None),
        ] {
            assert_eq!(wait(text, now), want.map(Duration::from_secs), "{text}");
        }
        assert_eq!(date("Thu, 29 Feb 2024 00:00:00 GMT"), Some(1_709_164_800));
    }
}

//! Times as agents and logs write them: RFC 3339 to seconds.

/// Seconds since 1970 of a time in RFC 3339, with or without an offset; none for any other text.
///
/// ```
/// assert_eq!(msg_core::rfc3339("1970-01-02T00:00:01.5Z"), Some(86_401.5));
/// ```
pub fn rfc3339(text: &str) -> Option<f64> {
    let number = |from: usize, to: usize| text.get(from..to)?.parse::<i64>().ok();
    let (year, month, day) = (number(0, 4)?, number(5, 7)?, number(8, 10)?);
    let clock = number(11, 13)? * 3600 + number(14, 16)? * 60 + number(17, 19)?;
    let rest = text.get(19..)?;
    let digits = rest.strip_prefix('.').unwrap_or_default();
    let len = digits.bytes().take_while(u8::is_ascii_digit).count();
    let fraction = format!("0.{}", digits.get(..len)?).parse().unwrap_or(0.0);
    let offset = offset(rest.trim_start_matches(|it: char| it == '.' || it.is_ascii_digit()))?;
    Some((days(year, month, day)? * 86_400 + clock - offset) as f64 + fraction)
}

/// The seconds that a clock is ahead of UTC.
fn offset(text: &str) -> Option<i64> {
    if matches!(text, "" | "Z" | "z") {
        return Some(0);
    }
    let sign = if text.starts_with('-') { -1 } else { 1 };
    let (hours, minutes) = text.get(1..)?.split_once(':')?;
    Some(sign * (hours.parse::<i64>().ok()? * 3600 + minutes.parse::<i64>().ok()? * 60))
}

/// Days since 1970 of a date: years are counted from March, so that the leap day is the last.
fn days(year: i64, month: i64, day: i64) -> Option<i64> {
    (0..=9999).contains(&year).then_some(())?;
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    let leaps = year.div_euclid(4) - year.div_euclid(100) + year.div_euclid(400);
    Some(year * 365 + leaps + (153 * month + 2) / 5 + day - 719_469)
}

#[cfg(test)]
mod tests {
    use super::rfc3339;

    #[test]
    fn times_as_agents_write_them() {
        assert_eq!(rfc3339("1970-01-01T00:00:00Z"), Some(0.0));
        assert_eq!(rfc3339("2000-02-29T00:00:00Z"), Some(951_782_400.0));
        assert_eq!(rfc3339("2026-02-03T10:00:01.250Z"), Some(1_770_112_801.25));
        assert_eq!(rfc3339("2026-02-03T12:00:01+02:00"), Some(1_770_112_801.0));
        assert_eq!(rfc3339("yesterday"), None);
    }
}

//! Sizes as people write them: `4k` is 4,000, `2M` two million.

/// Reads a size of something: bytes, tokens, characters.
pub(crate) fn size(text: &str) -> Result<u64, String> {
    let (digits, unit) = match text.as_bytes().last() {
        Some(b'k' | b'K') => (&text[..text.len() - 1], 1_000),
        Some(b'M') => (&text[..text.len() - 1], 1_000_000),
        _ => (text, 1),
    };
    if digits.is_empty() || !digits.bytes().all(|it| it.is_ascii_digit()) {
        return Err("expected a whole number, such as 4000, 4k or 2M".to_owned());
    }
    let number = digits.parse().ok().and_then(|it: u64| it.checked_mul(unit));
    number.ok_or_else(|| "the number is too large".to_owned())
}

/// As [`size`], where 0 makes no sense.
pub(crate) fn above_zero(text: &str) -> Result<u64, String> {
    match size(text)? {
        0 => Err("expected a number above 0".to_owned()),
        number => Ok(number),
    }
}

/// As [`size`], for what a library takes as an `i64`.
pub(crate) fn signed(text: &str) -> Result<i64, String> {
    let digits = text.strip_prefix('-');
    let number = i64::try_from(size(digits.unwrap_or(text))?);
    let number = number.map_err(|_| "the number is too large".to_owned())?;
    Ok(if digits.is_some() { -number } else { number })
}

/// As [`size`], for what is counted in memory.
pub(crate) fn count(text: &str) -> Result<usize, String> {
    usize::try_from(size(text)?).map_err(|_| "the number is too large".to_owned())
}

/// As [`count`], where 0 makes no sense.
pub(crate) fn count_above_zero(text: &str) -> Result<usize, String> {
    usize::try_from(above_zero(text)?).map_err(|_| "the number is too large".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn k_is_a_thousand_and_m_a_million() {
        for (text, number) in
            [("0", 0), ("12", 12), ("4k", 4_000), ("4K", 4_000), ("2M", 2_000_000)]
        {
            assert_eq!(size(text), Ok(number), "{text}");
        }
        for text in ["", "k", "4m", "4kb", "-1", "+1", "1.5k", " 4", "99999999999999999999M"] {
            assert!(size(text).is_err(), "{text}");
        }
        assert_eq!(signed("-4k"), Ok(-4_000));
    }
}

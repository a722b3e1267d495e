//! Sizes as people write them.

use super::*;

#[test]
fn k_is_a_thousand_and_m_a_million() {
    for (text, number) in [("0", 0), ("12", 12), ("4k", 4_000), ("4K", 4_000), ("2M", 2_000_000)] {
        assert_eq!(size(text), Ok(number), "{text}");
    }
    for text in ["", "k", "4m", "4kb", "-1", "+1", "1.5k", " 4", "99999999999999999999M"] {
        assert!(size(text).is_err(), "{text}");
    }
    assert_eq!(signed("-4k"), Ok(-4_000));
}

//! Times of records.

use super::rfc3339;

#[test]
fn times_as_agents_write_them() {
    assert_eq!(rfc3339("1970-01-01T00:00:00Z"), Some(0.0));
    assert_eq!(rfc3339("2000-02-29T00:00:00Z"), Some(951_782_400.0));
    assert_eq!(rfc3339("2026-02-03T10:00:01.250Z"), Some(1_770_112_801.25));
    assert_eq!(rfc3339("2026-02-03T12:00:01+02:00"), Some(1_770_112_801.0));
    assert_eq!(rfc3339("yesterday"), None);
}

//! When an endpoint wants to be asked again.

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

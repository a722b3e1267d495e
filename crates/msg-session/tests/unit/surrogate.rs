//! Halves of surrogate pairs.

use crate::edit::apply;
use crate::json::Value;

fn mended(source: &str) -> String {
    apply(source, super::mend(Value { source, at: 0 }, false).edits)
}

#[test]
fn pairs_and_escaped_backslashes_stay() {
    assert_eq!(mended(r#""\ud83d\ude00 \\ud83d""#), r#""\ud83d\ude00 \\ud83d""#);
    assert_eq!(
        mended(r#""\ud83d!\ude00\ud83d\ud83d\uDE00""#),
        r#""\ufffd!\ufffd\ufffd\ud83d\uDE00""#
    );
}

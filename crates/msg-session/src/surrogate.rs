//! Escapes of half a surrogate pair in what is sent (SE-29).

use memchr::memmem;

use crate::edit::Edit;
use crate::json::Value;

/// The edits that make U+FFFD of every lone surrogate escape in a value. Linear.
pub(crate) fn mend(value: Value<'_>) -> Vec<Edit> {
    let bytes = value.source.as_bytes();
    if !memmem::find_iter(bytes, br"\u").any(|at| is_surrogate(bytes, at)) {
        return Vec::new();
    }
    let mut res = Vec::new();
    let mut at = 0;
    while let Some(len) = bytes.get(at..).and_then(|it| memchr::memchr(b'\\', it)) {
        at += len;
        let len = match lone_at(bytes, at) {
            Escape::Lone => {
                res.push(Edit::replace(value.at + at..value.at + at + 6, r"\ufffd"));
                6
            }
            Escape::Pair => 12,
            Escape::Other => 2,
        };
        at += len;
    }
    res
}

enum Escape {
    Lone,
    Pair,
    Other,
}

fn lone_at(bytes: &[u8], at: usize) -> Escape {
    if !is_surrogate(bytes, at) {
        return Escape::Other;
    }
    let is_high = matches!(bytes[at + 3], b'8' | b'9' | b'a' | b'b' | b'A' | b'B');
    let low = |it: u8| matches!(it, b'c'..=b'f' | b'C'..=b'F');
    match is_high && is_surrogate(bytes, at + 6) && low(bytes[at + 9]) {
        true => Escape::Pair,
        false => Escape::Lone,
    }
}

/// Whether an escape of a surrogate begins here.
fn is_surrogate(bytes: &[u8], at: usize) -> bool {
    match bytes.get(at..at + 6) {
        Some([b'\\', b'u', b'd' | b'D', third, ..]) => {
            matches!(third, b'8' | b'9' | b'a'..=b'f' | b'A'..=b'F')
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use crate::edit::apply;
    use crate::json::Value;

    fn mended(source: &str) -> String {
        apply(source, super::mend(Value { source, at: 0 }))
    }

    #[test]
    fn pairs_and_escaped_backslashes_stay() {
        assert_eq!(mended(r#""\ud83d\ude00 \\ud83d""#), r#""\ud83d\ude00 \\ud83d""#);
        assert_eq!(
            mended(r#""\ud83d!\ude00\ud83d\ud83d\uDE00""#),
            r#""\ufffd!\ufffd\ufffd\ud83d\uDE00""#
        );
    }
}

//! Escapes of half a surrogate pair in what is sent (SE-29).

use memchr::memmem;

use crate::edit::Edit;
use crate::excerpt::{self, Mark};
use crate::json::Value;

/// Halves of surrogate pairs that were found.
#[derive(Debug, Default)]
pub(crate) struct Halves {
    /// The edits that make U+FFFD of them.
    pub(crate) edits: Vec<Edit>,
    /// How many there are: a mark of an excerpt represents all of its value.
    pub(crate) count: u64,
}

/// The lone surrogate escapes in a value, whose long values are marks if `has_marks`. Linear.
pub(crate) fn mend(value: Value<'_>, has_marks: bool) -> Halves {
    let mut res = Halves::default();
    places(value.source.as_bytes(), |at| {
        res.count += 1;
        res.edits.push(Edit::replace(value.at + at..value.at + at + 6, r"\ufffd"));
    });
    if has_marks {
        for (at, len, mark) in excerpt::marks(value.source).filter(|it| it.2.halves > 0) {
            res.count += mark.halves;
            let mended = Mark { is_mended: true, ..mark };
            res.edits.push(Edit::replace(value.at + at..value.at + at + len, mended.json()));
        }
    }
    res
}

/// How many lone surrogate escapes JSON has.
pub(crate) fn count(source: &str) -> u64 {
    let mut res = 0;
    places(source.as_bytes(), |_| res += 1);
    res
}

/// JSON with U+FFFD for every lone surrogate escape.
pub(crate) fn mended(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut found = Vec::new();
    places(&bytes, |at| found.push(at));
    for at in found {
        bytes[at..at + 6].copy_from_slice(br"\ufffd");
    }
    bytes
}

/// Whether JSON has an escape of a surrogate at all.
pub(crate) fn may_have_halves(bytes: &[u8]) -> bool {
    memmem::find_iter(bytes, br"\u").any(|at| is_surrogate(bytes, at))
}

/// Calls `found` with the place of each lone surrogate escape.
fn places(bytes: &[u8], mut found: impl FnMut(usize)) {
    if !may_have_halves(bytes) {
        return;
    }
    let mut at = 0;
    while let Some(len) = bytes.get(at..).and_then(|it| memchr::memchr(b'\\', it)) {
        at += len;
        at += match lone_at(bytes, at) {
            Escape::Lone => {
                found(at);
                6
            }
            Escape::Pair => 12,
            Escape::Other => 2,
        };
    }
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
}

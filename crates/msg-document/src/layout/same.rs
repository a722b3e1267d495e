//! Which JSON values are the same, however they are spaced and their strings spelled.
//!
//! Numbers are compared as they are spelled, members in their order: both are part of a document here.

use std::borrow::Cow;

use msg_json::{tokens, unescape};
use xxhash_rust::xxh3::xxh3_64;

/// Whether two values are the same. Linear.
pub(super) fn same(a: &str, b: &str) -> bool {
    if a == b {
        return true;
    }
    let mut others = tokens(b);
    tokens(a).all(|it| others.next().is_some_and(|other| same_token(it, other)))
        && others.next().is_none()
}

fn same_token(a: &str, b: &str) -> bool {
    a == b || text(a).zip(text(b)).is_some_and(|(a, b)| a == b)
}

/// The text of a string. Half a surrogate pair has none: it is not the replacement character that is
/// written for it.
fn text(token: &str) -> Option<Cow<'_, str>> {
    let inner = token.strip_prefix('"')?.strip_suffix('"')?;
    let string = unescape(inner);
    (!string.lone_surrogate).then_some(string.text)
}

/// A number that is equal for values that are the same, and hardly for others. Linear.
pub(super) fn fingerprint(value: &str) -> u64 {
    let mut bytes = Vec::with_capacity(value.len());
    for token in tokens(value) {
        bytes.extend_from_slice(text(token).as_deref().unwrap_or(token).as_bytes());
        bytes.push(0xff);
    }
    xxh3_64(&bytes)
}

//! Signatures of reasoning: bytes in Go, so base64 in JSON. What the provider sent was text, and for
//! Gemini base64 already (LG-3).

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;

/// The text that these bytes are; the base64 itself if they are none.
pub(super) fn text(stored: String) -> String {
    let decoded = STANDARD.decode(&stored).ok().and_then(|it| String::from_utf8(it).ok());
    // What does not come back the same is kept as it is.
    decoded.filter(|it| !it.is_empty() && STANDARD.encode(it) == stored).unwrap_or(stored)
}

/// The bytes of a text as they are stored.
pub(super) fn stored(text: &str) -> String {
    STANDARD.encode(text)
}

//! Secrets in what is printed (SE-96): exact shapes, each with a name; `[redacted:RULE]` stands for one.
pub(crate) use msg_session::{redact as text, redact_json as json};

/// A text without secrets, if that was asked for.
pub(crate) fn if_asked(is_asked: bool, printed: Vec<u8>) -> Vec<u8> {
    match is_asked {
        true => text(&String::from_utf8_lossy(&printed)).0.into_bytes(),
        false => printed,
    }
}

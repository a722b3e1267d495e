//! Secrets in what is printed (SE-96): exact shapes, each with a name; `[redacted:RULE]` replaces one.

use msg_core::{Message, native};

pub(crate) use msg_session::{redact as text, redact_json as json};

/// What is printed, without its secrets if `asked`: of JSON those in what its strings say.
pub(crate) fn printed(printed: Vec<u8>, asked: bool, is_json: bool) -> Vec<u8> {
    let said = String::from_utf8_lossy(&printed);
    match (asked, is_json) {
        (false, _) => printed,
        (true, true) => json(&said).0.into_bytes(),
        (true, false) => text(&said).0.into_bytes(),
    }
}

/// Messages without the secrets in their texts, calls and results.
pub(crate) fn messages(messages: &[Message]) -> Vec<Message> {
    let mut all = Vec::new();
    native::write(messages, &mut all);
    let all = String::from_utf8(all).expect("because JSON is UTF-8");
    let left = native::read(json(&all).0.as_bytes());
    left.expect("because only what strings say has changed").0
}

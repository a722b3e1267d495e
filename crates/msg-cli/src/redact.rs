//! Secrets in what is printed (SE-96): exact shapes, each with a name; `[redacted:RULE]` stands for one.
pub(crate) use msg_session::{redact as text, redact_json as json};

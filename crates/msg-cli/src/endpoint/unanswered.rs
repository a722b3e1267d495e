//! Why an endpoint gave no answer, in its own words, and whether it may be asked again.
//!
//! ```text
//! HTTP/1.1 429 Too Many Requests
//! retry-after: 2
//!
//! {"error":{"message":"Rate limit reached","type":"requests"}}
//!
//! Unanswered::Later { what: "the endpoint answered 429 Too Many Requests: Rate limit reached", after: 2 s }
//! ```

use std::fmt;
use std::time::Duration;

use serde_json::Value;
use ureq::{Body, http::Response};

use super::retry_after;

/// The longest body of a refusal that is read, in bytes.
const MAX_REFUSAL: u64 = 64 << 10;
/// How much of it is shown, in characters, where it is not an error object.
const SHOWN: usize = 500;

/// Why an answer is missing.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Unanswered {
    /// It may answer later: too many requests, or a failure of its own.
    Later {
        /// What it said.
        what: String,
        /// When it wants to be asked again.
        after: Option<Duration>,
    },
    /// Asking again would not help.
    Final(String),
}

impl fmt::Display for Unanswered {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Unanswered::Later { what, .. } | Unanswered::Final(what)) = self;
        f.write_str(what)
    }
}

impl Unanswered {
    /// What a reply other than an answer says.
    pub(super) fn of_status(mut reply: Response<Body>) -> Self {
        let status = reply.status();
        let body =
            reply.body_mut().with_config().limit(MAX_REFUSAL).read_to_vec().unwrap_or_default();
        let said = message(&body);
        let colon = if said.is_empty() { "" } else { ": " };
        let what = format!("the endpoint answered {status}{colon}{said}");
        if status.as_u16() == 429 || status.is_server_error() {
            return Unanswered::Later { what, after: retry_after::read(reply.headers()) };
        }
        Unanswered::Final(what)
    }

    /// The same with its text changed.
    pub(super) fn without(self, change: impl FnOnce(String) -> String) -> Self {
        match self {
            Unanswered::Later { what, after } => Unanswered::Later { what: change(what), after },
            Unanswered::Final(what) => Unanswered::Final(change(what)),
        }
    }
}

/// The sentence in an error body, else the beginning of the body.
fn message(body: &[u8]) -> String {
    let json = serde_json::from_slice::<Value>(body).ok();
    let sentence = json.as_ref().and_then(sentence).map(str::to_owned);
    let text = sentence.unwrap_or_else(|| String::from_utf8_lossy(body).into_owned());
    text.trim().chars().take(SHOWN).collect()
}

/// Where the providers put it: `error.message`, `error`, `message`, `detail`; some in a list.
fn sentence(json: &Value) -> Option<&str> {
    let json = json.get(0).unwrap_or(json);
    let places = [
        json.pointer("/error/message"),
        json.get("error"),
        json.get("message"),
        json.get("detail"),
    ];
    places.into_iter().flatten().find_map(Value::as_str).filter(|it| !it.trim().is_empty())
}

#[cfg(test)]
mod tests {
    use super::message;

    #[test]
    fn the_sentence_of_an_error_is_shown() {
        for (body, want) in [
            (r#"{"error":{"message":"no such model","type":"x"}}"#, "no such model"),
            (r#"[{"error":{"code":404,"message":"not found"}}]"#, "not found"),
            (r#"{"error":"overloaded"}"#, "overloaded"),
            (r#"{"detail":"Not Found"}"#, "Not Found"),
            (r#"{"a":1}"#, r#"{"a":1}"#),
            (" bad id\n", "bad id"),
            ("", ""),
        ] {
            assert_eq!(message(body.as_bytes()), want);
        }
    }
}

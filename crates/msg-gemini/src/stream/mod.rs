//! Gemini streams (GE-14 to GE-17): each chunk is a whole response whose parts append.
//!
//! ```text
//! {"candidates":[{"content":{"parts":[{"text":"Hel"}]}}]}
//! {"candidates":[{"content":{"parts":[{"text":"lo"}]},"finishReason":"STOP"}]}   -> Text "Hello", stop
//! ```

mod assembler;
mod candidate;
mod chunk;
mod partial;
mod path;
mod reason;

use msg_codec::stream::Note;
use msg_codec::{Family, Json};

pub use assembler::GeminiAssembler;
pub(crate) use reason::meaning;

/// Gemini streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_gemini::GEMINI;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
/// reader.feed(br#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const GEMINI: Family = Family {
    name: "gemini",
    recognises,
    assembler: Some(|options| Box::new(GeminiAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    let response = event.get("response").filter(|it| it.is_object()).unwrap_or(event);
    let names =
        ["candidates", "promptFeedback", "prompt_feedback", "usageMetadata", "usage_metadata"];
    names.iter().any(|name| response.get(name).is_some())
}

/// A piece of an argument without a call.
pub(crate) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A piece of an argument for a place that cannot be.
pub(super) const BAD_PATH: Note = Note::warning("stream::bad-path");

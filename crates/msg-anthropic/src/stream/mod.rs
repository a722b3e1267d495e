//! Anthropic Messages streams (OA-23): blocks in, one assistant message out.
//!
//! ```text
//! message_start                          id, model, usage
//! content_block_start  index 0           a block: text, tool_use, thinking, redacted_thinking, another
//! content_block_delta  index 0           one string grows: text, partial_json, thinking, signature
//! content_block_stop   index 0
//! message_delta                          stop_reason, usage
//! message_stop
//! ```

mod assembler;

use msg_codec::stream::Note;
use msg_codec::{Json, StreamFamily};

pub use assembler::{AnthropicAssembler, MessageBlocks};

/// Anthropic Messages streams, for a [`StreamReader`](msg_codec::StreamReader).
///
/// ```
/// use msg_anthropic::ANTHROPIC;
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
/// reader.feed(br#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub const ANTHROPIC: StreamFamily = StreamFamily {
    name: "anthropic",
    recognises,
    assembler: Some(|options| Box::new(AnthropicAssembler::new(options))),
};

fn recognises(event: Json<'_>) -> bool {
    event.get("type").and_then(Json::text).is_some_and(|it| {
        matches!(&*it, "message" | "message_start" | "message_delta" | "message_stop")
            || it.starts_with("content_block_")
    })
}

/// A delta that its block does not have.
pub(super) const UNKNOWN_DELTA: Note = Note::warning("stream::unknown-delta");

/// A thinking block without its signature.
pub(super) const SIGNATURE_MISSING: Note = Note::warning("stream::signature-missing");

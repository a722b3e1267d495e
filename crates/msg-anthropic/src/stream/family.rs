//! How an Anthropic stream is recognised (OA-17).

use msg_wire::{Assembler, Family, Json, StreamOptions};

use super::AnthropicAssembler;

/// Anthropic Messages streams, for a [`StreamReader`](msg_wire::StreamReader).
///
/// ```
/// use msg_anthropic::ANTHROPIC;
/// use msg_wire::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[ANTHROPIC], StreamOptions::default());
/// reader.feed(br#"{"type":"message","content":[{"type":"text","text":"Hi"}],"stop_reason":"end_turn"}"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub static ANTHROPIC: &dyn Family = &Anthropic;

#[derive(Debug)]
struct Anthropic;

impl Family for Anthropic {
    fn name(&self) -> &'static str {
        "anthropic"
    }

    fn recognises(&self, event: Json<'_>) -> bool {
        event.get("type").and_then(Json::text).is_some_and(|it| {
            matches!(&*it, "message" | "message_start" | "message_delta" | "message_stop")
                || it.starts_with("content_block_")
        })
    }

    fn assembler(&self, options: &StreamOptions) -> Option<Box<dyn Assembler>> {
        Some(Box::new(AnthropicAssembler::new(options)))
    }
}

//! How an Anthropic stream is recognised (OA-17).

use msg_codec::{Family, Json};

use super::AnthropicAssembler;

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
pub const ANTHROPIC: Family = Family {
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

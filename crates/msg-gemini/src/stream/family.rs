//! How a Gemini stream is recognised (GE-14).

use msg_codec::{Family, Json};

use super::GeminiAssembler;

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

//! How a Gemini stream is recognised (GE-14).

use msg_wire::{Assembler, Family, Json, StreamOptions};

use super::GeminiAssembler;

/// Gemini streams, for a [`StreamReader`](msg_wire::StreamReader).
///
/// ```
/// use msg_gemini::GEMINI;
/// use msg_wire::{StreamOptions, StreamReader};
///
/// let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
/// reader.feed(br#"[{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}]}]"#, &mut |_| {});
/// let res = reader.finish(&mut |_| {});
/// assert!(res.complete);
/// assert_eq!(res.choices[0].message.text(), "Hi");
/// ```
pub static GEMINI: &dyn Family = &Gemini;

#[derive(Debug)]
struct Gemini;

impl Family for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn recognises(&self, event: Json<'_>) -> bool {
        let response = event.get("response").filter(|it| it.is_object()).unwrap_or(event);
        let names = ["candidates", "promptFeedback", "usageMetadata"];
        names.iter().any(|name| response.get(name).is_some())
    }

    fn assembler(&self, options: &StreamOptions) -> Option<Box<dyn Assembler>> {
        Some(Box::new(GeminiAssembler::new(options)))
    }
}

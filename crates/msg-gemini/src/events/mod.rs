//! Streams written (GE-20): one response a delta, calls whole, the signature on its part, finish and usage
//! in the last. Any sequence of stream events can be rewritten while it comes.
//!
//! ```text
//! TextDelta "Hi"   data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]}
//! the end          data: {"candidates":[{"finishReason":"STOP","index":0}],"usageMetadata":{..}}
//! ```

mod live;
mod order;
mod words;

use msg_codec::Assembled;
use msg_codec::EventOptions;
use msg_core::Report;

pub use live::ChunkWriter;
use live::End;
pub(crate) use words::usage_metadata;

/// Why a choice stopped, in Gemini's word.
pub(crate) fn finish_word(choice: &msg_codec::AssembledChoice) -> Option<String> {
    End::of(choice).reason
}

/// Writes what an assembler read as the stream that Gemini would send, and says what that cannot hold.
/// Linear in the output.
///
/// ```
/// use msg_gemini::{GEMINI, write_chunks};
/// use msg_codec::{StreamOptions, StreamReader};
///
/// let read = |bytes: &[u8]| {
///     let mut reader = StreamReader::new(&[GEMINI], StreamOptions::default());
///     reader.feed(bytes, &mut |_| {});
///     reader.finish(&mut |_| {})
/// };
/// let res = read(br#"{"candidates":[{"content":{"parts":[{"text":"Hi"}]},"finishReason":"STOP"}],"responseId":"r"}"#);
/// let mut out = Vec::new();
/// assert!(write_chunks(&res, &mut out).is_empty());
/// assert_eq!(read(&out).choices, res.choices);
/// ```
pub fn write_chunks(res: &Assembled, out: &mut Vec<u8>) -> Report {
    let mut writer = ChunkWriter::new(EventOptions::of(res));
    for choice in &res.choices {
        writer.lose_members(&choice.message);
        let message = writer.whole_calls(choice);
        writer.message(choice.index, &message, out);
        writer.set_end(choice.index, End::of(choice));
    }
    if let Some(error) = res.failure() {
        writer.set_error(error);
    }
    writer.finish(out)
}

//! Streams written (GE-20): one response a delta, calls whole, the signature on its part, finish and usage
//! in the last. Any sequence of stream events can be rewritten while it comes.
//!
//! ```text
//! TextDelta "Hi"   data: {"candidates":[{"content":{"role":"model","parts":[{"text":"Hi"}]},"index":0}]}
//! the end          data: {"candidates":[{"finishReason":"STOP","index":0}],"usageMetadata":{..}}
//! ```

mod live;

use std::collections::{BTreeMap, VecDeque};

use live::End;
use msg_codec::{Assembled, EventOptions};
use msg_core::{FinishReason, Part, Report, Usage};
use msg_json::Writer as JsonWriter;

pub use live::ChunkWriter;

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

// The parts of one choice in the order in which they began: what is after a call waits for it, as calls
// go out whole.
//
// ```text
// text "a"      -> out
// call 0 begins    [call 0]
// text "b"         [call 0, text "b"]
// call 0 ends   -> call 0, text "b"
// ```

/// What waits, in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// None for a call that has not ended.
    waiting: VecDeque<Option<Part>>,
    /// How many have gone.
    gone: u64,
    /// The places of the calls that have begun, counted from the first that ever waited.
    calls: BTreeMap<u32, u64>,
}

impl Order {
    /// A call begins.
    pub(super) fn begin(&mut self, index: u32) {
        self.calls.entry(index).or_insert_with(|| {
            self.waiting.push_back(None);
            self.gone + self.waiting.len() as u64 - 1
        });
    }

    /// A call is whole, in its place if it had begun.
    pub(super) fn end(&mut self, index: u32, part: Part) {
        let place = self.calls.remove(&index).and_then(|it| it.checked_sub(self.gone));
        let place = place.and_then(|it| usize::try_from(it).ok());
        match place.and_then(|it| self.waiting.get_mut(it)) {
            Some(place) => *place = Some(part),
            None => self.push(part),
        }
    }

    /// A call is left out.
    pub(super) fn drop(&mut self, index: u32) {
        let place = self.calls.remove(&index).and_then(|it| it.checked_sub(self.gone));
        if let Some(place) = place.and_then(|it| usize::try_from(it).ok()) {
            self.waiting.remove(place);
            self.calls
                .values_mut()
                .filter(|it| **it > self.gone + place as u64)
                .for_each(|it| *it -= 1);
        }
    }

    /// A part that is whole.
    pub(super) fn push(&mut self, part: Part) {
        self.waiting.push_back(Some(part));
    }

    /// The next part that waits for nothing.
    pub(super) fn next(&mut self) -> Option<Part> {
        let part = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.gone += 1;
        Some(part)
    }

    /// All that is left; none for a call that never ended.
    pub(super) fn rest(&mut self) -> VecDeque<Option<Part>> {
        std::mem::take(&mut self.waiting)
    }
}

// Finish reasons and usage in Gemini's words.

/// Gemini's word for a finish reason; none for a stream that was stopped.
pub(super) fn word(reason: &FinishReason) -> Option<String> {
    let word = match reason {
        FinishReason::Stop | FinishReason::ToolCalls => "STOP",
        FinishReason::Length => "MAX_TOKENS",
        FinishReason::ContentFilter => "SAFETY",
        FinishReason::Interrupted => return None,
        FinishReason::Error => "OTHER",
        other => other.as_str(),
    };
    Some(word.to_owned())
}

/// The provider's own object where it is Gemini's, else one of the numbers.
pub(crate) fn usage_metadata(usage: &Usage, it: &mut JsonWriter<'_>) {
    let own = usage.raw.as_ref().filter(|raw| {
        let members = msg_codec::codec::object_members(raw).unwrap_or_default();
        members.iter().any(|it| it.name.ends_with("TokenCount"))
    });
    if let Some(own) = own {
        let mut compact = Vec::new();
        own.write_compact(&mut compact);
        return it.value(|out| out.extend_from_slice(&compact));
    }
    it.object(|it| {
        for (name, count) in [
            ("promptTokenCount", usage.input),
            // Thoughts are beside the output here, and inside of it elsewhere (RQ-25).
            (
                "candidatesTokenCount",
                usage.output.map(|it| it.saturating_sub(usage.reasoning.unwrap_or(0))),
            ),
            (
                "totalTokenCount",
                usage.total.or(usage.input.zip(usage.output).map(|it| it.0.saturating_add(it.1))),
            ),
            ("cachedContentTokenCount", usage.cached),
            ("thoughtsTokenCount", usage.reasoning),
        ] {
            it.optional(name, count, |it, n| it.u64(n));
        }
    });
}

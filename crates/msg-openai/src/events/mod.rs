//! Streams written (OA-27): what Chat Completions and Responses would send, of a message that is whole or
//! live of any stream's events, so that a proxy speaks OpenAI whatever the model behind it speaks. Nothing
//! is sent from here.
//!
//! ```text
//! StreamEvent text-delta "Hi"     data: {"object":"chat.completion.chunk","choices":[{"delta":{"content":"Hi"},…}]}
//!                                 event: response.output_text.delta + the events that open the item before it
//!             finish stop         data: {…"finish_reason":"stop"}      event: response.completed
//!             (end)               data: [DONE]
//! ```

mod chunks;
mod end;
mod item;
mod responses;
mod whole;

pub use chunks::{ChunkWriter, write_chunks};
pub use responses::ResponseEventWriter;
pub use whole::write_response_events;

pub(crate) use end::{CHAT as CHAT_USAGE, End, RESPONSES as RESPONSES_USAGE, write_usage};
pub(crate) use responses::defaults as response_defaults;
pub(crate) use whole::whole_items;

use msg_core::{Code, Diagnostic, FinishReason, Part, Report, ToolCall};

/// Reports, once for each kind, what a part has that no delta says: these streams have no place for it.
fn lose_part(part: &Part, report: &mut Report) {
    let lost = match part {
        Part::Text(_) | Part::Reasoning(_) | Part::Refusal(_) => Diagnostic::info(
            Code::new("convert::lost-member"),
            "what a part has besides its text has no place and is left out",
        ),
        _ => Diagnostic::warning(
            Code::new("convert::lost-part"),
            "a part that has no place in the stream is left out",
        ),
    };
    if !report.iter().any(|it| *it == lost) {
        report.push(lost);
    }
}

/// Whether a stream ended as the model meant it; one that was cut is left without an end.
fn is_end(reason: &FinishReason) -> bool {
    !matches!(reason, FinishReason::Error | FinishReason::Interrupted)
}

/// The arguments of a call after those that went out, of which there are `sent` bytes; none if all did.
fn unsent_arguments(call: &ToolCall, sent: usize) -> Option<&str> {
    call.arguments.text().get(sent..).filter(|it| !it.is_empty())
}

/// What is lost of a call that went out under this id and name; none if they are its own.
fn lost_name(call: &ToolCall, id: &str, name: &str) -> Option<&'static str> {
    let is_renamed = !call.id.is_empty() && call.id != id || call.name != name;
    let text = "the id or the name of a call came after its beginning, and is left out";
    is_renamed.then_some(text)
}

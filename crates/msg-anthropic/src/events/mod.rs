//! Anthropic event streams written: of a message, and live of any stream's events (AN-18). A proxy speaks
//! Anthropic with them, whatever the model after it speaks. Nothing is sent from here.
//!
//! ```text
//! StreamEvent text-delta "a"          message_start, content_block_start 0, content_block_delta 0
//!             tool-call-begin 0       content_block_stop 0, content_block_start 1
//!             tool-call-delta 0       content_block_delta 1
//!             finish                  content_block_stop 1, message_delta, message_stop
//! ```

mod block;
mod live;
mod message;

use msg_codec::EventOptions;
use msg_core::{FinishReason, Message};

pub use live::EventWriter;
pub use message::write_events;

/// Why the model stopped: as is said, or as follows from its calls.
fn finish_of<'o>(options: &'o EventOptions, message: &Message) -> &'o FinishReason {
    let calls = message.tool_calls().next().is_some();
    let implied = if calls { &FinishReason::ToolCalls } else { &FinishReason::Stop };
    options.finish.as_ref().unwrap_or(implied)
}

/// The same in Anthropic's word.
pub(crate) fn stop_reason<'o>(options: &'o EventOptions, message: &Message) -> &'o str {
    block::stop_reason(finish_of(options, message))
}

/// The usage as JSON, in Anthropic's members.
pub(crate) fn usage_text(options: &EventOptions) -> String {
    msg_json::to_text(|it| it.value(|out| block::write_usage(out, options.usage.as_ref())))
}

//! Anthropic event streams written: of a message, and live of any stream's events (AN-18). A proxy speaks
//! Anthropic with them, whatever the model behind it speaks. Nothing is sent from here.
//!
//! ```text
//! StreamEvent text-delta "a"          message_start, content_block_start 0, content_block_delta 0
//!             tool-call-begin 0       content_block_stop 0, content_block_start 1
//!             tool-call-delta 0       content_block_delta 1
//!             finish                  content_block_stop 1, message_delta, message_stop
//! ```

mod frame;
mod live;
mod message;

use msg_core::{FinishReason, Message, Usage, json};
use msg_wire::Assembled;

pub use live::EventWriter;
pub use message::write_events;

/// What an event stream says about its message beside the content.
///
/// ```
/// use msg_anthropic::{EventOptions, write_events};
/// use msg_core::Message;
///
/// let options = EventOptions::default().with_id("msg_1").with_model("claude-x");
/// let mut out = Vec::new();
/// let report = write_events(&Message::assistant("Hi"), &options, &mut out);
/// assert!(report.is_empty());
/// let text = String::from_utf8_lossy(&out);
/// assert!(text.starts_with("event: message_start\ndata: {\"type\":\"message_start\",\"message\":{\"id\":\"msg_1\","));
/// assert!(text.contains(r#"{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hi"}}"#));
/// assert!(text.ends_with("event: message_stop\ndata: {\"type\":\"message_stop\"}\n\n"));
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
pub struct EventOptions {
    /// The id of the message; `""` if none is given.
    pub id: String,
    /// The model that answers; `""` if none is given.
    pub model: String,
    /// What it cost, as far as it is known.
    pub usage: Option<Usage>,
    /// Why the model stopped; of a message that is written whole it follows from its calls if it is not
    /// given.
    pub finish: Option<FinishReason>,
}

impl EventOptions {
    /// What a stream that was read says about its message.
    #[must_use]
    pub fn of(read: &Assembled) -> Self {
        Self {
            id: read.id.clone().unwrap_or_default(),
            model: read.model.clone().unwrap_or_default(),
            usage: read.usage.clone(),
            finish: read.choices.first().and_then(|it| it.finish.clone()),
        }
    }

    /// Why the model stopped: as is said, or as follows from its calls.
    fn finish_of(&self, message: &Message) -> &FinishReason {
        let calls = message.tool_calls().next().is_some();
        let implied = if calls { &FinishReason::ToolCalls } else { &FinishReason::Stop };
        self.finish.as_ref().unwrap_or(implied)
    }

    /// The same in Anthropic's word.
    pub(crate) fn stop_reason(&self, message: &Message) -> &str {
        frame::stop_reason(self.finish_of(message))
    }

    /// The usage as JSON.
    pub(crate) fn usage_text(&self) -> String {
        json::to_text(|it| it.value(|out| frame::write_usage(out, self.usage.as_ref())))
    }

    /// The id of the message.
    #[must_use]
    pub fn with_id(self, id: impl Into<String>) -> Self {
        Self { id: id.into(), ..self }
    }

    /// The model that answers.
    #[must_use]
    pub fn with_model(self, model: impl Into<String>) -> Self {
        Self { model: model.into(), ..self }
    }

    /// What it cost.
    #[must_use]
    pub fn with_usage(self, usage: Usage) -> Self {
        Self { usage: Some(usage), ..self }
    }

    /// Why the model stopped.
    #[must_use]
    pub fn with_finish(self, finish: FinishReason) -> Self {
        Self { finish: Some(finish), ..self }
    }
}

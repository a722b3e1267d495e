//! What a stream amounts to (OA-26): a message for each choice, why it stopped, and everything that
//! was odd on the way.

use msg_core::{Diagnostic, FinishReason, Message, Role, StreamEvent, Usage};

use super::close::Parts;
use super::finish::{Ending, StreamState};
use super::head::Head;
use super::provider_error::ProviderError;
use super::step::Sink;
use crate::codec::note_model;

/// The result of a stream, or of as much of it as came.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct Assembled {
    /// The choices by index; none if nothing was seen of any.
    pub choices: Vec<AssembledChoice>,
    /// The last usage that the provider gave, its object raw.
    pub usage: Option<Usage>,
    /// The id of the response.
    pub id: Option<String>,
    /// The model that answered.
    pub model: Option<String>,
    /// When the provider made the response, in seconds since 1970.
    pub created: Option<f64>,
    /// Whether the stream came to its proper end without an error (OA-21).
    pub complete: bool,
    /// The first error that the provider reported.
    pub error: Option<ProviderError>,
    /// Why there is no choice at all, where the provider says so: a blocked prompt (GE-16).
    pub finish: Option<FinishReason>,
    /// Whether the stream had ended, was interrupted, or goes on.
    pub state: StreamState,
    /// What was odd, each code once, by byte offset.
    pub diagnostics: Vec<Diagnostic>,
}

/// One choice of a stream's result.
#[derive(Debug, Clone, PartialEq)]
#[non_exhaustive]
pub struct AssembledChoice {
    /// Its number.
    pub index: u32,
    /// What the model said.
    pub message: Message,
    /// Why it stopped (OA-20).
    pub finish: Option<FinishReason>,
    /// The reason in the provider's own word.
    pub raw_finish: Option<String>,
    /// The ids of the calls that were cut off or are not JSON: they must not be executed.
    pub incomplete: Vec<String>,
    /// For each call of the message whether it is complete, since ids may occur twice.
    pub complete: Vec<bool>,
}

impl AssembledChoice {
    /// A choice of these parts, from an assistant.
    pub fn new(
        index: u32,
        parts: Parts,
        finish: Option<FinishReason>,
        raw_finish: Option<String>,
    ) -> Self {
        let mut message = Message::new(Role::Assistant);
        message.parts = parts.list;
        let calls = message.tool_calls().zip(&parts.complete);
        let incomplete = calls.filter(|(_, it)| !**it).map(|(it, _)| it.id.clone()).collect();
        Self { index, message, finish, raw_finish, incomplete, complete: parts.complete }
    }
}

impl Head {
    /// The result, whose messages know the model that made them, and the events that come last: usage, then a finish for each choice.
    pub fn assemble(
        self,
        mut choices: Vec<AssembledChoice>,
        ending: Ending,
        state: StreamState,
        sink: &mut Sink<'_>,
    ) -> Assembled {
        let messages = choices.iter_mut().map(|it| &mut it.message);
        note_model(self.model.as_deref(), messages);
        let usage = self.final_usage();
        if let Some(usage) = &usage {
            sink(StreamEvent::Usage { choice: 0, usage: usage.clone() });
        }
        for choice in &choices {
            if let Some(reason) = choice.finish.clone() {
                sink(StreamEvent::Finish { choice: choice.index, reason });
            }
        }
        tracing::debug!(
            complete = ending == Ending::Whole,
            error = self.error.is_some(),
            finish = ?choices.first().and_then(|it| it.finish.as_ref()),
            "stream ended"
        );
        Assembled {
            choices,
            usage,
            id: self.id,
            model: self.model,
            created: self.created,
            complete: ending == Ending::Whole,
            error: self.error,
            finish: self.finish,
            state,
            diagnostics: self.notes.diagnostics(),
        }
    }
}

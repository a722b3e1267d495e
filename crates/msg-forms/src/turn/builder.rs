//! A turn while its stream runs (OA-25): what there is so far, and a well-formed end whenever the
//! stream stops.

use super::{ToolPart, Turn, TurnError, apply::Progress};
use msg_core::{FinishReason, StreamEvent};

/// Builds a turn from stream events; it can be looked at at any time.
///
/// ```
/// use msg_core::StreamEvent;
/// use msg_forms::{ToolStatus, Turn, turns::TurnBuilder};
/// let mut builder = TurnBuilder::new(Turn::new("m1", "assistant"));
/// builder.push(&StreamEvent::TextDelta { choice: 0, text: "Looking.".into() })?;
/// builder.push(&StreamEvent::ToolCallBegin { choice: 0, index: 0, id: None, name: "read".into() })?;
/// builder.push(&StreamEvent::ToolCallDelta { choice: 0, index: 0, arguments: "{\"pa".into() })?;
/// assert_eq!(builder.text(), "Looking.");
/// assert_eq!(builder.open_calls().next().unwrap().input_text.as_deref(), Some("{\"pa"));
///
/// // The person presses a key: what is there is kept, and the call will never run.
/// let turn = builder.interrupt();
/// assert_eq!(turn.finish_reason, "interrupted");
/// assert_eq!(turn.tools().next().unwrap().status, ToolStatus::Failed);
/// # Ok::<(), msg_forms::turns::TurnError>(())
/// ```
#[derive(Debug, Clone)]
pub struct TurnBuilder {
    turn: Turn,
    choice: u32,
    progress: Progress,
    has_error: bool,
}

impl TurnBuilder {
    /// Goes on with this turn, taking the events of choice 0.
    pub fn new(turn: Turn) -> Self {
        Self::for_choice(turn, 0)
    }

    /// Goes on with this turn, taking the events of one choice; others are ignored.
    pub fn for_choice(turn: Turn, choice: u32) -> Self {
        let progress = Progress::following(&turn);
        Self { turn, choice, progress, has_error: false }
    }

    /// Takes one event in. Costs the text that is added.
    ///
    /// # Errors
    /// As [`Turn::apply`].
    pub fn push(&mut self, event: &StreamEvent<'_>) -> Result<(), TurnError> {
        if event.choice() != self.choice {
            return Ok(());
        }
        self.has_error |= matches!(event, StreamEvent::Error { .. });
        self.turn.apply_after(event, &mut self.progress)
    }

    /// The turn so far: not finished unless the stream said so.
    pub fn turn(&self) -> &Turn {
        &self.turn
    }

    /// The text so far.
    pub fn text(&self) -> String {
        self.turn.texts().collect()
    }

    /// The reasoning so far.
    pub fn reasoning(&self) -> &str {
        &self.turn.reasoning_content
    }

    /// The calls that have begun and not ended, with the arguments so far in `input_text`.
    pub fn open_calls(&self) -> impl Iterator<Item = &ToolPart> {
        self.turn.tools().filter(|it| it.stream_index.is_some())
    }

    /// The turn at the end of the stream. Where the stream gave no reason to finish, it is `error`
    /// or `truncated`; calls that did not end are failed and must not run.
    pub fn finish(mut self) -> Turn {
        let reason = if self.has_error { "error" } else { "truncated" };
        self.turn.close(&FinishReason::from(reason));
        self.turn
    }

    /// The turn of a stream that the caller stopped: finished with `interrupted`, and calls that did
    /// not end are failed.
    pub fn interrupt(mut self) -> Turn {
        self.turn.close(&FinishReason::Interrupted);
        self.turn
    }
}

//! Builds a turn from stream events (MS-21, OA-25).
//!
//! Nothing that arrives is executed: a call stays pending until the application starts it.

use std::collections::BTreeMap;

use msg_core::{FinishReason, RawJson, StreamEvent, ToolCall};

use super::lifecycle::{ToolStatus, TurnError};
use super::{ToolPart, Turn, TurnPart};

/// What is known of the events before, next to what the turn itself says.
#[derive(Debug, Clone, Default)]
pub(crate) struct Progress {
    /// Which channel wrote the last text part.
    channel: Channel,
    /// The parts of the calls that are open, by their number. Without it they are looked for.
    open: Option<BTreeMap<u32, usize>>,
}

impl Progress {
    /// Of a stream that is followed from this turn on: finding a call costs no look at the parts.
    pub(crate) fn following(turn: &Turn) -> Self {
        let numbers = turn.parts.iter().enumerate().filter_map(|(at, it)| match it {
            TurnPart::Tool(it) => it.stream_index.map(|number| (number, at)),
            _ => None,
        });
        Self { channel: Channel::Text, open: Some(numbers.collect()) }
    }
}

/// Text and refusals do not mix in one part.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Channel {
    #[default]
    Text,
    Refusal,
}

impl Turn {
    /// Takes one event of choice 0 in; those of other choices are ignored (OA-25). Text goes to the
    /// last text part or a new one, reasoning to `reasoning_content`, a call becomes a pending tool
    /// part, usage becomes `metadata.usage`.
    ///
    /// A [`TurnBuilder`](crate::turns::TurnBuilder) does the same for any choice, and closes a stream that
    /// broke off.
    ///
    /// # Errors
    /// [`TurnError`]: text, reasoning or a call after the finish, a call that begins twice, or an
    /// event for a call that is not open. Nothing is changed then.
    ///
    /// ```
    /// use msg_core::{FinishReason, StreamEvent};
    /// use msg_forms::Turn;
    /// let mut turn = Turn::new("m1", "assistant");
    /// turn.apply(&StreamEvent::TextDelta { choice: 0, text: "Hel".into() })?;
    /// turn.apply(&StreamEvent::TextDelta { choice: 0, text: "lo".into() })?;
    /// turn.apply(&StreamEvent::Finish { choice: 0, reason: FinishReason::Stop })?;
    /// assert_eq!(turn.text("\n"), "Hello");
    /// assert!(turn.apply(&StreamEvent::TextDelta { choice: 0, text: "!".into() }).is_err());
    /// # Ok::<(), msg_forms::turns::TurnError>(())
    /// ```
    pub fn apply(&mut self, event: &StreamEvent<'_>) -> Result<(), TurnError> {
        if event.choice() != 0 {
            return Ok(());
        }
        self.apply_after(event, &mut Progress::default())
    }

    /// Takes an event of any choice in, given what is known of those before.
    pub(crate) fn apply_after(
        &mut self,
        event: &StreamEvent<'_>,
        progress: &mut Progress,
    ) -> Result<(), TurnError> {
        match event {
            StreamEvent::TextDelta { text, .. } => {
                self.extend_text(text, Channel::Text, &mut progress.channel)
            }
            StreamEvent::RefusalDelta { text, .. } => {
                self.extend_text(text, Channel::Refusal, &mut progress.channel)
            }
            StreamEvent::ReasoningDelta { text, .. } => self.append_reasoning(text),
            StreamEvent::ToolCallBegin { index, id, name, .. } => {
                self.begin_call(*index, id.as_deref().unwrap_or_default(), name, progress)
            }
            StreamEvent::ToolCallDelta { index, arguments, .. } => {
                let tool = self.open_call(*index, progress)?;
                tool.input_text.get_or_insert_default().push_str(arguments);
                Ok(())
            }
            StreamEvent::ToolCall { index, call, complete, .. } => {
                self.end_call(*index, call, *complete, progress)
            }
            StreamEvent::Usage { usage, .. } => {
                self.metadata.insert("usage", usage.to_raw());
                Ok(())
            }
            StreamEvent::Finish { reason, .. } => self.finish(reason.clone()),
            StreamEvent::Error { message, .. } => {
                self.metadata.insert("error", RawJson::string(message));
                Ok(())
            }
            // A turn holds neither signatures nor parts without deltas, which are what a `PartEnd` has.
            _ => Ok(()),
        }
    }

    fn extend_text(
        &mut self,
        text: &str,
        from: Channel,
        last: &mut Channel,
    ) -> Result<(), TurnError> {
        self.expect_open("take more text")?;
        let is_last = matches!(self.parts.last(), Some(TurnPart::Text(_)));
        if is_last && from == *last {
            return self.append_text(text);
        }
        *last = from;
        self.push_text_part(text);
        Ok(())
    }

    fn begin_call(
        &mut self,
        index: u32,
        id: &str,
        name: &str,
        progress: &mut Progress,
    ) -> Result<(), TurnError> {
        self.expect_open("take another part")?;
        if self.open_call(index, progress).is_ok() {
            return Err(TurnError::CallOpen { index });
        }
        if let Some(open) = &mut progress.open {
            open.insert(index, self.parts.len());
        }
        let tool = ToolPart { stream_index: Some(index), ..ToolPart::new(id, name) };
        self.push_part(TurnPart::Tool(tool))
    }

    /// Ends a call that is open, or takes a whole one in of which no beginning was seen.
    fn end_call(
        &mut self,
        index: u32,
        call: &ToolCall,
        complete: bool,
        progress: &mut Progress,
    ) -> Result<(), TurnError> {
        if self.open_call(index, progress).is_err() {
            self.begin_call(index, &call.id, &call.name, progress)?;
        }
        let tool = self.open_call(index, progress)?;
        if !complete {
            // Looked at first, so that a refused event changes nothing.
            tool.expect("cut off", &[ToolStatus::Pending])?;
        }
        tool.id.clone_from(&call.id);
        tool.tool.clone_from(&call.name);
        tool.set_arguments(call.arguments.text());
        tool.stream_index = None;
        if !complete {
            tool.cut_off()?;
        }
        if let Some(open) = &mut progress.open {
            open.remove(&index);
        }
        Ok(())
    }

    /// The part of the open call of this number; where nothing is known of the events before, it is
    /// looked for from the end, where it mostly is.
    fn open_call(&mut self, index: u32, progress: &Progress) -> Result<&mut ToolPart, TurnError> {
        let is_it = |it: &&mut ToolPart| it.stream_index == Some(index);
        let found = match &progress.open {
            Some(open) => open.get(&index).and_then(|at| tool_of(self.parts.get_mut(*at)?)),
            None => self.parts.iter_mut().rev().filter_map(tool_of).find(is_it),
        };
        found.filter(is_it).ok_or(TurnError::NoOpenCall { index })
    }

    /// Cuts off the calls that are still open and closes the turn, if it is not closed.
    pub(crate) fn close(&mut self, reason: &FinishReason) {
        for tool in self.tools_mut().filter(|it| it.stream_index.is_some()) {
            let text = tool.input_text.take().unwrap_or_default();
            tool.set_arguments(text);
            tool.stream_index = None;
            // An application that started the call before it was whole sees to its end itself.
            if tool.status.is_open() {
                let _ = tool.cut_off();
            }
        }
        if !self.finished {
            self.finished = true;
            self.finish_reason = reason.as_str().to_owned();
        }
    }
}

fn tool_of(part: &mut TurnPart) -> Option<&mut ToolPart> {
    if let TurnPart::Tool(it) = part { Some(it) } else { None }
}

// A turn while its stream runs (OA-25): what there is so far, and a well-formed end whenever the
// stream stops.

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

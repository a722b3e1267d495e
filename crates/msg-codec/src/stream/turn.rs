//! A stream's result as the turn that an application stores (OA-25). Nothing here is ever executed:
//! calls are pending, or failed if they may have been cut off.

use msg_core::{IdSource, Part, RawJson, ToolCall};
use msg_forms::{ToolPart, Turn, TurnPart, TurnRole};

use super::assembled::{Assembled, AssembledChoice};
use super::finish::StreamState;
use super::reader::StreamReader;

impl Assembled {
    /// The turn of the first choice: its id is the response's or `""`, its time when the response
    /// was made or 0.
    ///
    /// Calls are pending; an incomplete one is failed and says so. What is not finished is closed
    /// with `error`, `truncated` or `interrupted`; a snapshot stays open.
    ///
    /// ```text
    /// let turn = reader.snapshot().to_turn();               // finished: false
    /// let turn = reader.interrupt(&mut |_| {}).to_turn();   // finish_reason: "interrupted"
    /// ```
    #[must_use]
    pub fn to_turn(&self) -> Turn {
        self.turn_of(self.choices.first())
    }

    /// The turn of this choice; one without parts if there is none.
    pub(super) fn turn_of(&self, choice: Option<&AssembledChoice>) -> Turn {
        let id = self.id.clone().unwrap_or_default();
        let mut turn = Turn::new(id, TurnRole::Assistant);
        turn.timestamp = self.created.unwrap_or(0.0);
        if let Some(choice) = choice {
            choice.fill(&mut turn);
        }
        if let Some(model) = &self.model {
            turn.metadata.insert("model", RawJson::string(model));
        }
        if let Some(usage) = self.usage.as_ref().and_then(|it| it.raw.clone()) {
            turn.metadata.insert("usage", usage);
        }
        turn.finished = self.state != StreamState::Open;
        turn.finish_reason = self.turn_reason(choice).to_owned();
        turn
    }

    /// The turn, like [`Assembled::to_turn`]; where the stream gave no id or time it is given one
    /// of `ids`, as 16 hexadecimal digits, and `now`.
    #[must_use]
    pub fn into_turn(self, ids: &mut dyn IdSource, now: f64) -> Turn {
        let mut turn = self.to_turn();
        if turn.id.is_empty() {
            turn.id = format!("{:016x}", ids.next_u64());
        }
        turn.timestamp = self.created.unwrap_or(now);
        turn
    }

    fn turn_reason<'a>(&self, choice: Option<&'a AssembledChoice>) -> &'a str {
        let reason = choice.and_then(|it| it.finish.as_ref());
        match (reason, self.state) {
            (Some(reason), _) => reason.as_str(),
            (None, StreamState::Open) => "",
            (None, _) if self.error.is_some() => "error",
            (None, StreamState::Interrupted) => "interrupted",
            (None, StreamState::Ended) if self.complete => "",
            (None, StreamState::Ended) => "truncated",
        }
    }
}

impl AssembledChoice {
    fn fill(&self, turn: &mut Turn) {
        let mut texts = 0;
        let mut complete = self.complete.iter();
        for part in &self.message.parts {
            match part {
                Part::Text(it) | Part::Refusal(it) => {
                    texts += 1;
                    turn.parts.push(TurnPart::text(format!("text_{texts}"), it.text.clone()));
                }
                Part::ToolCall(call) => {
                    // A call that somebody added to the message was not streamed, so not cut.
                    let complete = complete.next().copied().unwrap_or(true);
                    turn.parts.push(TurnPart::Tool(tool_of(call, complete)));
                }
                _ => {}
            }
        }
        let thoughts: Vec<_> = self
            .message
            .reasoning()
            .map(|it| it.display_text())
            .filter(|it| !it.is_empty())
            .collect();
        turn.reasoning_content = thoughts.join("\n\n");
    }
}

fn tool_of(call: &ToolCall, complete: bool) -> ToolPart {
    let mut tool = ToolPart::new(&call.id, &call.name);
    tool.set_arguments(call.arguments.text());
    if !complete {
        tool.cut_off().expect("a call that was just made is pending, and a pending one may fail");
    }
    tool
}

impl StreamReader {
    /// Ends the stream and gives its turn; see [`Assembled::into_turn`].
    #[must_use]
    pub fn into_turn(self, ids: &mut dyn IdSource, now: f64) -> Turn {
        self.finish(&mut |_| {}).into_turn(ids, now)
    }
}

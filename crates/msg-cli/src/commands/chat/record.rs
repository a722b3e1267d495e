//! The record of an answer: the attributes of its cell, and the outcome as JSON (MF-57).
//!
//! An answer is saved to its file while it arrives, as often as the disk allows, and completely at the end.
//!
//! After each save, the next one waits four times as long as the save took. So at most a fifth of the time goes to the
//! disk, however slow it is and however long the answer gets.

use std::{
    borrow::Cow,
    time::{Duration, Instant},
};

use msg_core::{Arguments, Diagnostic, FinishReason, Message, Part};
use msg_file::{
    ToCells,
    store::{Appended, Appender, GrowingMessage},
};
use msg_openai::{Assembled, AssembledChoice, MessageForm, write_result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::request::Asking;
use crate::commands::file::Nonces;
use crate::context;
use crate::endpoint::Endpoint;
use crate::output::json_line;

/// `time model tokens_in tokens_out finish_reason`, as far as known.
pub(super) fn attributes(
    reply: &Assembled,
    choice: &AssembledChoice,
    asked: &str,
) -> Vec<(String, Option<String>)> {
    let usage = reply.usage.as_ref();
    let number = |it: Option<u64>| it.map(|it| it.to_string());
    let finish = choice.finish.as_ref().unwrap_or(&FinishReason::Interrupted);
    let attrs = [
        ("time", Some(context::now())),
        ("model", Some(reply.model.as_deref().unwrap_or(asked).to_owned())),
        ("tokens_in", number(usage.and_then(|it| it.input))),
        ("tokens_out", number(usage.and_then(|it| it.output))),
        ("finish_reason", Some(finish.as_str().to_owned())),
    ];
    let known =
        attrs.into_iter().filter(|(_, value)| value.as_ref().is_some_and(|it| !it.contains('\0')));
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Why a reply contains no answer.
pub(super) fn why_empty(reply: &Assembled) -> Cow<'_, str> {
    let found = || reply.diagnostics.iter().find(|it| it.is_error());
    let said = reply.error.as_ref().map(|it| Cow::Borrowed(it.message.as_str()));
    said.or_else(|| found().map(Diagnostic::message)).unwrap_or(Cow::Borrowed("the reply is empty"))
}

/// Why the model stopped, unless it finished.
pub(super) fn cut_off(reply: &Assembled) -> Option<&'static str> {
    match reply.choices.first()?.finish {
        Some(FinishReason::Length) => {
            Some("the answer reached the limit on its length (--max-tokens)")
        }
        Some(FinishReason::ContentFilter) => Some("the provider's content filter ended the answer"),
        _ => None,
    }
}

/// A reply without the key in its content and error messages.
pub(super) fn masked(mut reply: Assembled, mask: impl Fn(String) -> String) -> Assembled {
    for choice in &mut reply.choices {
        mask_texts(&mut choice.message, &mask);
    }
    if let Some(error) = &mut reply.error {
        error.message = mask(std::mem::take(&mut error.message));
    }
    for it in &mut reply.diagnostics {
        it.set_message(mask(it.message().into_owned()));
    }
    reply
}

/// Changes the texts of a message: content, reasoning, and arguments of calls.
fn mask_texts(message: &mut Message, mut mask: impl FnMut(String) -> String) {
    let mut change = |text: &mut String| *text = mask(std::mem::take(text));
    for part in &mut message.parts {
        match part {
            Part::Text(it) => change(&mut it.text),
            Part::Refusal(it) => change(&mut it.text),
            Part::Reasoning(it) => {
                it.text.iter_mut().chain(it.summary.iter_mut().flatten()).for_each(&mut change);
            }
            Part::ToolCall(it) => {
                let mut text = it.arguments.text().to_owned();
                change(&mut text);
                if text != it.arguments.text() {
                    it.arguments = Arguments::from(text);
                }
            }
            _ => {}
        }
    }
}

#[derive(Serialize)]
struct Cell<'a> {
    id: &'a str,
    start: u64,
    end: u64,
}

#[derive(Serialize)]
struct Outcome<'a> {
    agent: &'a str,
    model: &'a str,
    appended: Vec<Cell<'a>>,
    edits: &'a [msg_core::Diagnostic],
    reply: Box<RawValue>,
}

fn cell(it: &Appended) -> Cell<'_> {
    Cell { id: &it.id, start: it.span.start, end: it.span.end }
}

/// The reply, in the form of `msg stream --json`.
pub(super) fn as_json(reply: &Assembled) -> String {
    let mut json = Vec::new();
    write_result(reply, MessageForm::OpenAi, None, &mut json);
    String::from_utf8(json).expect("because JSON is written as UTF-8")
}

/// The outcome as a line of JSON.
pub(super) fn outcome(
    asking: &Asking,
    question: &[Appended],
    answer: &[Appended],
    reply: &Assembled,
) -> Vec<u8> {
    let outcome = Outcome {
        agent: &asking.agent,
        model: &asking.model,
        appended: question.iter().chain(answer).map(cell).collect(),
        edits: &asking.edits,
        reply: RawValue::from_string(as_json(reply)).expect("because it is JSON"),
    };
    json_line(&outcome)
}

/// The pause until the next save, as a multiple of the time that the last one took.
const REST: u32 = 4;
/// The longest delay before content is shown, saved or not.
const LONGEST: Duration = Duration::from_millis(250);

/// The answer as it is in the file.
pub(super) struct Saved<'a> {
    log: &'a mut Appender,
    asking: &'a Asking,
    endpoint: &'a Endpoint,
    growing: GrowingMessage,
    done: Vec<Appended>,
    /// Since when there are unsaved changes.
    changed: Option<Instant>,
    last: Instant,
    cost: Duration,
    /// The first failure; after it nothing is saved until the end.
    failed: Option<msg_file::Error>,
}

impl<'a> Saved<'a> {
    pub(super) fn new(log: &'a mut Appender, asking: &'a Asking, endpoint: &'a Endpoint) -> Self {
        let (growing, done) = (GrowingMessage::default(), Vec::new());
        let (last, cost) = (Instant::now(), Duration::ZERO);
        Self { log, asking, endpoint, growing, done, changed: None, last, cost, failed: None }
    }

    /// Notes that content arrived.
    pub(super) fn note_change(&mut self) {
        self.changed.get_or_insert_with(Instant::now);
    }

    /// The time until the next save.
    pub(super) fn wait(&self) -> Duration {
        match self.changed {
            Some(_) if self.failed.is_none() => {
                (self.cost * REST).saturating_sub(self.last.elapsed()).max(Duration::from_millis(1))
            }
            _ => Duration::MAX,
        }
    }

    /// Whether there are changes to save, and the pause is over.
    pub(super) fn is_due(&self) -> bool {
        self.changed.is_some() && self.failed.is_none() && self.last.elapsed() >= self.cost * REST
    }

    /// Whether there are changes that must be saved before they are shown.
    pub(super) fn is_after(&self) -> bool {
        self.failed.is_none() && self.changed.is_some_and(|it| it.elapsed() < LONGEST)
    }

    /// Saves the texts of the answer so far. A failure is reported at the end.
    pub(super) fn save(&mut self, so_far: &Assembled) {
        let start = Instant::now();
        if let Some(choice) = so_far.choices.first()
            && let Some(mut message) = texts(&choice.message)
        {
            // Text that may be the beginning of the key is saved once it turns out not to be.
            mask_texts(&mut message, |it| self.endpoint.masking().piece(&it));
            self.failed = self.grow(so_far, choice, &message).err();
        }
        self.changed = None;
        (self.cost, self.last) = (start.elapsed(), Instant::now());
    }

    /// Writes the final answer.
    pub(super) fn finish(
        mut self,
        reply: &Assembled,
        choice: &AssembledChoice,
    ) -> Result<Vec<Appended>, msg_file::Error> {
        self.grow(reply, choice, &choice.message)?;
        Ok(self.done)
    }

    fn grow(
        &mut self,
        reply: &Assembled,
        choice: &AssembledChoice,
        message: &Message,
    ) -> Result<(), msg_file::Error> {
        let attrs = attributes(reply, choice, &self.asking.model);
        let options = ToCells { agent: Some(self.asking.agent.clone()), attrs };
        let mut nonce = || Nonces::System.next();
        let mut done = self.log.grow_message(&mut self.growing, message, &options, &mut nonce)?;
        // Earlier findings are reported once, at the end.
        if let (Some(first), Some(before)) = (done.first_mut(), self.done.first_mut()) {
            first.warnings.append(&mut before.warnings);
        }
        self.done = done;
        Ok(())
    }
}

/// The content so far, without calls: they are recorded when complete.
fn texts(message: &Message) -> Option<Message> {
    let mut res = Message::new(message.role.clone());
    let is_text = |it: &&Part| matches!(it, Part::Text(_) | Part::Reasoning(_) | Part::Refusal(_));
    res.parts = message.parts.iter().filter(is_text).cloned().collect();
    (!res.parts.is_empty()).then_some(res)
}

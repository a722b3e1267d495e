//! What is kept and said of an answer: the attributes of its cell, and the outcome as JSON (MF-57).

use std::borrow::Cow;

use msg_core::{Arguments, Diagnostic, FinishReason, Message, Part};
use msg_file::store::Appended;
use msg_openai::{Assembled, AssembledChoice, MessageForm, write_result};
use serde::Serialize;
use serde_json::value::RawValue;

use super::request::Asking;
use crate::machine;
use crate::output::json_line;

/// `time model tokens_in tokens_out finish_reason`, as far as they are known.
pub(super) fn attributes(
    reply: &Assembled,
    choice: &AssembledChoice,
    asked: &str,
) -> Vec<(String, Option<String>)> {
    let usage = reply.usage.as_ref();
    let number = |it: Option<u64>| it.map(|it| it.to_string());
    let finish = choice.finish.as_ref().unwrap_or(&FinishReason::Interrupted);
    let attrs = [
        ("time", Some(machine::now())),
        ("model", Some(reply.model.as_deref().unwrap_or(asked).to_owned())),
        ("tokens_in", number(usage.and_then(|it| it.input))),
        ("tokens_out", number(usage.and_then(|it| it.output))),
        ("finish_reason", Some(finish.as_str().to_owned())),
    ];
    let known =
        attrs.into_iter().filter(|(_, value)| value.as_ref().is_some_and(|it| !it.contains('\0')));
    known.map(|(key, value)| (key.to_owned(), value)).collect()
}

/// Why a reply has no answer in it.
pub(super) fn why_empty(reply: &Assembled) -> Cow<'_, str> {
    let found = || reply.diagnostics.iter().find(|it| it.is_error());
    let said = reply.error.as_ref().map(|it| Cow::Borrowed(it.message.as_str()));
    said.or_else(|| found().map(Diagnostic::message)).unwrap_or(Cow::Borrowed("the reply is empty"))
}

/// Why the model stopped, where that is not because it had said all.
pub(super) fn cut_off(reply: &Assembled) -> Option<&'static str> {
    match reply.choices.first()?.finish {
        Some(FinishReason::Length) => {
            Some("the answer reached the limit on its length (--max-tokens)")
        }
        Some(FinishReason::ContentFilter) => Some("the provider's content filter ended the answer"),
        _ => None,
    }
}

/// A reply without the key: neither what the model says nor the sentences about errors hold it.
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

/// Changes the texts of a message: what it says, what it thinks, and the arguments of its calls.
pub(super) fn mask_texts(message: &mut Message, mut mask: impl FnMut(String) -> String) {
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

/// The outcome, a line of JSON.
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

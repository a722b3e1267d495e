//! The JSON form of a stream's result (OA-26), for programs in other languages.

use msg_core::json::{write_member_name, write_str, write_u64};
use msg_core::{Message, RawJson, Report, Severity, StreamEvent, native};

use super::assembled::{Assembled, AssembledChoice};
use crate::{EmptyContent, EncodeOptions, chat};

/// In which form the message of a result is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum MessageForm {
    /// A Chat Completions message, its texts joined, `content` null without text.
    #[default]
    OpenAi,
    /// This workspace's own JSON.
    Native,
    /// The turn that an application stores (OA-25).
    Turn,
}

impl Assembled {
    /// Appends the result as one JSON object, with the events if they are given (OA-26).
    ///
    /// ```
    /// use msg_openai::{MessageForm, StreamOptions, StreamReader};
    ///
    /// let mut reader = StreamReader::new(StreamOptions::default());
    /// reader.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n", &mut |_| {});
    /// let mut out = Vec::new();
    /// reader.finish(&mut |_| {}).write(MessageForm::OpenAi, None, &mut out);
    /// assert!(out.starts_with(br#"{"message":{"role":"assistant","content":"Hi"},"finish_reason":null"#));
    /// ```
    pub fn write(&self, form: MessageForm, events: Option<&[StreamEvent<'_>]>, out: &mut Vec<u8>) {
        let first = self.choices.first();
        out.extend_from_slice(b"{\"message\":");
        match first {
            Some(choice) => self.write_message(choice, form, out),
            None => out.extend_from_slice(b"null"),
        }
        self.write_tail(first, out);
        if self.choices.len() > 1 {
            member(out, "choices");
            list(out, &self.choices, |choice, out| {
                out.extend_from_slice(b"{\"index\":");
                write_u64(out, u64::from(choice.index));
                member(out, "message");
                self.write_message(choice, form, out);
                member(out, "finish_reason");
                text_or_null(out, choice.finish.as_ref().map(|it| it.as_str()));
                out.push(b'}');
            });
        }
        if let Some(events) = events {
            member(out, "events");
            list(out, events, |it, out| serialise(out, it));
        }
        out.push(b'}');
    }

    fn write_message(&self, choice: &AssembledChoice, form: MessageForm, out: &mut Vec<u8>) {
        match form {
            MessageForm::Native => native::write_message(&choice.message, out),
            MessageForm::OpenAi => write_openai(&choice.message, out),
            MessageForm::Turn => serialise(out, &self.turn_of(Some(choice))),
        }
    }

    /// The members behind the message, up to the diagnostics.
    fn write_tail(&self, first: Option<&AssembledChoice>, out: &mut Vec<u8>) {
        member(out, "finish_reason");
        text_or_null(out, first.and_then(|it| it.finish.as_ref()).map(|it| it.as_str()));
        member(out, "usage");
        json_or_null(out, self.usage.as_ref().and_then(|it| it.raw.as_ref()));
        member(out, "model");
        text_or_null(out, self.model.as_deref());
        member(out, "id");
        text_or_null(out, self.id.as_deref());
        member(out, "complete");
        out.extend_from_slice(if self.complete { b"true" } else { b"false" });
        member(out, "error");
        match &self.error {
            Some(error) => serialise(out, error),
            None => out.extend_from_slice(b"null"),
        }
        member(out, "incomplete_calls");
        let incomplete: Vec<_> = self.choices.iter().flat_map(|it| &it.incomplete).collect();
        list(out, &incomplete, |it, out| write_str(out, it));
        for (name, is_error) in [("errors", true), ("warnings", false)] {
            member(out, name);
            let found: Vec<_> = self
                .diagnostics
                .iter()
                .filter(|it| (it.severity == Severity::Error) == is_error)
                .collect();
            list(out, &found, |it, out| serialise(out, it));
        }
    }
}

/// OA-2, but for two things that a reader of results wants: texts joined with nothing whatever stands
/// between them, and `content` always there, null without text.
fn write_openai(message: &Message, out: &mut Vec<u8>) {
    let mut plain = Message::new(message.role.clone());
    let text = message.text();
    if !text.is_empty() {
        plain = plain.with_text(text);
    }
    plain.extra = message.extra.clone();
    plain.parts.extend(message.parts.iter().filter(|it| it.as_text().is_none()).cloned());
    let options = EncodeOptions::canonical().content_when_empty(EmptyContent::Null);
    let mut json = Vec::new();
    chat::write(std::slice::from_ref(&plain), &options, &mut json, &mut Report::with_cap(0));
    // The writer gives a list; this is its only element.
    let json = json.strip_prefix(b"[").and_then(|it| it.strip_suffix(b"]")).unwrap_or(b"null");
    match json.strip_prefix(br#"{"role":"assistant","content":"""#) {
        Some(rest) => {
            out.extend_from_slice(br#"{"role":"assistant","content":null"#);
            out.extend_from_slice(rest);
        }
        _ => out.extend_from_slice(json),
    }
}

/// A comma, unless an object or array has just begun.
fn separate(out: &mut Vec<u8>) {
    if !matches!(out.last(), Some(b'{' | b'[')) {
        out.push(b',');
    }
}

fn member(out: &mut Vec<u8>, name: &str) {
    separate(out);
    write_member_name(out, name);
}

fn list<T>(out: &mut Vec<u8>, items: &[T], mut item: impl FnMut(&T, &mut Vec<u8>)) {
    out.push(b'[');
    for (k, it) in items.iter().enumerate() {
        if k > 0 {
            out.push(b',');
        }
        item(it, out);
    }
    out.push(b']');
}

fn text_or_null(out: &mut Vec<u8>, text: Option<&str>) {
    match text {
        Some(text) => write_str(out, text),
        None => out.extend_from_slice(b"null"),
    }
}

fn json_or_null(out: &mut Vec<u8>, json: Option<&RawJson>) {
    match json {
        Some(json) => json.write_compact(out),
        None => out.extend_from_slice(b"null"),
    }
}

fn serialise(out: &mut Vec<u8>, value: &impl serde::Serialize) {
    serde_json::to_writer(out, value).expect("text keys into a buffer cannot fail");
}

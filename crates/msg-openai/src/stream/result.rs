//! The JSON form of a stream's result (OA-26), for programs in other languages.

use msg_codec::{Assembled, AssembledChoice};
use msg_core::{Message, StreamEvent};

use crate::{EmptyContent, WriteOptions, chat};

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

/// Appends the result as one JSON object, with the events if they are given (OA-26).
///
/// ```
/// use msg_openai::{CHAT, MessageForm, StreamOptions, StreamReader, write_result};
///
/// let mut reader = StreamReader::new(&[CHAT], StreamOptions::default());
/// reader.feed(b"data: {\"choices\":[{\"delta\":{\"content\":\"Hi\"}}]}\n\ndata: [DONE]\n\n", &mut |_| {});
/// let mut out = Vec::new();
/// write_result(&reader.finish(&mut |_| {}), MessageForm::OpenAi, None, &mut out);
/// assert!(out.starts_with(br#"{"message":{"role":"assistant","content":"Hi"},"finish_reason":null"#));
/// ```
pub fn write_result(
    res: &Assembled,
    form: MessageForm,
    events: Option<&[StreamEvent<'_>]>,
    out: &mut Vec<u8>,
) {
    let message = |it: &AssembledChoice, out: &mut Vec<u8>| write_message(&it.message, out);
    match form {
        MessageForm::OpenAi => {
            let lost: Vec<_> = res.without_place().into_iter().collect();
            res.write_with(message, &lost, events, out);
        }
        MessageForm::Native => res.write_native(events, out),
        MessageForm::Turn => res.write_turns(events, out),
    }
}

/// OA-2, but for two things that a reader of results wants: texts joined with nothing whatever is
/// between them, and `content` always there, null without text.
fn write_message(message: &Message, out: &mut Vec<u8>) {
    let mut plain = Message::new(message.role.clone());
    let text = message.text();
    if !text.is_empty() {
        plain = plain.with_text(text);
    }
    plain.extra = message.extra.clone();
    plain.parts.extend(message.parts.iter().filter(|it| it.as_text().is_none()).cloned());
    let options = WriteOptions::canonical().with_content_when_empty(EmptyContent::Null);
    let mut json = Vec::new();
    chat::write(std::slice::from_ref(&plain), &options, &mut json);
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

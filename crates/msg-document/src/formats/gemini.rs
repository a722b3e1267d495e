//! Gemini contents: an array, or a request or response body. Reading and writing are `msg_gemini`'s.

use std::ops::Range;

use msg_core::{Message, Report, request::RequestHead};
use msg_gemini::{
    GenerateRequest,
    contents::{self, Document},
};
use msg_json::{JsonError, Kind, Reader};

use super::api::{Api, names};
use crate::codec::{Likelihood, Side, WriteOptions};
use crate::outline::{Item, List, Outline, Record, ValueKind};
use crate::refusal::Refusal;

pub(crate) struct Gemini;

impl Api for Gemini {
    type Request = GenerateRequest;

    const NAME: &'static str = "gemini";
    const ABOUT: &'static str = "Gemini contents: an array, or a request or response body";
    const MATCHES_BY_NAME: bool = true;

    /// Contents with parts that name their kind by their member (GE-1).
    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        let is_ours = |it: &Record<'_>| it.role == Some("model") || it.parts().any(is_part);
        let in_list = |it: &List<'_>| it.records().any(|it| it.is_list("parts") && is_ours(it));
        let is_body = outline.list("candidates").is_some()
            || outline.member("contents").is_some() && outline.list("messages").is_none();
        let is_object = |name| outline.member(name) == Some(ValueKind::Object);
        let is_enveloped = is_object("response") && outline.members().count() <= 2
            || is_object("request") && outline.member("model") == Some(ValueKind::Text);
        if is_enveloped && outline.messages().is_none() {
            return Likelihood::Likely;
        }
        if is_body || outline.list("").is_some_and(in_list) {
            Likelihood::Certain
        } else {
            Likelihood::No
        }
    }

    fn place(bytes: &[u8]) -> Range<usize> {
        enveloped(bytes).unwrap_or(0..bytes.len())
    }

    fn request(
        head: &RequestHead,
        messages: Vec<Message>,
        _: &WriteOptions,
    ) -> Result<(GenerateRequest, Report), Refusal> {
        Ok(GenerateRequest::from_head(head, messages))
    }

    fn options(options: &WriteOptions) -> &msg_gemini::WriteOptions {
        &options.gemini
    }

    fn write_messages(messages: &[Message], options: &WriteOptions, out: &mut Vec<u8>) -> Report {
        contents::write(messages, &options.gemini, out)
    }

    fn response_members(response: &msg_gemini::GenerateResponse) -> Vec<String> {
        names(response.body.iter())
    }

    fn side(document: &Document) -> Side {
        match document {
            Document::Response(it) if it.candidates() > 1 => Side::Choices,
            Document::Response(_) => Side::Answer,
            _ => Side::Conversation,
        }
    }
}

fn is_part(part: &Item<'_>) -> bool {
    const KINDS: [&str; 11] = [
        "text",
        "functionCall",
        "functionResponse",
        "function_call",
        "function_response",
        "inlineData",
        "inline_data",
        "fileData",
        "file_data",
        "executableCode",
        "toolCall",
    ];
    part.kind.is_none() && !part.has("part_kind") && KINDS.iter().any(|it| part.has(it))
}

/// Where the document is in the envelope of the Code Assist API, `{"request":{"contents":…}}` or
/// `{"response":{"candidates":…}}`; none without one.
fn enveloped(bytes: &[u8]) -> Option<Range<usize>> {
    let holds = |reader: &mut Reader<'_>, name: &str| -> Result<bool, JsonError> {
        let mut res = false;
        reader.begin_object()?;
        while let Some(key) = reader.next_key()? {
            res |= key.text == name;
            reader.raw()?;
        }
        Ok(res)
    };
    let mut found = None;
    let mut reader = Reader::new(bytes).ok()?;
    reader.begin_object().ok()?;
    while let Some(key) = reader.next_key().ok()? {
        let (start, is_object) = (reader.next_offset(), reader.peek().ok()? == Kind::Object);
        match &*key.text {
            "contents" | "candidates" => return None,
            "request" if is_object && holds(&mut reader.clone(), "contents").ok()? => {
                reader.raw().ok()?;
                found = Some(start..reader.offset());
            }
            "response" if is_object && holds(&mut reader.clone(), "candidates").ok()? => {
                reader.raw().ok()?;
                found = Some(start..reader.offset());
            }
            _ => drop(reader.raw().ok()?),
        }
    }
    found
}

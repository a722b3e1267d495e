//! Gemini contents: an array, or a request or response body. Reading and writing are `msg_gemini`'s.

use std::ops::Range;

use msg_core::{
    Message, Report,
    json::{JsonError, Kind, Reader},
    request::RequestHead,
};
use msg_gemini::{
    GenerateRequest,
    contents::{self, Document},
};

use super::no_limit;
use crate::codec::{Around, Codec, Content, Likelihood, Side, WriteOptions};
use crate::outline::{Item, List, Outline, Record, ValueKind};
use crate::refusal::Refusal;

pub(crate) struct Gemini;

impl Codec for Gemini {
    fn name(&self) -> &'static str {
        "gemini"
    }

    fn about(&self) -> &'static str {
        "Gemini contents: an array, or a request or response body"
    }

    /// Contents with parts that name their kind by their member (GE-1).
    fn likelihood(&self, outline: &Outline<'_>) -> Likelihood {
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

    fn read(&self, bytes: &[u8], _: &str) -> Result<Content, Refusal> {
        let place = enveloped(bytes).unwrap_or(0..bytes.len());
        let (mut document, report) = contents::read(&bytes[place.clone()], &no_limit())?;
        let messages = document.take_messages();
        let envelope = (bytes[..place.start].to_vec(), bytes[place.end..].to_vec());
        Ok(Content::new(messages, Body { document, envelope }, report))
    }

    fn write(
        &self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        report.append(contents::write(messages, &options.gemini, out));
    }

    fn write_request(
        &self,
        head: &RequestHead,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) -> Result<(), Refusal> {
        let (request, lost) = GenerateRequest::from_head(head, std::mem::take(messages));
        report.append(lost);
        let mut document = Document::Request(request);
        report.append(document.write(&options.gemini, out));
        *messages = document.take_messages();
        Ok(())
    }

    fn lacks_ids(&self) -> bool {
        true
    }

    fn matches_by_name(&self) -> bool {
        true
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

/// A document whose messages have been taken out, and the bytes around it.
struct Body {
    document: Document,
    envelope: (Vec<u8>, Vec<u8>),
}

impl Around for Body {
    fn write(
        &mut self,
        messages: &mut Vec<Message>,
        options: &WriteOptions,
        out: &mut Vec<u8>,
        report: &mut Report,
    ) {
        // A response is a message for each candidate: what has become more or less is a list.
        if let Document::Response(it) = &self.document
            && messages.len() != it.candidates()
        {
            self.document = Document::Contents(Vec::new());
        }
        self.document.set_messages(std::mem::take(messages));
        out.extend_from_slice(&self.envelope.0);
        report.append(self.document.write(&options.gemini, out));
        out.extend_from_slice(self.envelope.1.trim_ascii_end());
        *messages = self.document.take_messages();
    }

    fn head(&self) -> Option<RequestHead> {
        if let Document::Request(it) = &self.document { Some(it.head()) } else { None }
    }

    fn members(&self) -> Vec<String> {
        match &self.document {
            Document::Request(it) => it.head().members,
            Document::Response(it) => it.members().map(|it| it.0.to_owned()).collect(),
            _ => Vec::new(),
        }
    }

    fn side(&self) -> Side {
        match &self.document {
            Document::Response(it) if it.candidates() > 1 => Side::Choices,
            Document::Response(_) => Side::Answer,
            _ => Side::Conversation,
        }
    }
}

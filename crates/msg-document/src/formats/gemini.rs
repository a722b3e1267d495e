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
    const TITLE: &'static str = "Gemini";
    const ABOUT: &'static str = "Gemini contents: an array, or a request or response body";
    const MATCHES_BY_NAME: bool = true;

    /// Contents with parts that name their kind by their member (GE-1), answers with candidates, and both in the
    /// envelope of the Code Assist API.
    fn likelihood(outline: &Outline<'_>) -> Likelihood {
        if outline.list("messages").is_some() {
            return Likelihood::No;
        }
        let in_envelope = |name: &str, list: &str| {
            let is_full = |it: &Record<'_>| it.items(list).next().is_some();
            outline.object(name).is_some_and(is_full)
        };
        if in_envelope("request", "contents") || in_envelope("response", "candidates") {
            return Likelihood::Likely;
        }
        let candidates = outline.list("candidates");
        if let Some(answers) = candidates.filter(|it| !it.is_empty() && has_contents(outline)) {
            return Likelihood::certain_if(answers.len() == 1 && are_candidates(answers));
        }
        Likelihood::certain_if(
            outline.list("").is_some_and(are_contents)
                || candidates.is_some_and(are_candidates) && outline.member("contents").is_none()
                || has_contents(outline),
        )
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

    const FAMILIES: &'static [msg_codec::StreamFamily] = &[msg_gemini::GEMINI];

    fn response(answer: &msg_codec::Assembled) -> Option<(msg_gemini::GenerateResponse, Report)> {
        Some((msg_gemini::GenerateResponse::of(answer), Report::new()))
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

/// Whether a body asks with contents: a list of them, of texts, or one text beside what only requests have.
fn has_contents(outline: &Outline<'_>) -> bool {
    const BESIDE: [&str; 9] = [
        "model",
        "config",
        "generationConfig",
        "generation_config",
        "systemInstruction",
        "system_instruction",
        "safetySettings",
        "tools",
        "cachedContent",
    ];
    let is_request = BESIDE.into_iter().any(|it| outline.member(it).is_some());
    let is_one = |it: &Record<'_>| it.items("parts").any(is_part);
    match (outline.member("contents"), outline.list("contents")) {
        (Some(ValueKind::Text), _) => is_request,
        (Some(ValueKind::Object), _) => outline.object("contents").is_some_and(is_one),
        (_, Some(list)) if list.is_empty() => true,
        (_, Some(list)) if list.records().next().is_none() => is_request,
        (_, Some(list)) => {
            are_contents(list) || list.records().all(has_a_text) || list.records().all(is_blank)
        }
        _ => false,
    }
}

/// Whether a content says nothing, and who says it.
fn is_blank(content: &Record<'_>) -> bool {
    let is_known = content.role.is_some_and(|it| matches!(it, "user" | "model" | "function"));
    is_known && content.is_list("parts") && content.parts().next().is_none()
}

/// Whether a content has parts, or a text in their place.
fn has_a_text(content: &Record<'_>) -> bool {
    let is_text = content.member("parts") == Some(ValueKind::Text);
    is_text || content.is_list("parts") && content.parts().all(|it| it.kind.is_none())
}

/// Whether all objects of a list have parts of this API, or are such parts.
fn are_contents(list: &List<'_>) -> bool {
    let is_content = |it: &Record<'_>| {
        it.is_list("parts") && it.parts().all(|it| it.kind.is_none() && !it.has("kind"))
    };
    let is_ours = |it: &Record<'_>| it.role == Some("model") || it.parts().any(is_part);
    list.records().all(is_content) && list.records().any(is_ours)
}

fn are_candidates(list: &List<'_>) -> bool {
    let is_ours = |it: &Record<'_>| {
        it.has("finishReason") || it.content_object().is_some_and(|it| it.has("parts"))
    };
    list.is_empty() || list.records().any(is_ours)
}

fn is_part(part: &Item<'_>) -> bool {
    const KINDS: [&str; 14] = [
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
        "codeExecutionResult",
        "toolCall",
        "toolResponse",
        "thoughtSignature",
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

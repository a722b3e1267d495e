//! Bodies that are no event stream (OA-17): one JSON document, an array of them, or one a line.

use msg_json::validate;

use super::frames::Frames;
use super::notes::Note;
use super::recognition::{Form, Recognition};
use super::sse::SseEvent;
use super::step::Sink;
use crate::Json;

/// What kind of body it is, as far as it is known.
#[derive(Debug, Clone)]
pub(super) enum Body {
    /// Only white space came, behind as many bytes of a byte order mark.
    Unknown { bom: usize },
    /// An event stream.
    Events,
    /// A document, read at the end.
    Document(Document),
    /// Binary frames.
    Frames(Frames),
}

/// The bytes of a document so far.
#[derive(Debug, Clone)]
pub(super) struct Document {
    bytes: Vec<u8>,
    /// Where in the stream it began.
    at: u64,
    too_large: bool,
}

impl Body {
    /// Finds the first byte that is no white space, which tells; gives its place if it begins a document.
    pub(super) fn begin(&mut self, chunk: &[u8], taken: u64) -> Option<usize> {
        let Self::Unknown { bom } = self else {
            return None;
        };
        for (at, byte) in chunk.iter().enumerate() {
            if *bom < 3 && (*bom > 0 || taken == 0 && at == 0) {
                if *byte == b"\xef\xbb\xbf"[*bom] {
                    *bom += 1;
                    continue;
                }
                if *bom > 0 {
                    *self = Self::Events;
                    return None;
                }
                *bom = 3;
            }
            match byte {
                b' ' | b'\t' | b'\n' | b'\r' => {}
                b'{' | b'[' => {
                    let begin = taken + at as u64;
                    let document = Document { bytes: Vec::new(), at: begin, too_large: false };
                    *self = Self::Document(document);
                    return Some(at);
                }
                _ => {
                    *self = Self::Events;
                    return None;
                }
            }
        }
        None
    }
}

impl Document {
    /// Keeps the next bytes, up to `most` in all.
    pub(super) fn push(&mut self, bytes: &[u8], most: usize) {
        let room = most.saturating_sub(self.bytes.len());
        self.too_large |= bytes.len() > room;
        self.bytes.extend_from_slice(&bytes[..bytes.len().min(room)]);
    }

    /// Gives what the document holds to the assembler, as if it were streamed.
    pub(super) fn deliver(self, to: &mut Recognition, sink: &mut Sink<'_>) {
        let at = self.at;
        let mut note = |note, text: &str| to.note(|it| it.add(note, at, || text.into()));
        if self.too_large {
            note(Note::EVENT_TOO_LARGE, "the body is too large; its rest was dropped");
        }
        let text = String::from_utf8_lossy(&self.bytes);
        if let std::borrow::Cow::Owned(_) = text {
            note(Note::INVALID_UTF8, "bytes that are not UTF-8 became U+FFFD");
        }
        if validate(&text).is_err() {
            note(Note::NDJSON, "the body is not one JSON document; read by lines");
            deliver_lines(&text, at, to, sink);
        } else if text.starts_with('[') {
            for element in Json(text.trim_ascii()).elements() {
                let offset = element.source().as_ptr() as usize - text.as_ptr() as usize;
                to.take(event(element.source(), at + offset as u64), Form::Document, sink);
            }
        } else {
            to.take(event(&text, at), Form::Document, sink);
        }
    }
}

fn event(text: &str, at: u64) -> SseEvent<'_> {
    SseEvent { at, ..text.into() }
}

fn deliver_lines(text: &str, at: u64, to: &mut Recognition, sink: &mut Sink<'_>) {
    let mut offset = at;
    for line in text.split('\n') {
        let content = line.trim_ascii();
        // A stream whose first event lacks its field name looks like a document.
        let content = content.strip_prefix("data:").map_or(content, str::trim_ascii);
        match content {
            "[DONE]" => {
                return to.take(event(content, offset), Form::Event, sink);
            }
            "" => {}
            content => to.take(event(content, offset), Form::Document, sink),
        }
        offset += line.len() as u64 + 1;
    }
}

//! Where findings are in the source: JSON pointer, line and column, in the document's own terms.
//!
//! ```text
//! {"system":"s","messages":[{"role":"user",…},{"role":"assistant","content":[{"type":"tool_use",…}]}]}
//! message 2, part 0   ─▶   /messages/1/content/0, line 1, column 75
//! ```
//!
//! Nothing here runs for a document without findings. Linear in the source and the findings.

use msg_core::{Diagnostic, Message, Part, Role};
use msg_json::{Kind, Reader};

use crate::document::Document;

/// The lists of messages that bodies have, and the members that hold system prompts beside them.
const LISTS: &[(&str, &[&str])] =
    &[("messages", &["system"]), ("contents", &["systemInstruction", "system_instruction"])];

/// The messages of a source.
struct Listed {
    /// The pointer of the list.
    pointer: &'static str,
    /// Where each message is.
    spans: Vec<(usize, usize)>,
    /// How many messages come from members beside the list.
    beside: usize,
}

impl Document {
    /// Gives findings about messages of a JSON source their pointer, line and column: those that have none yet, where
    /// the messages are those of one list. Other findings stay as they are.
    ///
    /// ```
    /// use msg_document::{CheckOptions, Document, ReadOptions};
    ///
    /// let json = b"{\n \"messages\": [\n  {\"role\": \"user\", \"content\": \"q\"},\n  {\"role\": \"tool\", \"tool_call_id\": \"c9\", \"content\": \"r\"}\n ]\n}";
    /// let mut document = Document::read(json, &ReadOptions::default())?;
    /// let mut found = document.check(&CheckOptions::default()).diagnostics;
    /// document.locate(json, &mut found);
    /// let at = &found[0].at;
    /// assert_eq!(at.pointer.as_deref(), Some("/messages/1/content"));
    /// assert_eq!((at.line, at.column), (Some(4), Some(53)));
    /// # Ok::<(), msg_document::Refusal>(())
    /// ```
    pub fn locate(&self, source: &[u8], found: &mut [Diagnostic]) {
        if found.is_empty() || !self.format().is_json() || self.format().is_session() {
            return;
        }
        let Ok(text) = std::str::from_utf8(source) else { return };
        let messages = self.messages();
        let listed = listed(text, messages).unwrap_or(None);
        let lines = Lines::new(text);
        for it in found.iter_mut().filter(|it| it.at.line.is_none()) {
            if it.at.pointer.is_some() {
                let pointer = it.at.pointer.as_deref().unwrap_or_default();
                if let Some(start) = follow(text, 0, pointer) {
                    (it.at.line, it.at.column) = lines.of(start);
                }
                continue;
            }
            let is_turn = it.code.as_str().starts_with("turn::");
            let Some((listed, number)) = listed.as_ref().zip(it.at.message).filter(|_| !is_turn)
            else {
                continue;
            };
            let Some(index) = number.checked_sub(listed.beside) else { continue };
            let Some(&(start, end)) = listed.spans.get(index) else { continue };
            let element = &text[start..end];
            let below = it.at.part.and_then(|part| {
                let below = part_pointer(messages.get(number)?, part, element)?;
                Some((follow(element, 0, &below)?, below))
            });
            let (offset, below) = below.unwrap_or_default();
            it.at.pointer = Some(format!("{}/{index}{below}", listed.pointer));
            (it.at.line, it.at.column) = lines.of(start + offset);
        }
    }
}

/// The list that the messages were read from, if each message is one element of it.
fn listed(text: &str, messages: &[Message]) -> Result<Option<Listed>, msg_json::JsonError> {
    let mut reader = Reader::from_text(text);
    let mut res = None;
    let mut beside = 0;
    match reader.peek()? {
        Kind::Array => res = Some(Listed { pointer: "", spans: spans(&mut reader)?, beside: 0 }),
        Kind::Object => {
            reader.begin_object()?;
            while let Some(key) = reader.next_key()? {
                let list = LISTS.iter().find(|it| it.0 == &*key.text);
                let is_list = list.is_some() && reader.peek()? == Kind::Array;
                match list.filter(|_| is_list && res.is_none()) {
                    Some(("messages", _)) => {
                        let spans = spans(&mut reader)?;
                        res = Some(Listed { pointer: "/messages", spans, beside: 0 });
                    }
                    Some(_) => {
                        let spans = spans(&mut reader)?;
                        res = Some(Listed { pointer: "/contents", spans, beside: 0 });
                    }
                    None => {
                        beside += usize::from(LISTS.iter().any(|it| it.1.contains(&&*key.text)));
                        reader.raw()?;
                    }
                }
            }
        }
        _ => {}
    }
    Ok(res.and_then(|it| {
        let leads = messages.first().is_some_and(|it| it.role == Role::System);
        let beside = if leads { beside.min(1) } else { 0 };
        // A message that became several, or several that became one, has no place of its own.
        (it.spans.len() + beside == messages.len()).then_some(Listed { beside, ..it })
    }))
}

/// Where the elements of a list are.
fn spans(reader: &mut Reader<'_>) -> Result<Vec<(usize, usize)>, msg_json::JsonError> {
    let mut res = Vec::new();
    reader.begin_array()?;
    while reader.next_element()? {
        let start = reader.next_offset();
        reader.raw()?;
        res.push((start, reader.offset()));
    }
    Ok(res)
}

/// The pointer of a part in its message, where the source has one value for it.
fn part_pointer(message: &Message, part: usize, element: &str) -> Option<String> {
    let parts = &message.parts;
    let is_call = matches!(parts.get(part)?, Part::ToolCall(_));
    let has = |pointer: &str| follow(element, 0, pointer).is_some();
    for list in ["/content", "/parts"] {
        // Each element is a part, and nothing beside the list is.
        let pointer = format!("{list}/{part}");
        if has(&pointer) && !has(&format!("{list}/{}", parts.len())) && !has("/tool_calls") {
            return Some(pointer);
        }
    }
    if is_call && has("/tool_calls") {
        let calls = parts[..part].iter().filter(|it| matches!(it, Part::ToolCall(_))).count();
        return Some(format!("/tool_calls/{calls}"));
    }
    (parts.len() == 1 && has("/content")).then(|| "/content".to_owned())
}

/// Where the value at a pointer begins, from a value that begins at `start`.
fn follow(text: &str, start: usize, pointer: &str) -> Option<usize> {
    let mut at = start;
    for step in pointer.split('/').skip(1) {
        let name = step.replace("~1", "/").replace("~0", "~");
        let mut reader = Reader::from_text(&text[at..]);
        let begin = match reader.peek().ok()? {
            Kind::Object => {
                reader.begin_object().ok()?;
                loop {
                    let key = reader.next_key().ok()??;
                    let begin = reader.next_offset();
                    if *key.text == *name {
                        break begin;
                    }
                    reader.raw().ok()?;
                }
            }
            Kind::Array => {
                let index: usize = name.parse().ok()?;
                reader.begin_array().ok()?;
                for _ in 0..index {
                    reader.next_element().ok()?.then_some(())?;
                    reader.raw().ok()?;
                }
                reader.next_element().ok()?.then_some(())?;
                reader.next_offset()
            }
            _ => return None,
        };
        at += begin;
    }
    Some(at)
}

/// The lines of a text, and how many characters are before each of its blocks: a document of one line may have as many
/// findings as messages.
struct Lines<'t> {
    text: &'t [u8],
    starts: Vec<usize>,
    before: Vec<usize>,
}

/// Characters are counted once for so many bytes.
const BLOCK: usize = 4096;

impl<'t> Lines<'t> {
    fn new(text: &'t str) -> Self {
        let text = text.as_bytes();
        let ends = memchr::memchr_iter(b'\n', text);
        let starts = std::iter::once(0).chain(ends.map(|it| it + 1)).collect();
        let mut sum = 0;
        let ends = text.chunks(BLOCK).map(|it| {
            sum += chars(it);
            sum
        });
        let before = std::iter::once(0).chain(ends).collect();
        Lines { text, starts, before }
    }

    /// Line and column, in characters, from 1.
    fn of(&self, offset: usize) -> (Option<usize>, Option<usize>) {
        let line = self.starts.partition_point(|it| *it <= offset);
        let column = self.chars_before(offset) - self.chars_before(self.starts[line - 1]) + 1;
        (Some(line), Some(column))
    }

    fn chars_before(&self, offset: usize) -> usize {
        let block = offset / BLOCK;
        self.before[block] + chars(&self.text[block * BLOCK..offset])
    }
}

/// How many characters begin in these bytes of a text.
fn chars(bytes: &[u8]) -> usize {
    bytes.iter().filter(|it| **it & 0xc0 != 0x80).count()
}

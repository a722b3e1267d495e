//! Shortens a record: leaves out members that no rule names, and replaces long values by marks. The
//! same walk decides whether the line is an object. Copies only what is kept.

use msg_json::{Kind, Reader};

use super::{FRAME, Mark};
use crate::edit::Value;
use crate::excerpt::Offsets;
use crate::link::measure;
use crate::{edit, texts};

/// Values up to this many bytes, quotes included, are kept.
const SHORT: usize = 40;

/// How deep rules look; deeper values become a mark.
const DEPTH: usize = 12;

/// Members whose lists and objects are walked.
const WALKED: [&str; 28] = [
    "$set",
    "attachment",
    "compactMetadata",
    "compressedHistory",
    "content",
    "data",
    "error",
    "functionCall",
    "functionResponse",
    "message",
    "messages",
    "metadata",
    "parts",
    "payload",
    "preservedMessages",
    "preservedSegment",
    "prompt",
    "replacement_history",
    "result",
    "source",
    "summaryContent",
    "systemPayload",
    "thoughts",
    "toolCall",
    "toolCalls",
    "toolRequests",
    "toolResult",
    "value",
];

/// Members whose text is compared or copied into other records, and therefore kept at any length.
const COMPARED: [&str; 30] = [
    "$rewindTo",
    "allUuids",
    "anchorUuid",
    "call_id",
    "execution",
    "firstKeptEntryId",
    "headUuid",
    "history_mode",
    "id",
    "logicalParentUuid",
    "media_type",
    "mimeType",
    "name",
    "parentId",
    "parentToolCallId",
    "parentUuid",
    "projectHash",
    "role",
    "session_id",
    "stopReason",
    "subtype",
    "tailUuid",
    "thread_id",
    "timestamp",
    "toolCallId",
    "tool_use_id",
    "turn_id",
    "type",
    "uuid",
    "uuids",
];

/// Members used in other ways: whether they exist, are empty, or are a number.
const ASKED: [&str; 44] = [
    "action",
    "agentVisible",
    "args",
    "arguments",
    "blockingError",
    "created",
    "cwd",
    "description",
    "encrypted_content",
    "excludeFromContext",
    "fileData",
    "fileUri",
    "file_id",
    "firstKeptEntryIndex",
    "hookEvent",
    "hookName",
    "inlineData",
    "input",
    "isApiErrorMessage",
    "isCompactSummary",
    "isError",
    "isMeta",
    "isSidechain",
    "is_error",
    "message_count",
    "num_turns",
    "ordinal",
    "output",
    "producer",
    "reasoningText",
    "response",
    "sessionId",
    "signature",
    "startTime",
    "subject",
    "success",
    "summary",
    "text",
    "thinking",
    "thought",
    "transformedContent",
    "url",
    "version",
    "working_dir",
];

/// The output for shortened records.
#[derive(Default)]
pub(super) struct Shortened {
    pub(super) text: String,
    pub(super) offsets: Offsets,
}

impl Shortened {
    /// Adds the record in a line whose clean text begins at `clean`. Does nothing if the line is not an object.
    pub(super) fn record(&mut self, line: &str, clean: u64) -> bool {
        let (text, omissions) = (self.text.len(), self.offsets.len());
        let mut walk = Walk {
            line,
            clean,
            copied: 0,
            has_lone_surrogates: edit::may_have_lone_surrogates(line.as_bytes()),
            has_frames: line.contains(FRAME),
            out: self,
        };
        let mut reader = Reader::from_text(line);
        if walk.object(&mut reader, DEPTH).is_some() && reader.finish().is_ok() {
            walk.copy(line.len());
            return true;
        }
        self.text.truncate(text);
        self.offsets.truncate(omissions);
        false
    }

    /// Adds a mark for `len` bytes of clean text from `clean` on.
    pub(super) fn whole_line(&mut self, len: u64, clean: u64) {
        let mark = Mark { at: clean, bytes: len, ..Mark::default() };
        self.stand_in(&mark.json(), clean + len);
    }

    /// Adds a blank line, without its line end.
    pub(super) fn blank(&mut self, text: &str, clean: u64) {
        if text.len() <= SHORT {
            self.text.push_str(text);
            return;
        }
        self.stand_in(" ", clean + text.len() as u64);
    }

    /// Adds a replacement for the clean text up to `clean_end`.
    fn stand_in(&mut self, text: &str, clean_end: u64) {
        self.text.push_str(text);
        let len = u8::try_from(text.len()).unwrap_or(u8::MAX);
        self.offsets.push(self.text.len(), len, clean_end);
    }
}

/// A walk over one line.
struct Walk<'l, 'o> {
    line: &'l str,
    clean: u64,
    /// The offset up to which the line is copied or left out.
    copied: usize,
    has_lone_surrogates: bool,
    has_frames: bool,
    out: &'o mut Shortened,
}

impl Walk<'_, '_> {
    fn object(&mut self, reader: &mut Reader<'_>, depth: usize) -> Option<()> {
        reader.begin_object().ok()?;
        // The start of members that are left out if another member follows.
        let mut gap: Option<(usize, Member)> = None;
        loop {
            let start = reader.next_offset();
            let Some(key) = reader.next_key().ok()? else { break };
            let start = start + self.line[start..].find('"')?;
            let name = &*key.text;
            let is_asked = is_among(&ASKED, name);
            let is_compared = !is_asked && is_among(&COMPARED, name);
            let is_walked = !is_asked && !is_compared && is_among(&WALKED, name);
            if is_asked || is_compared || is_walked {
                if let Some((from, _)) = gap.take() {
                    self.leave_out(from, start);
                }
                self.value(reader, depth, is_walked, is_compared, name == "data")?;
                continue;
            }
            let at = reader.next_offset();
            let source = reader.raw().ok()?;
            if self.has_lone_surrogates {
                // Sent content is repaired, whatever its name.
                self.mark_if_long(at, at + source.len(), false);
                continue;
            }
            let waiting = Member { key: start, at, end: at + source.len() };
            gap = Some((gap.map_or(start, |it| it.0), waiting));
        }
        // The last member is kept: new ones go after it.
        if let Some((from, last)) = gap {
            self.leave_out(from, last.key);
            self.mark_if_long(last.at, last.end, false);
        }
        Some(())
    }

    fn value(
        &mut self,
        reader: &mut Reader<'_>,
        depth: usize,
        is_walked: bool,
        is_compared: bool,
        is_data: bool,
    ) -> Option<()> {
        let is_walked = is_walked && depth > 0;
        match reader.peek().ok()? {
            Kind::Object if is_walked => return self.object(reader, depth - 1),
            Kind::Array if is_walked => return self.array(reader, depth - 1),
            _ => {}
        }
        let at = reader.next_offset();
        let source = reader.raw().ok()?;
        if !is_compared {
            self.mark_if_long(at, at + source.len(), is_data);
        }
        Some(())
    }

    fn array(&mut self, reader: &mut Reader<'_>, depth: usize) -> Option<()> {
        reader.begin_array().ok()?;
        while reader.next_element().ok()? {
            self.value(reader, depth, true, false, false)?;
        }
        Some(())
    }

    /// Copies up to `end`. The frame character of marks is escaped.
    fn copy(&mut self, end: usize) {
        while self.has_frames
            && let Some(at) = self.line[self.copied..end].find(FRAME)
        {
            let at = self.copied + at;
            self.out.text.push_str(&self.line[self.copied..at]);
            self.copied = at + FRAME.len_utf8();
            self.out.stand_in("\\ue000", self.clean + self.copied as u64);
        }
        self.out.text.push_str(&self.line[self.copied..end]);
        self.copied = end;
    }

    fn leave_out(&mut self, start: usize, end: usize) {
        if start < end {
            self.copy(start);
            self.copied = end;
            self.out.stand_in("", self.clean + end as u64);
        }
    }

    fn mark_if_long(&mut self, start: usize, end: usize, is_data: bool) {
        let source = &self.line[start..end];
        if source.len() <= SHORT || is_blank(source) {
            return;
        }
        self.copy(start);
        let lone_surrogates =
            if self.has_lone_surrogates { edit::count_lone_surrogates(source) } else { 0 };
        let value = Value { source, at: start };
        let measured = (is_data && source.starts_with('"')).then(|| measure(value));
        let mark = Mark {
            at: self.clean + start as u64,
            bytes: source.len() as u64,
            lone_surrogates,
            len: measured.map(|it| it.len),
            size: measured.and_then(|it| it.size),
            look: measured.map(|it| it.look),
            is_context: texts::is_context_source(source),
            is_mended: false,
        };
        self.copied = end;
        self.out.stand_in(&mark.json(), self.clean + end as u64);
    }
}

/// A member that may be left out.
#[derive(Clone, Copy)]
struct Member {
    key: usize,
    at: usize,
    end: usize,
}

fn is_among(names: &[&str], name: &str) -> bool {
    names.contains(&name)
}

/// Whether a value is a string of only white space, which the rules look at.
fn is_blank(source: &str) -> bool {
    let Some(inner) = source.strip_prefix('"').and_then(|it| it.strip_suffix('"')) else {
        return false;
    };
    let mut rest = inner;
    while let Some(after) = [" ", r"\n", r"\t", r"\r"].iter().find_map(|it| rest.strip_prefix(it)) {
        rest = after;
    }
    match rest.as_bytes() {
        [] => true,
        [b'\\', b'u' | b'f', ..] => msg_json::unescape(rest).text.trim().is_empty(),
        [128..=255, ..] => {
            rest.chars().next().is_some_and(char::is_whitespace)
                && msg_json::unescape(rest).text.trim().is_empty()
        }
        _ => false,
    }
}

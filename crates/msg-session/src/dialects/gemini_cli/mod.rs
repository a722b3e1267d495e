//! Gemini CLI: JSON lines that are replayed, or one document (SE-60 to SE-63).
//!
//! ```text
//! {"sessionId":"faff","projectHash":"7e89",…}                              the header
//! {"id":"m1","type":"user","content":[{"text":"read a"}]}
//! {"id":"m2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"result":[…]}]}
//! {"$rewindTo":"m2"}                                                       m2 and what follows goes
//! ```

mod calls;
mod replay;
mod view;

use std::borrow::Cow;

use super::{Checked, Format};
use crate::Error;
use crate::blob::Blob;
use crate::edit::Edit;
use crate::finding::{Finding, Place};
use crate::frame::{Array, Lines, read_array, read_lines};
use crate::json::{BLANKS, Object};
use crate::options::RepairOptions;
use crate::surrogate;
use crate::view::View;

use replay::Replay;

/// The dialect.
pub(crate) struct GeminiCli;

impl Format for GeminiCli {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        super::leaf_is_not_chosen(options)?;
        let file = File::read(blobs, options);
        let replay = Replay::of(&file);
        let mut view = view::of(&replay);
        view.findings = file.findings().to_vec();
        view.findings.extend(replay.findings);
        Ok(view)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let file = File::read(blobs, options);
        let mut findings = file.findings().to_vec();
        if let File::Document(array) = &file
            && !array.is_readable()
        {
            return Ok(Checked::unreadable(findings));
        }
        let mut replay = Replay::of(&file);
        let mut edits = std::mem::take(&mut replay.edits);
        findings.append(&mut replay.findings);
        for message in &replay.messages {
            calls::check(message, &mut findings, &mut edits);
            let found = surrogate::mend(message.value);
            findings.extend(super::lone_surrogates(message.place, &found));
            edits.extend(found);
        }
        let records = file.records();
        if !replay.has_header && records > 0 {
            let message = "the session has no header, without which the agent does not load it";
            findings.push(Finding::error("session::missing-header", Place::line(1), message));
        }
        Ok(Checked::of_text(file.text(), records, records - replay.removed, findings, edits))
    }
}

/// A session of either form.
pub(super) enum File<'a> {
    Lines(Lines<'a>),
    Document(Array<'a>),
}

impl<'a> File<'a> {
    fn read(blobs: &'a [Blob], options: &RepairOptions) -> Self {
        let bytes = super::only(blobs);
        let name = blobs.first().map_or("", |it| &it.name);
        if is_document(name, bytes) {
            return File::Document(read_array(bytes, Some("messages")));
        }
        File::Lines(read_lines(bytes, options.max_record, |_, _| {}))
    }

    fn findings(&self) -> &[Finding] {
        match self {
            File::Lines(it) => &it.findings,
            File::Document(it) => &it.findings,
        }
    }

    fn text(&self) -> &str {
        match self {
            File::Lines(it) => &it.text,
            File::Document(it) => &it.text,
        }
    }

    /// How many records there are; a document is one at least.
    fn records(&self) -> usize {
        match self {
            File::Lines(it) => it.records.len(),
            File::Document(it) => it.records.len() + 1,
        }
    }
}

/// Whether the file is one document: its name says so, or its first line is no whole object.
fn is_document(name: &str, bytes: &[u8]) -> bool {
    if name.ends_with(".json") {
        return true;
    }
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]);
    let text = text.trim_start_matches('\u{feff}').trim_start_matches(BLANKS);
    let first = text.lines().next().unwrap_or_default();
    match Object::whole(first, 0) {
        Some(it) => it.has("messages") && it.has("sessionId"),
        None => first.trim_end_matches(BLANKS) == "{",
    }
}

/// Whether these members are those of a header.
pub(super) fn is_header(object: &Object<'_>) -> bool {
    object.has("sessionId") && object.has("projectHash")
}

/// An id as text.
pub(super) fn id_of<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    object.text("id").filter(|it| !it.is_empty())
}

/// What replaces or extends the calls of a message.
pub(super) type Edits = Vec<Edit>;

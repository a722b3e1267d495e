//! Gemini CLI: JSON lines that are replayed, or one document (SE-60 to SE-63).
//!
//! ```text
//! {"sessionId":"faff","projectHash":"7e89",…}                              the header
//! {"id":"m1","type":"user","content":[{"text":"read a"}]}
//! {"id":"m2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"result":[…]}]}
//! {"$rewindTo":"m2"}                                                       m2 and what follows goes
//! ```

mod calls;
mod results;
mod view;

use std::borrow::Cow;

use super::file::File;
use super::{Checked, Format, LineRules, Mends};
use crate::Error;
use crate::blob::Blob;
use crate::edit::Edit;
use crate::finding::{Finding, Place};
use crate::frame::{Lines, read_array};
use crate::json::{BLANKS, Object};
use crate::options::RepairOptions;
use crate::surrogate;
use crate::view::View;

use crate::dialects::gemini_cli::view::Replay;

/// The dialect.
pub(crate) struct GeminiCli;

impl Format for GeminiCli {
    fn view(&self, blobs: &[Blob], options: &RepairOptions) -> Result<View, Error> {
        view(File::Array(&read_array(super::only(blobs), Some("messages"))), options)
    }

    fn check(&self, blobs: &[Blob], options: &RepairOptions) -> Result<Checked, Error> {
        let array = read_array(super::only(blobs), Some("messages"));
        if !array.is_readable() {
            return Ok(Checked::unreadable(array.findings));
        }
        Ok(Checked::of_mends(&array.text, check(File::Array(&array), options)?))
    }

    fn line_rules(&self, name: &str, start: &[u8]) -> Option<&dyn LineRules> {
        (!is_document(name, start)).then_some(self)
    }
}

impl LineRules for GeminiCli {
    fn view_lines(&self, lines: &Lines<'_>, options: &RepairOptions) -> Result<View, Error> {
        view(File::Lines(lines), options)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &RepairOptions,
    ) -> Result<Mends, Error> {
        check(File::Lines(lines), options)
    }
}

fn view(file: File<'_>, options: &RepairOptions) -> Result<View, Error> {
    let replay = Replay::of(file, options)?;
    let mut view = view::of(&replay);
    view.findings = file.findings().to_vec();
    view.findings.extend(replay.findings);
    view.branches = replay.branches;
    Ok(view)
}

fn check(file: File<'_>, options: &RepairOptions) -> Result<Mends, Error> {
    let mut findings = file.findings().to_vec();
    let mut replay = Replay::of(file, options)?;
    let mut edits = std::mem::take(&mut replay.edits);
    findings.append(&mut replay.findings);
    let answered = results::in_records(&replay.messages);
    for message in &replay.messages {
        calls::check(message, &answered, &mut findings, &mut edits);
        if !message.is_sent() {
            continue;
        }
        let found = surrogate::mend(message.value, file.has_marks());
        findings.extend(super::lone_surrogates(message.place, found.count));
        edits.extend(found.edits);
    }
    let mut removed = results::check(file, &replay.messages);
    findings.append(&mut removed.findings);
    edits.append(&mut removed.edits);
    if let Some(place) = replay.bad_header {
        let message = "the header has no projectHash: Gemini CLI cannot read the file, and deletes it at its next start";
        findings.push(Finding::error("session::bad-header", place, message));
    }
    // A document is one record at least.
    let records = file.len() + usize::from(matches!(file, File::Array(_)));
    if !replay.has_header && records > 0 {
        let message = "the session has no header, without which the agent does not load it";
        findings.push(Finding::error("session::missing-header", Place::line(1), message));
    }
    let left = records.saturating_sub(replay.removed + removed.records);
    Ok(Mends::new(records, left, findings, edits))
}

/// Whether the file is one document: its first line has the messages or is not a whole object, and where the line
/// leaves it open the name says so.
fn is_document(name: &str, bytes: &[u8]) -> bool {
    let is_named = name.ends_with(".json");
    let text = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 20)]);
    let text = text.trim_start_matches('\u{feff}').trim_start_matches(BLANKS);
    let first = text.lines().next().unwrap_or_default();
    match Object::whole(first, 0) {
        Some(it) => it.has("messages") && (is_named || it.has("sessionId")),
        None => is_named || first.trim_end_matches(BLANKS) == "{",
    }
}

/// Whether these members are those of a header.
pub(super) fn is_header(object: &Object<'_>) -> bool {
    object.has("sessionId") && (object.has("projectHash") || object.has("startTime"))
}

/// Whether a header says of which project it is, without which Gemini CLI cannot read the file (SE-133).
pub(super) fn has_project(header: &Object<'_>) -> bool {
    header.text("projectHash").is_some_and(|it| !it.is_empty())
}

/// An id as text.
pub(super) fn id_of<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    object.text("id").filter(|it| !it.is_empty())
}

/// What replaces or extends the calls of a message.
pub(super) type Edits = Vec<Edit>;

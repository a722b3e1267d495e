//! Gemini CLI: JSON lines that are replayed, or one document (SE-60 to SE-63).
//!
//! ```text
//! {"sessionId":"faff","projectHash":"7e89",…}                              the header
//! {"id":"m1","type":"user","content":[{"text":"read a"}]}
//! {"id":"m2","type":"gemini","content":"","toolCalls":[{"id":"c1","name":"read_file","args":{},"result":[…]}]}
//! {"$rewindTo":"m2"}                                                       m2 and what follows goes
//! ```
//!
//! A session of Gemini CLI has a header, then one message per line; results are in their calls. Qwen Code also writes
//! Gemini's parts.

use std::{borrow::Cow, collections::HashSet};

use msg_core::{Message, Origin, Part, Report, Role, ToolResult};
use msg_json::{Writer, to_text};

use super::{Checked, Format, LineRules, Mends, Write};
use crate::Error;
use crate::dialects::frameworks::writing::Media;
use crate::dialects::gemini_cli::results::Stored;
use crate::dialects::gemini_cli::view::{Kind, Replay};
use crate::dialects::records::File;
use crate::edit::{BLANKS, Edit, Object, Value, drop_elements, set_member};
use crate::error::{Finding, SessionOptions, SessionPlace};
use crate::frame::{Lines, read_array};
use crate::parts::INTERRUPTED;
use crate::source::Blob;
use crate::view::View;
use crate::write::{
    WriteOptions, data_url, media_of_result, object_of, parts_but_results, project_hash,
    results_after, spoken, text_of, text_of_result, write_arguments, write_own,
};

mod results;
mod view;

/// The dialect.
pub(crate) struct GeminiCli;

impl Format for GeminiCli {
    fn view(&self, blobs: &[Blob], options: &SessionOptions) -> Result<View, Error> {
        view(File::Array(&read_array(super::only(blobs), Some("messages"))), options)
    }

    fn check(&self, blobs: &[Blob], options: &SessionOptions) -> Result<Checked, Error> {
        let array = read_array(super::only(blobs), Some("messages"));
        if !array.is_readable() {
            return Ok(Checked::unreadable(array.findings));
        }
        Ok(Checked::of_mends(&array.text, check(File::Array(&array), options)?))
    }

    fn line_rules(&self, name: &str, start: &[u8]) -> Option<&dyn LineRules> {
        (!is_document(name, start)).then_some(self)
    }

    fn writer(&self) -> Option<Write> {
        Some(write)
    }
}

impl LineRules for GeminiCli {
    fn view_lines(&self, lines: &Lines<'_>, options: &SessionOptions) -> Result<View, Error> {
        view(File::Lines(lines), options)
    }

    fn check_lines(
        &self,
        lines: &Lines<'_>,
        _: &str,
        options: &SessionOptions,
    ) -> Result<Mends, Error> {
        check(File::Lines(lines), options)
    }

    fn leaves(&self, lines: &Lines<'_>, leaves: &[usize]) -> Vec<Option<Vec<usize>>> {
        view::leaves(lines, leaves)
    }
}

fn view(file: File<'_>, options: &SessionOptions) -> Result<View, Error> {
    let replay = Replay::of(file, options)?;
    let mut view = view::of(&replay);
    view.findings = file.findings().to_vec();
    view.findings.extend(replay.findings);
    view.branches = replay.branches;
    Ok(view)
}

fn check(file: File<'_>, options: &SessionOptions) -> Result<Mends, Error> {
    let mut findings = file.findings().to_vec();
    let mut replay = Replay::of(file, options)?;
    let mut edits = std::mem::take(&mut replay.edits);
    findings.append(&mut replay.findings);
    let answered = in_records(&replay.messages);
    for message in &replay.messages {
        check_calls(message, &answered, &mut findings, &mut edits);
        if !message.is_sent() {
            continue;
        }
        let to = (&mut findings, &mut edits);
        super::replace_lone_surrogates(Some(message.value), message.place, file.has_marks(), to);
    }
    let mut removed = check_results(file, &replay.messages, &answered);
    findings.append(&mut removed.findings);
    edits.append(&mut removed.edits);
    if let Some((place, name)) = replay.bad_header {
        let message = format!(
            "the header has no {name}: Gemini CLI cannot read the file, and deletes it at its next start"
        );
        findings.push(Finding::error("session::bad-header", place, message));
    }
    // A document counts as at least one record.
    let records = file.len() + usize::from(matches!(file, File::Array(_)));
    if !replay.has_header && records > 0 {
        let message = "the session has no header, without which the agent does not load it";
        findings.push(Finding::error("session::missing-header", SessionPlace::line(1), message));
    }
    let left = records.saturating_sub(replay.removed + removed.records);
    Ok(Mends::new(records, left, findings, edits))
}

/// Whether the file is one document: its first line contains the messages or is not a complete object. If the line is
/// ambiguous, the file name decides.
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

/// Whether the object is a header.
pub(super) fn is_header(object: &Object<'_>) -> bool {
    object.has("sessionId") && (object.has("projectHash") || object.has("startTime"))
}

/// The session or project member that the header lacks; Gemini CLI cannot read the file without it (SE-133).
pub(super) fn lacks(header: &Object<'_>) -> Option<&'static str> {
    let lacks = |it: &&str| header.text(it).is_none_or(|it| it.is_empty());
    ["projectHash", "sessionId"].into_iter().find(lacks)
}

/// An id as text.
pub(super) fn id_of<'a>(object: &Object<'a>) -> Option<Cow<'a, str>> {
    object.text("id").filter(|it| !it.is_empty())
}

/// Edits that replace or extend the calls of a message.
pub(super) type Edits = Vec<Edit>;

// Calls without a result, and results that name another call (SE-62, SE-63).

/// Checks the calls of a message for missing results, neither beside them nor in `answered`, and for results that name
/// another call.
fn check_calls(
    message: &view::Message<'_>,
    answered: &HashSet<String>,
    findings: &mut Vec<Finding>,
    edits: &mut Edits,
) {
    if message.kind != Kind::Gemini {
        return;
    }
    let (place, message) = (message.place, &message.object);
    let calls = message.list("toolCalls");
    let mut ids = HashSet::new();
    for (at, call) in calls.iter().enumerate() {
        let Some(call) = call.object() else { continue };
        ids.extend(id_of(&call));
        let place = place.with_block(at);
        match Stored::of(&call) {
            Stored::None | Stored::Bare(_)
                if id_of(&call).is_some_and(|it| answered.contains(&*it)) => {}
            Stored::None => {
                findings.push(unanswered(&call, place));
                edits.push(set_member(&call, "result", result(&call)));
            }
            stored => results::check(&call, &stored, place, findings, edits),
        }
    }
    let missing: Vec<_> = content_calls(message)
        .filter(|it| id_of(it).is_some_and(|id| !ids.contains(&id) && !answered.contains(&*id)))
        .collect();
    if !missing.is_empty() {
        findings.extend(missing.iter().map(|it| unanswered(it, place)));
        edits.push(append(message, &calls, &missing));
    }
}

/// The calls in the content.
fn content_calls<'a>(message: &Object<'a>) -> impl Iterator<Item = Object<'a>> {
    let parts = results::parts(message, "content");
    parts.into_iter().filter_map(|it| it.get("functionCall")?.object())
}

fn unanswered(call: &Object<'_>, place: SessionPlace) -> Finding {
    let name = id_of(call).or_else(|| call.text("name")).unwrap_or_default();
    let message = format!("call `{name}` has no result");
    Finding::error("session::unanswered-call", place, message)
        .mended("insert an error result that says the call was interrupted", false)
}

/// The JSON of a result for an unanswered call.
fn result(call: &Object<'_>) -> String {
    let (id, name) = (source(call, "id"), source(call, "name"));
    format!(
        r#"[{{"functionResponse":{{"id":{id},"name":{name},"response":{{"error":"{INTERRUPTED}"}}}}}}]"#
    )
}

fn source<'a>(object: &Object<'a>, name: &str) -> &'a str {
    object.get(name).map_or("\"\"", |it| it.source)
}

/// Adds entries for calls of the content that lack one.
fn append(message: &Object<'_>, calls: &[Value<'_>], missing: &[Object<'_>]) -> Edit {
    let time = message.get("timestamp");
    let time = time.map(|it| format!(",\"timestamp\":{}", it.source)).unwrap_or_default();
    let entry = |call: &Object<'_>| {
        let args = call.get("args").map_or("{}", |it| it.source);
        let (id, name, result) = (source(call, "id"), source(call, "name"), result(call));
        format!(
            r#"{{"id":{id},"name":{name},"args":{args},"result":{result},"status":"error"{time}}}"#
        )
    };
    let entries = missing.iter().map(entry).collect::<Vec<_>>().join(",");
    match calls.last() {
        Some(last) => Edit::insert(last.end(), format!(",{entries}")),
        None => set_member(message, "toolCalls", format!("[{entries}]")),
    }
}

// Results in user records (SE-133): Gemini CLI writes results there a second time and sends both.

/// The ids of the results in user records.
fn in_records(messages: &[view::Message<'_>]) -> HashSet<String> {
    let users = messages.iter().filter(|it| it.kind == Kind::User);
    let parts = users.flat_map(|it| results::parts(&it.object, "content"));
    parts.filter_map(|it| response_id(&it)).collect()
}

/// The ids of the results stored with their calls; `answered` are the calls that have a result in a record.
fn with_calls(
    message: &view::Message<'_>,
    answered: &HashSet<String>,
) -> impl Iterator<Item = String> + use<> {
    let mut res = Vec::new();
    for call in message.object.list("toolCalls").iter().filter_map(|it| it.object()) {
        match Stored::of(&call) {
            Stored::None => continue,
            Stored::Parts(parts) => res.extend(parts.iter().filter_map(response_id)),
            Stored::Bare(_) if id_of(&call).is_some_and(|it| answered.contains(&*it)) => continue,
            Stored::Text(_) | Stored::Bare(_) => {}
        }
        res.extend(id_of(&call).map(|it| it.into_owned()));
    }
    res.into_iter()
}

fn response_id(part: &Value<'_>) -> Option<String> {
    let response = part.get("functionResponse")?.object()?;
    id_of(&response).map(|it| it.into_owned())
}

/// What to remove from user records.
struct Removed {
    findings: Vec<Finding>,
    edits: Vec<Edit>,
    /// The number of removed records.
    records: usize,
}

/// Removes results that answer no call or an already answered one, and records that become empty.
fn check_results(
    file: File<'_>,
    messages: &[view::Message<'_>],
    in_records: &HashSet<String>,
) -> Removed {
    let mut res = Removed { findings: Vec::new(), edits: Vec::new(), records: 0 };
    let (mut answered, mut called) = (HashSet::new(), HashSet::new());
    for message in messages {
        match message.kind {
            Kind::Gemini => {
                called.extend(call_ids(&message.object));
                answered.extend(with_calls(message, in_records));
            }
            Kind::User => {
                let parts = results::parts(&message.object, "content");
                let mut dropped = HashSet::new();
                for (at, part) in parts.iter().enumerate() {
                    let Some(id) = response_id(part) else { continue };
                    let (code, text) = match (called.contains(&id), answered.insert(id.clone())) {
                        (true, true) => continue,
                        (true, false) => (
                            "session::duplicate-result",
                            format!("the result of the call {id} is stored twice"),
                        ),
                        (false, _) => {
                            let text = format!("tool result `{id}` matches no earlier call");
                            ("session::orphan-result", text)
                        }
                    };
                    dropped.insert(at);
                    let finding = Finding::error(code, message.place.with_block(at), text);
                    res.findings.push(finding.mended("remove the result", false));
                }
                if !dropped.is_empty() {
                    remove(file, message, &parts, &dropped, &mut res);
                }
            }
            Kind::Note => {}
        }
    }
    res
}

fn remove(
    file: File<'_>,
    message: &view::Message<'_>,
    parts: &[Value<'_>],
    dropped: &HashSet<usize>,
    to: &mut Removed,
) {
    if dropped.len() < parts.len() {
        return to.edits.extend(drop_elements(parts, |it| dropped.contains(&it)));
    }
    let is_a_record = file.value(message.record).is_some_and(|it| it.at == message.value.at);
    if is_a_record {
        to.edits.extend(file.drop(&[message.record]));
        to.records += 1;
    } else if let (Some(first), Some(last)) = (parts.first(), parts.last()) {
        to.edits.push(Edit::remove(first.at..last.end()));
    }
}

/// The ids of all calls of an answer, wherever they are stored.
fn call_ids(message: &Object<'_>) -> Vec<String> {
    let content = results::parts(message, "content");
    let in_content = content.iter().filter_map(|it| it.get("functionCall")?.object());
    let list = message.list("toolCalls");
    let in_list = list.iter().filter_map(|it| it.object());
    in_content.chain(in_list).filter_map(|it| id_of(&it).map(|it| it.into_owned())).collect()
}

fn write(messages: &[Message], options: &WriteOptions, _: &mut Report) -> Vec<u8> {
    let mut out = Vec::new();
    Writer::new(&mut out).object(|it| {
        it.key("sessionId").str(&options.session_id);
        it.key("projectHash").str(&project_hash(&options.cwd));
        it.key("startTime").str(&options.now);
        it.key("lastUpdated").str(&options.now);
        it.key("kind").str("main");
    });
    out.push(b'\n');
    for line in lines(messages, options) {
        out.extend_from_slice(line.as_bytes());
        out.push(b'\n');
    }
    out
}

/// The messages as lines of JSON.
pub(crate) fn lines(messages: &[Message], options: &WriteOptions) -> Vec<String> {
    spoken(messages)
        .map(|at| to_text(|it| it.object(|it| message(it, messages, at, options))))
        .collect()
}

fn message(it: &mut Writer<'_>, messages: &[Message], at: usize, options: &WriteOptions) {
    let message = &messages[at];
    it.key("id").str(&format!("m{at}"));
    it.key("timestamp").str(&options.now);
    if message.role != Role::Assistant {
        it.key("type").str("user");
        it.key("content").array(parts_but_results(message), user_part);
        return;
    }
    it.key("type").str("gemini");
    it.key("content").str(&text_of(message));
    it.key("thoughts").array(message.reasoning(), |it, thought| {
        it.object(|it| {
            it.key("description").str(&thought.display_text());
            it.key("timestamp").str(&options.now);
        });
    });
    let results: Vec<_> = results_after(messages, at).collect();
    if message.tool_calls().next().is_some() {
        it.key("toolCalls").array(message.tool_calls(), |it, call| {
            it.object(|it| {
                it.key("id").str(&call.id);
                it.key("name").str(&call.name);
                write_arguments(it.key("args"), call);
                let result = results.iter().find(|it| it.call_id == call.id);
                if let Some(result) = result {
                    it.key("result").array([result], |it, result| response(it, &call.name, result));
                }
                let failed = result.is_none_or(|it| it.is_error);
                it.key("status").str(if failed { "error" } else { "success" });
                it.key("timestamp").str(&options.now);
            });
        });
    }
}

pub(crate) fn user_part(it: &mut Writer<'_>, part: &Part) {
    if write_own(it, part, &Origin::Gemini) {
        return;
    }
    it.object(|it| match part {
        Part::Image(image) if data_url(image).is_some() => {
            let (kind, data) = data_url(image).unwrap_or_default();
            it.key("inlineData").object(|it| {
                it.key("mimeType").str(kind);
                it.key("data").str(data);
            });
        }
        Part::Image(image) => it.key("fileData").object(|it| {
            if let Some(media) = Media::of(part).filter(|_| image.url.is_some()) {
                it.key("mimeType").str(media.media_type);
            }
            it.key("fileUri").str(image.url.as_deref().unwrap_or_default());
        }),
        part => it.key("text").str(part.as_text().unwrap_or_default()),
    });
}

/// An image or a file of a result.
fn response_part(it: &mut Writer<'_>, part: &Part) {
    let Some(media) = Media::of(part) else { return it.null() };
    let (member, source) = match media.data {
        Some(_) => ("inlineData", "data"),
        None => ("fileData", "fileUri"),
    };
    it.object(|it| {
        it.key(member).object(|it| {
            it.key("mimeType").str(media.media_type);
            it.key(source).str(media.source());
        });
    });
}

pub(crate) fn response(it: &mut Writer<'_>, name: &str, result: &ToolResult) {
    it.object(|it| {
        it.key("functionResponse").object(|it| {
            it.key("id").str(&result.call_id);
            it.key("name").str(name);
            let member = if result.is_error { "error" } else { "output" };
            match object_of(result) {
                Some(object) => it.key("response").raw(&object),
                None => {
                    it.key("response").object(|it| it.key(member).str(&text_of_result(result)));
                }
            }
            let media = media_of_result(result);
            if !media.is_empty() {
                it.key("parts").array(media, response_part);
            }
        });
    });
}

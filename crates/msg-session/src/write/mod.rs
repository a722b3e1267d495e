//! Writes messages as a session of a dialect (SE-80 to SE-82), which its agent can resume.
//!
//! ```text
//! messages -> prepare (context, thoughts) -> the writer in `dialects` -> bytes -> read again: losses reported
//! ```
//!
//! Faults that prevent a resume are not repaired here: the caller passes a valid chain.
//!
//! Common parts of several writers: Anthropic blocks, arguments as JSON, results as text, the hash of a
//! folder.

use std::borrow::Cow;

use msg_codec::DataUrl;
use msg_core::{File, Image, Message, Origin, Part, Report, Role, ToolCall, ToolResult};
use msg_forms::OrderedResults;
use msg_json::{TextState, Writer, classify, to_text, write_compact};
use msg_openai::chat;
use serde::Deserialize;

use crate::dialects::frameworks::writing::Media;
use crate::dialects::{Write, format};
use crate::edit::{Edit, Object, Value, apply, quoted};
use crate::frame::read_lines;
use crate::{Dialect, Error, SessionOptions};

mod prepare;
mod project_hash;

pub(crate) use project_hash::project_hash;

/// Whether sessions of this dialect can be written.
pub fn has_writer(dialect: Dialect) -> bool {
    expect_writer(dialect).is_ok()
}

/// Fails if sessions of this dialect cannot be written, by this build or at all.
///
/// ```
/// use msg_session::{Dialect, Error, expect_writer};
/// let error = Error::NoWriter { dialect: Dialect::Kimi };
/// assert_eq!(expect_writer(Dialect::Kimi), Err(error));
/// ```
pub fn expect_writer(dialect: Dialect) -> Result<(), Error> {
    writer(dialect).map(|_| ())
}

fn writer(dialect: Dialect) -> Result<Write, Error> {
    let format = format(dialect);
    format.writer().ok_or_else(|| format.no_writer(dialect))
}

/// Writes messages as a session, and reports the parts that the dialect has no place for. Linear. Equal
/// input gives equal output.
///
/// ```
/// use msg_core::Message;
/// use msg_session::{Blob, Dialect, Session, WriteOptions, write};
///
/// let messages = [Message::user("Hi"), Message::assistant("Hello.")];
/// let (bytes, _) = write(Dialect::ClaudeCode, &messages, &WriteOptions::default())?;
/// let session = Session::new(Dialect::ClaudeCode, vec![Blob::new("s.jsonl", bytes)]);
/// assert_eq!(session.messages()?[1].text(), "Hello.");
/// # Ok::<(), msg_session::Error>(())
/// ```
///
/// # Errors
/// Sessions of this dialect are read, but not written.
pub fn write(
    dialect: Dialect,
    messages: &[Message],
    options: &WriteOptions,
) -> Result<(Vec<u8>, Report), Error> {
    let writer = writer(dialect)?;
    let mut report = Report::new();
    let prepared = prepare::prepare(dialect, messages, options, &mut report);
    let mut own = Report::new();
    let bytes = writer(&prepared.messages, options, &mut own);
    report.append(prepared.named_as_given(own));
    // The writer of chat messages reports its losses itself, with exact places.
    match dialect {
        Dialect::OpenAiJsonl => Ok((bytes, report)),
        _ => {
            Ok((prepare::report((dialect, writer), &prepared, options, bytes, &mut report), report))
        }
    }
}

// Options for written sessions.

/// Options for writing a session (SE-80 to SE-82). The caller supplies what a library cannot know: the
/// time, a new id, the folder.
///
/// ```
/// use msg_session::{ContextPolicy, WriteOptions};
/// let options = WriteOptions::default().with_cwd("/srv/app").with_context(ContextPolicy::Keep);
/// assert_eq!(options.cwd, "/srv/app");
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct WriteOptions {
    /// The agent's working folder.
    pub cwd: String,
    /// The id of the session; a UUID for agents that require one.
    pub session_id: String,
    /// The time of all records, RFC 3339 with milliseconds.
    pub now: String,
    /// The version of the agent to write in the records.
    pub version: String,
    /// What to do with system texts and context that an agent injected.
    pub context: ContextPolicy,
    /// What to do with reasoning that only its provider can verify.
    pub signatures: Signatures,
    /// The variant of a framework's store format; 0 is the usual one.
    #[serde(skip)]
    pub(crate) style: u8,
}

/// What to do with system texts and injected context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextPolicy {
    /// Leave them out: the other agent has its own.
    #[default]
    Drop,
    /// Keep them, if the dialect has a place for them.
    Keep,
}

/// What to do with signed and encrypted reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signatures {
    /// Leave it out: no other provider accepts it.
    #[default]
    Drop,
    /// Keep it, for a session that goes back into the dialect that it came from.
    Keep,
}

impl Default for WriteOptions {
    fn default() -> Self {
        Self {
            cwd: "/".to_owned(),
            session_id: "00000000-0000-4000-8000-000000000000".to_owned(),
            now: "1970-01-01T00:00:00.000Z".to_owned(),
            version: "0.0.0".to_owned(),
            context: ContextPolicy::default(),
            signatures: Signatures::default(),
            style: 0,
        }
    }
}

impl WriteOptions {
    /// The defaults.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Writes records like this session, the store of a framework: with the same version and names. Other sessions
    /// have a single form.
    ///
    /// ```
    /// use msg_core::Message;
    /// use msg_session::{Blob, Dialect, Session, WriteOptions, write};
    ///
    /// let flat = r#"[{"type":"human","content":"hi"}]"#;
    /// let session = Session::new(Dialect::LangChain, vec![Blob::new("", flat)]);
    /// let options = WriteOptions::default().in_style_of(&session);
    /// let (written, _) = write(Dialect::LangChain, &[Message::user("hi")], &options)?;
    /// assert_eq!(written, br#"[{"content":"hi","type":"human"}]"#);
    /// # Ok::<(), msg_session::Error>(())
    /// ```
    #[must_use]
    pub fn in_style_of(self, session: &crate::Session) -> Self {
        let store = crate::dialects::frameworks::store(session.dialect());
        let bytes = session.blobs().first().map_or(&[][..], |it| &it.bytes);
        Self { style: store.map_or(0, |it| it.style_of(bytes)), ..self }
    }
}

impl WriteOptions {
    msg_core::setters! {
        /// The folder that the agent works in.
        with_cwd(cwd: impl Into<String>) cwd = cwd.into();
        /// The id of the session.
        with_session_id(session_id: impl Into<String>) session_id = session_id.into();
        /// The time of all records.
        with_now(now: impl Into<String>) now = now.into();
        /// The version of the agent.
        with_version(version: impl Into<String>) version = version.into();
        /// What happens to system texts and injected context.
        with_context(context: ContextPolicy);
        /// What happens to signed thoughts.
        with_signatures(signatures: Signatures);
    }
}

// Writes a conversation as a line of a data set.

/// A fine-tuning line.
pub(crate) fn openai_jsonl(messages: &[Message], _: &WriteOptions, report: &mut Report) -> Vec<u8> {
    let mut list = Vec::new();
    report.append(chat::write(messages, &msg_openai::WriteOptions::canonical(), &mut list));
    let list = String::from_utf8(list).unwrap_or_default();
    to_text(|it| it.object(|it| it.key("messages").raw(&in_a_line(&list)))).into_bytes()
}

/// A ShareGPT conversation.
pub(crate) fn share_gpt(messages: &[Message], _: &WriteOptions, _: &mut Report) -> Vec<u8> {
    conversation(messages, &[], &[]).into_bytes()
}

/// A turn of a ShareGPT conversation.
struct ShareGptTurn {
    from: &'static str,
    value: String,
    /// Whether it is supervised; for answers for which this is known.
    weight: Option<bool>,
}

/// A ShareGPT conversation, with the weights of answers and the tools if these are known.
pub(crate) fn conversation(
    messages: &[Message],
    weights: &[Option<bool>],
    tools: &[String],
) -> String {
    // Turns have no ids: the first result answers the first call.
    let mut messages = messages.to_vec();
    OrderedResults::of(&mut messages);
    let mut turns: Vec<ShareGptTurn> = Vec::new();
    for (at, message) in messages.iter().enumerate() {
        let weight = weights.get(at).copied().flatten();
        let calls: Vec<_> = message.tool_calls().collect();
        let text = text_of(message);
        let mut results = message.tool_results().map(|it| ShareGptTurn {
            from: "observation",
            value: one_text(it.content.parts().iter().filter_map(Part::said)).into_owned(),
            weight: None,
        });
        if message.role != Role::Assistant {
            turns.extend(&mut results);
        }
        if !text.is_empty() && message.role != Role::Tool {
            turns.push(ShareGptTurn { from: from(message), value: text.into_owned(), weight });
        }
        if !calls.is_empty() {
            let value = to_text(|it| match calls.as_slice() {
                [call] => write_call(it, call),
                calls => it.array(calls, |it, call| write_call(it, call)),
            });
            turns.push(ShareGptTurn { from: "function_call", value, weight });
        }
        turns.extend(results);
    }
    to_text(|it| {
        it.object(|it| {
            it.key("conversations").array(turns, |it, turn| {
                it.object(|it| {
                    it.key("from").str(turn.from);
                    it.key("value").str(&turn.value);
                    if let Some(weight) = turn.weight {
                        it.key("weight").u64(u64::from(weight));
                    }
                });
            });
            if !tools.is_empty() {
                it.key("tools").str(&format!("[{}]", tools.join(",")));
            }
        });
    })
}

fn write_call(it: &mut Writer<'_>, call: &msg_core::ToolCall) {
    it.object(|it| {
        it.key("name").str(&call.name);
        write_arguments(it.key("arguments"), call);
    });
}

fn from(message: &Message) -> &'static str {
    match message.role {
        Role::System | Role::Developer => "system",
        Role::Assistant => "gpt",
        _ => "human",
    }
}

// Moves a session to another place (SE-81): only the id and the project folder change, wherever the agent looks for
// them.

/// The session `bytes` with the id `id`, for the project in the folder `cwd`. The id is in the header of Codex, Gemini
/// CLI, pi and Copilot CLI, and in each record of Claude Code and Qwen Code. The folder is in the header, and in the first
/// record of Qwen Code; Claude Code does not look for it in the file. Other dialects are returned unchanged. Linear.
///
/// ```
/// use msg_session::{Dialect, rehomed};
///
/// let header = br#"{"type":"session_meta","payload":{"id":"old","cwd":"/"}}"#.to_vec();
/// let moved = rehomed(Dialect::Codex, header, "new", "/srv");
/// assert_eq!(moved, br#"{"type":"session_meta","payload":{"id":"new","cwd":"/srv"}}"#);
/// ```
pub fn rehomed(dialect: Dialect, bytes: Vec<u8>, id: &str, cwd: &str) -> Vec<u8> {
    let lines = read_lines(&bytes, SessionOptions::default().max_record);
    // A damaged session is not changed; doctor repairs it.
    if !lines.findings.is_empty() {
        return bytes;
    }
    let objects = || (0..lines.records.len()).filter_map(|it| lines.object(it));
    let mut ids: Vec<_> = objects().filter_map(|it| Some(old_id(dialect, &it)?.span())).collect();
    let folder = objects().find_map(|it| Some(old_folder(dialect, &it)?.span()));
    if dialect == Dialect::Codex {
        // A fork repeats the header of its parent, which has another id.
        ids.truncate(1);
    }
    let mut edits: Vec<_> = ids.into_iter().map(|it| Edit::replace(it, quoted(id))).collect();
    let folder_now = match dialect {
        Dialect::GeminiCli => project_hash(cwd),
        _ => cwd.to_owned(),
    };
    edits.extend(folder.map(|it| Edit::replace(it, quoted(&folder_now))));
    apply(&lines.text, edits).into_bytes()
}

/// The header of a session, in dialects that wrap it in an envelope.
fn header<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Object<'a>> {
    let (kind, inner) = match dialect {
        Dialect::Codex => ("session_meta", Some("payload")),
        Dialect::CopilotCli => ("session.start", Some("data")),
        Dialect::Pi => ("session", None),
        _ => return None,
    };
    record.text("type").filter(|it| it == kind)?;
    match inner {
        Some(name) => record.inner(name),
        None => Some(record.clone()),
    }
}

/// The session id in a record.
fn old_id<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("id"),
        Dialect::CopilotCli => header(dialect, record)?.get("sessionId"),
        Dialect::ClaudeCode | Dialect::QwenCode | Dialect::GeminiCli => record.get("sessionId"),
        _ => None,
    }
}

/// The project folder in a record, or its hash.
fn old_folder<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("cwd"),
        Dialect::CopilotCli => header(dialect, record)?.inner("context")?.get("cwd"),
        Dialect::GeminiCli => record.get("projectHash"),
        Dialect::QwenCode => record.get("cwd"),
        _ => None,
    }
}

/// Arguments as the JSON object that a format requires; other text is wrapped in an object.
pub(crate) fn write_arguments(out: &mut Writer<'_>, call: &ToolCall) {
    let text = call.arguments.text();
    match classify(text) {
        TextState::Object => out.raw(&in_a_line(text.trim())),
        _ if text.trim().is_empty() => out.object(|_| {}),
        _ => out.object(|it| it.key("input").str(text)),
    }
}

/// The id of the record with this number: the session id with its last group replaced by the number.
pub(crate) fn record_id(session: &str, number: u64) -> String {
    let head = session.get(..24).filter(|it| session.len() == 36 && it.ends_with('-'));
    format!("{}{number:012x}", head.unwrap_or(NEW_ID))
}

/// The prefix of record ids in a session without a UUID.
pub(crate) const NEW_ID: &str = "00000000-0000-4000-8000-";

/// JSON without line ends, which would end the record.
pub(crate) fn in_a_line(json: &str) -> Cow<'_, str> {
    if !json.contains(['\n', '\r']) {
        return Cow::Borrowed(json);
    }
    let mut line = Vec::new();
    write_compact(&mut line, json);
    Cow::Owned(String::from_utf8(line).expect("because tokens of a text are text"))
}

/// Joins texts with line breaks, except where white space already separates them.
pub(crate) fn one_text<'p>(texts: impl Iterator<Item = &'p str>) -> Cow<'p, str> {
    let mut res = Cow::Borrowed("");
    for text in texts.filter(|it| !it.is_empty()) {
        if res.is_empty() {
            res = Cow::Borrowed(text);
            continue;
        }
        let is_apart = res.ends_with(char::is_whitespace) || text.starts_with(char::is_whitespace);
        let res = res.to_mut();
        res.push_str(if is_apart { "" } else { "\n" });
        res.push_str(text);
    }
    res
}

/// The texts of a message, joined.
pub(crate) fn text_of(message: &Message) -> Cow<'_, str> {
    one_text(message.parts.iter().filter_map(Part::as_text))
}

/// The texts of a result, joined.
pub(crate) fn text_of_result(result: &ToolResult) -> Cow<'_, str> {
    one_text(result.content.parts().iter().filter_map(Part::as_text))
}

/// Whether a part is an image or a file with known data or URL.
fn is_media(part: &Part) -> bool {
    Media::of(part).is_some_and(|it| it.data.is_some() || it.url.is_some())
}

/// The images and files of a result.
pub(crate) fn media_of_result(result: &ToolResult) -> Vec<&Part> {
    result.content.parts().iter().filter(|it| is_media(it)).collect()
}

/// The texts, images and files of a result; `None` if it has no images or files.
pub(crate) fn list_of_result(result: &ToolResult) -> Option<Vec<&Part>> {
    let parts = result.content.parts();
    let is_said = |it: &&Part| is_media(it) || it.as_text().is_some_and(|it| !it.is_empty());
    parts.iter().any(is_media).then(|| parts.iter().filter(is_said).collect())
}

/// A tool result that is an object, on one line. `None` for an error, and for an object that would be read as a Gemini
/// text.
pub(crate) fn object_of(result: &ToolResult) -> Option<Cow<'_, str>> {
    let [Part::Other(it)] = result.content.parts() else { return None };
    let is_text = |name: &str| matches!(name, "output" | "result" | "error");
    let members = it.value.members().filter(|_| it.format == Origin::Json && !result.is_error)?;
    (!members.iter().any(|it| is_text(&it.0))).then(|| in_a_line(it.value.text()))
}

/// Writes a tool result where any value is allowed: an object, or text.
pub(crate) fn write_given(it: &mut Writer<'_>, result: &ToolResult) {
    match object_of(result) {
        Some(object) => it.raw(&object),
        None => it.str(&text_of_result(result)),
    }
}

/// The results that answer the calls of an answer: those in the tool messages directly after it.
pub(crate) fn results_after(messages: &[Message], at: usize) -> impl Iterator<Item = &ToolResult> {
    let holds = |it: &&Message| it.role == Role::Tool || it.tool_results().next().is_some();
    let after = messages[at + 1..].iter().take_while(holds);
    after.flat_map(Message::tool_results)
}

/// The parts of a message in formats that store results with their calls.
pub(crate) fn parts_but_results(message: &Message) -> impl Iterator<Item = &Part> {
    message.parts.iter().filter(|it| it.as_tool_result().is_none())
}

/// The indexes of messages that contain anything other than results.
pub(crate) fn spoken(messages: &[Message]) -> impl Iterator<Item = usize> {
    let says = |it: &Message| it.role != Role::Tool && parts_but_results(it).next().is_some();
    (0..messages.len()).filter(move |at| says(&messages[*at]))
}

/// Writes an unparsed part unchanged if it belongs to the provider `own`; returns whether it did.
pub(crate) fn write_own(out: &mut Writer<'_>, part: &Part, own: &Origin) -> bool {
    let Some(value) = prepare::own_value(part, own) else { return false };
    out.raw(&in_a_line(value.text()));
    true
}

/// A part as an Anthropic block; the caller excludes parts that cannot be one.
pub(crate) fn write_block(out: &mut Writer<'_>, part: &Part) {
    if write_own(out, part, &Origin::Anthropic) {
        return;
    }
    out.object(|it| match part {
        Part::Text(text) | Part::Refusal(text) => write_text(it, &text.text),
        Part::Reasoning(thought) => match &thought.redacted {
            Some(data) => {
                it.key("type").str("redacted_thinking");
                it.key("data").str(data);
            }
            None => {
                it.key("type").str("thinking");
                it.key("thinking").str(&thought.display_text());
                if let Some(signature) = &thought.signature {
                    it.key("signature").str(signature);
                }
            }
        },
        Part::ToolCall(call) => {
            it.key("type").str("tool_use");
            it.key("id").str(&call.id);
            it.key("name").str(&call.name);
            write_arguments(it.key("input"), call);
        }
        Part::ToolResult(result) => write_result(it, result, None),
        Part::Image(image) => write_image(it, image),
        Part::File(file) => write_document(it, file),
        Part::Audio(_) | Part::Other(_) => write_text(it, "[a part that this format has not]"),
        _ => write_text(it, ""),
    });
}

fn write_text(it: &mut Writer<'_>, text: &str) {
    it.key("type").str("text");
    it.key("text").str(text);
}

/// The members of a result. The tool is named only if requested, because Anthropic rejects that member.
pub(crate) fn write_result(it: &mut Writer<'_>, result: &ToolResult, name: Option<&str>) {
    it.key("type").str("tool_result");
    it.key("tool_use_id").str(&result.call_id);
    if let Some(name) = name {
        it.key("name").str(name);
    }
    match result.content.as_text() {
        Some(text) => it.key("content").str(text),
        None => it.key("content").array(result.content.parts(), write_block),
    }
    if result.is_error {
        it.key("is_error").bool(true);
    }
}

/// A document: text as text, other data as base64 with its type.
fn write_document(it: &mut Writer<'_>, file: &File) {
    it.key("type").str("document");
    let data = file.data.as_deref();
    let url = data.and_then(|data| DataUrl::of(data, file.media_type.as_deref()));
    let text = url.filter(|it| it.essence().starts_with("text/")).and_then(DataUrl::text);
    it.key("source").object(|it| match (text, url, data) {
        (Some(text), ..) => {
            it.key("type").str("text");
            it.key("media_type").str("text/plain");
            it.key("data").str(&text);
        }
        (None, Some(url), _) => {
            it.key("type").str("base64");
            it.key("media_type").str(url.media_type);
            it.key("data").str(url.data);
        }
        (None, None, Some(data)) => {
            it.key("type").str("base64");
            it.key("media_type").str(file.media_type.as_deref().unwrap_or("application/pdf"));
            it.key("data").str(data);
        }
        (None, None, None) => write_source(it, file.url.as_deref(), file.file_id.as_deref()),
    });
    if let Some(name) = &file.filename {
        it.key("title").str(name);
    }
}

fn write_image(it: &mut Writer<'_>, image: &Image) {
    it.key("type").str("image");
    it.key("source").object(|it| match data_url(image) {
        Some((media_type, data)) => {
            it.key("type").str("base64");
            it.key("media_type").str(media_type);
            it.key("data").str(data);
        }
        None => write_source(it, image.url.as_deref(), image.file_id.as_deref()),
    });
}

/// The source of a file that is not inline: its URL, or else its provider id.
fn write_source(it: &mut Writer<'_>, url: Option<&str>, file_id: Option<&str>) {
    match (url, file_id) {
        (None, Some(id)) => {
            it.key("type").str("file");
            it.key("file_id").str(id);
        }
        (url, _) => {
            it.key("type").str("url");
            it.key("url").str(url.unwrap_or_default());
        }
    }
}

/// A part of a message whose tool parts are call and result in one (opencode, vercel-ui). `media_type` is the name of
/// that member.
pub(crate) fn write_ui_part(it: &mut Writer<'_>, part: &Part, media_type: &str) {
    let mut file = |kind: &str, url: Option<&str>| {
        it.key("type").str("file");
        it.key(media_type).str(kind);
        it.key("url").str(url.unwrap_or_default());
    };
    match part {
        Part::Image(image) => {
            let kind = Media::of(part).map_or("image/*", |it| it.media_type);
            file(kind, image.url.as_deref());
        }
        Part::File(other) => {
            let kind = other.media_type.as_deref().unwrap_or("application/octet-stream");
            file(kind, other.url.as_deref().or(other.data.as_deref()));
        }
        Part::Reasoning(thought) => {
            it.key("type").str("reasoning");
            it.key("text").str(&thought.display_text());
        }
        part => write_text(it, part.as_text().unwrap_or_default()),
    }
}

/// Media type and base64 of an inline image.
pub(crate) fn data_url(image: &Image) -> Option<(&str, &str)> {
    let rest = image.url.as_deref()?.strip_prefix("data:")?;
    rest.split_once(";base64,")
}

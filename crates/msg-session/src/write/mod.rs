//! Messages as a session of a dialect (SE-80 to SE-82): what its agent loads when it resumes.
//!
//! ```text
//! messages -> prepare (context, thoughts) -> the writer in `dialects` -> bytes -> read again: losses reported
//! ```
//!
//! What keeps an agent from resuming is not mended here: the caller gives a chain that is sound.

pub(crate) mod blocks;
mod prepare;

use msg_core::{Message, Part, Report, Role};
use msg_forms::OrderedResults;
use msg_json::{Writer, to_text};
use msg_openai::chat;
use serde::Deserialize;

use crate::dialects::format;
use crate::edit::{Edit, apply};
use crate::frame::read_lines;
use crate::json::{Object, Value, quoted};
use crate::write::blocks::{one_text, text_of, write_arguments};
use crate::{Dialect, Error, SessionOptions};

pub(crate) use crate::write::blocks::hex as project_hash;
pub(crate) use blocks::in_a_line;

/// Whether sessions of this dialect are written.
pub fn has_writer(dialect: Dialect) -> bool {
    format(dialect).writer().is_some()
}

/// Writes messages as a session, and says what the dialect has no place for. Linear; the same input has
/// the same output.
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
/// The dialect is read and not written.
pub fn write(
    dialect: Dialect,
    messages: &[Message],
    options: &WriteOptions,
) -> Result<(Vec<u8>, Report), Error> {
    let writer = format(dialect).writer().ok_or(Error::NoWriter { dialect })?;
    let mut report = Report::new();
    let prepared = prepare::prepare(dialect, messages, options, &mut report);
    let mut own = Report::new();
    let bytes = writer(&prepared.messages, options, &mut own);
    report.append(prepared.named_as_given(own));
    // The writer of chat messages says itself what it loses, and where more exactly.
    match dialect {
        Dialect::OpenAiJsonl => Ok((bytes, report)),
        _ => {
            Ok((prepare::report((dialect, writer), &prepared, options, bytes, &mut report), report))
        }
    }
}

// How a session is written: what the agent will find in it.

/// Options of writing a session (SE-80 to SE-82). The program fills in what a library does not know: the
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
    /// The folder that the agent works in.
    pub cwd: String,
    /// The id of the session, a UUID for agents that want one.
    pub session_id: String,
    /// The time of all records, RFC 3339 with milliseconds.
    pub now: String,
    /// The version of the agent that is named in the records.
    pub version: String,
    /// What happens to system texts and context that an agent injected.
    pub context: ContextPolicy,
    /// What happens to thoughts that only their provider can verify.
    pub signatures: Signatures,
    /// How a store of a framework writes what others of its kind write otherwise; 0 is the usual way.
    #[serde(skip)]
    pub(crate) style: u8,
}

/// What happens to system texts and injected context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ContextPolicy {
    /// They are left out: the other agent has its own.
    #[default]
    Drop,
    /// They go along, where the dialect has a place for them.
    Keep,
}

/// What happens to signed thoughts and encrypted reasoning.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Signatures {
    /// They are left out: no other provider takes them.
    #[default]
    Drop,
    /// They go along, back into the dialect that they came from.
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
    /// As the store of a framework that this session is writes its records: in the version and with the names that it
    /// has. Other sessions have one way.
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

macro_rules! builders {
    ($($(#[$doc:meta])* $name:ident: $field:ident, $type:ty;)*) => {
        impl WriteOptions {
            $($(#[$doc])*
            #[must_use]
            pub fn $name(mut self, $field: impl Into<$type>) -> Self {
                self.$field = $field.into();
                self
            })*
        }
    };
}

builders! {
    /// The folder that the agent works in.
    with_cwd: cwd, String;
    /// The id of the session.
    with_session_id: session_id, String;
    /// The time of all records.
    with_now: now, String;
    /// The version of the agent.
    with_version: version, String;
    /// What happens to system texts and injected context.
    with_context: context, ContextPolicy;
    /// What happens to signed thoughts.
    with_signatures: signatures, Signatures;
}

// A conversation as a line of a data set.

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
    /// Whether it is supervised, of an answer of which that is known.
    weight: Option<bool>,
}

/// A ShareGPT conversation with the weights of answers and the tools, where these are known.
pub(crate) fn conversation(
    messages: &[Message],
    weights: &[Option<bool>],
    tools: &[String],
) -> String {
    // Turns have no ids: the first result is that of the first call.
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

// A session in another place (SE-81): the same bytes, but for the id and the folder of the project wherever the agent
// looks for them.

/// The session `bytes` under the id `id`, of the project in the folder `cwd`. The id is in the header of Codex, Gemini
/// CLI, pi and Copilot CLI and in each record of Claude Code and Qwen Code; the folder is in the header, in the first
/// record of Qwen Code, and nowhere that Claude Code looks. Of other dialects the bytes are given back. Linear.
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
    // What has faults stays as it is: they are doctor's to mend.
    if !lines.findings.is_empty() {
        return bytes;
    }
    let objects = || (0..lines.records.len()).filter_map(|it| lines.object(it));
    let mut ids: Vec<_> = objects().filter_map(|it| Some(old_id(dialect, &it)?.span())).collect();
    let folder = objects().find_map(|it| Some(old_folder(dialect, &it)?.span()));
    if dialect == Dialect::Codex {
        // A fork repeats the header of its parent, whose id is another one.
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

/// The header of a session, of the dialects that have one in an envelope.
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

/// The id of the session that a record names.
fn old_id<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("id"),
        Dialect::CopilotCli => header(dialect, record)?.get("sessionId"),
        Dialect::ClaudeCode | Dialect::QwenCode | Dialect::GeminiCli => record.get("sessionId"),
        _ => None,
    }
}

/// The folder of the project that a record names, or its hash.
fn old_folder<'a>(dialect: Dialect, record: &Object<'a>) -> Option<Value<'a>> {
    match dialect {
        Dialect::Codex | Dialect::Pi => header(dialect, record)?.get("cwd"),
        Dialect::CopilotCli => header(dialect, record)?.inner("context")?.get("cwd"),
        Dialect::GeminiCli => record.get("projectHash"),
        Dialect::QwenCode => record.get("cwd"),
        _ => None,
    }
}

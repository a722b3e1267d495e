//! Messages as a session of a dialect (SE-80 to SE-82): what its agent loads when it resumes.
//!
//! ```text
//! messages -> prepare (context, thoughts) -> the dialect's writer -> bytes -> read again: losses reported
//! ```
//!
//! What keeps an agent from resuming is not mended here: the caller gives a chain that is sound.

pub(crate) mod atif;
pub(crate) mod blocks;
pub(crate) mod claude_code;
mod cline;
pub(crate) mod codex;
mod copilot_cli;
pub(crate) mod data_sets;
pub(crate) mod gemini_cli;
mod goose;
mod losses;
mod opencode;
mod pi;
mod prepare;
mod qwen_code;
mod sha256;

use msg_core::{Message, Report};
use serde::Deserialize;

use crate::{Dialect, Error};

pub(crate) use blocks::in_a_line;
pub(crate) use sha256::hex as project_hash;

type Write = fn(&[Message], &WriteOptions, &mut Report) -> Vec<u8>;

fn writer(dialect: Dialect) -> Option<Write> {
    if let Some(store) = crate::dialects::frameworks::store(dialect) {
        return Some(store.write);
    }
    Some(match dialect {
        Dialect::ClaudeCode => claude_code::write,
        Dialect::Codex => codex::write,
        Dialect::GeminiCli => gemini_cli::write,
        Dialect::QwenCode => qwen_code::write,
        Dialect::Pi => pi::write,
        Dialect::CopilotCli => copilot_cli::write,
        Dialect::Atif => atif::write,
        Dialect::Goose => goose::write,
        Dialect::OpenCode => opencode::write,
        Dialect::Cline => cline::write,
        Dialect::ShareGpt => data_sets::share_gpt,
        Dialect::OpenAiJsonl => data_sets::openai_jsonl,
        _ => return None,
    })
}

/// Whether sessions of this dialect are written.
pub fn has_writer(dialect: Dialect) -> bool {
    writer(dialect).is_some()
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
    let writer = writer(dialect).ok_or(Error::NoWriter { dialect })?;
    let mut report = Report::new();
    let prepared = prepare::prepare(dialect, messages, options, &mut report);
    let mut own = Report::new();
    let bytes = writer(&prepared.messages, options, &mut own);
    report.append(prepared.named_as_given(own));
    // The writer of chat messages says itself what it loses, and where more exactly.
    if dialect != Dialect::OpenAiJsonl {
        losses::report(dialect, &prepared, &bytes, &mut report);
    }
    Ok((bytes, report))
}

// How a session is written: what the agent will find in it.

/// Options of writing a session (SE-80 to SE-82). The program fills in what a library does not know: the
/// time, a new id, the folder.
///
/// ```
/// use msg_session::{Context, WriteOptions};
/// let options = WriteOptions::default().with_cwd("/srv/app").with_context(Context::Keep);
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
    pub context: Context,
    /// What happens to thoughts that only their provider can verify.
    pub signatures: Signatures,
    /// How a store of a framework writes what others of its kind write otherwise; 0 is the usual way.
    #[serde(skip)]
    pub(crate) style: u8,
}

/// What happens to system texts and injected context.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Context {
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
            context: Context::default(),
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
    with_context: context, Context;
    /// What happens to signed thoughts.
    with_signatures: signatures, Signatures;
}

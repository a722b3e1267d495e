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
mod options;
mod pi;
mod prepare;
mod qwen_code;
mod sha256;

use msg_core::{Message, Report};

use crate::{Dialect, Error};

pub(crate) use blocks::in_a_line;
pub use options::{Context, Signatures, WriteOptions};
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

//! What of a conversation goes along into another agent (SE-80): context and thoughts that are left out are
//! reported.

use msg_core::{Code, Diagnostic, Message, Part, Report, Role};

use super::blocks::data_url;
use crate::Dialect;
use crate::context;
use crate::write::{Context, Signatures, WriteOptions};

/// The messages that are written.
#[derive(Default)]
pub(super) struct Prepared {
    pub(super) messages: Vec<Message>,
    /// Of each part the message and part that it was.
    pub(super) places: Vec<Vec<(usize, usize)>>,
}

impl Prepared {
    /// What was found in these messages, with the places that the caller's messages have.
    pub(super) fn named_as_given(&self, found: Report) -> Report {
        let mut res = Report::new();
        for mut it in found.into_vec() {
            let places = it.at.message.and_then(|at| self.places.get(at));
            let part = places.and_then(|places| places.get(it.at.part.unwrap_or(0)));
            if let Some((message, part)) = part {
                it.at.message = Some(*message);
                it.at.part = it.at.part.map(|_| *part);
            }
            res.push(it);
        }
        res
    }
}

pub(super) fn prepare(
    dialect: Dialect,
    messages: &[Message],
    options: &WriteOptions,
    report: &mut Report,
) -> Prepared {
    let mut res = Prepared::default();
    for (at, message) in messages.iter().enumerate() {
        let drops_context = options.context == Context::Drop && is_agent(dialect);
        if drops_context && message.role.is_system() {
            report.push(lost(at, 0, INJECTED));
            continue;
        }
        let mut message = message.clone();
        let parts = std::mem::take(&mut message.parts);
        let mut places = Vec::with_capacity(parts.len());
        for (n, mut part) in parts.into_iter().enumerate() {
            if drops_context && message.role == Role::User {
                match own_words(&mut part) {
                    Own::All => {}
                    Own::Some => report.push(lost(
                        at,
                        n,
                        "context that the agent injected is left out of the text",
                    )),
                    Own::None => {
                        report.push(lost(at, n, INJECTED));
                        continue;
                    }
                }
            }
            match why_lost(dialect, &part, options) {
                Some(why) => report.push(lost(at, n, why)),
                None => {
                    message.parts.push(as_said(dialect, part));
                    places.push((at, n));
                }
            }
        }
        if !message.parts.is_empty() {
            res.messages.push(message);
            res.places.push(places);
        }
    }
    res
}

const INJECTED: &str = "context that the agent injected is dropped";

/// How much of a part the user said.
enum Own {
    All,
    Some,
    None,
}

/// Leaves the words of the user in a text, judged by itself (SE-131).
fn own_words(part: &mut Part) -> Own {
    let Part::Text(text) = part else { return Own::All };
    match context::words(&text.text) {
        None => Own::All,
        Some(words) if words.trim().is_empty() => Own::None,
        Some(words) => {
            text.text = words;
            Own::Some
        }
    }
}

/// A refusal is a text but where OpenAI's messages and items are kept.
fn as_said(dialect: Dialect, part: Part) -> Part {
    match part {
        Part::Refusal(it)
            if !matches!(dialect, Dialect::Codex | Dialect::AgentsSdk | Dialect::OpenAiJsonl) =>
        {
            Part::Text(it)
        }
        it => it,
    }
}

/// Whether the dialect is of an agent, which has a system text of its own.
fn is_agent(dialect: Dialect) -> bool {
    matches!(
        dialect,
        Dialect::ClaudeCode
            | Dialect::Codex
            | Dialect::GeminiCli
            | Dialect::Goose
            | Dialect::OpenCode
            | Dialect::Cline
            | Dialect::QwenCode
            | Dialect::Pi
            | Dialect::CopilotCli
            | Dialect::Adk
    )
}

/// Why a part is left out, if it does.
fn why_lost(dialect: Dialect, part: &Part, options: &WriteOptions) -> Option<&'static str> {
    let Part::Reasoning(it) = part else {
        return why_unwritten(dialect, part);
    };
    // A trajectory is a record, which no provider is asked to verify.
    if options.signatures == Signatures::Keep || dialect == Dialect::Atif {
        return None;
    }
    if it.is_signed() {
        return Some("a thought that only its own provider can verify");
    }
    // These providers take no thought without a signature.
    let needs_signature = matches!(
        dialect,
        Dialect::ClaudeCode | Dialect::Cline | Dialect::Codex | Dialect::AgentsSdk
    );
    needs_signature.then_some("a thought without a signature, which the provider refuses")
}

/// Why a part that is not a thought has no form in the dialect, if it has none.
fn why_unwritten(dialect: Dialect, part: &Part) -> Option<&'static str> {
    let is_store = crate::dialects::frameworks::store(dialect).is_some();
    let has_items = dialect == Dialect::AgentsSdk;
    let is_missing = match part {
        // What is known by an id of its provider alone.
        Part::Image(it) if is_store && !has_items && it.url.is_none() => true,
        Part::File(it) if is_store && !has_items && it.data.is_none() && it.url.is_none() => true,
        Part::Other(_) => return Some("a part that only its own format has"),
        Part::Audio(_) => dialect != Dialect::OpenAiJsonl,
        Part::File(it) if dialect == Dialect::Haystack => it.data.is_none(),
        Part::File(_) => matches!(
            dialect,
            Dialect::Goose
                | Dialect::GeminiCli
                | Dialect::ShareGpt
                | Dialect::QwenCode
                | Dialect::Pi
                | Dialect::CopilotCli
                | Dialect::Atif
                | Dialect::AutoGen
        ),
        Part::Image(it) => match dialect {
            Dialect::Goose | Dialect::Pi | Dialect::Haystack | Dialect::AutoGen => {
                data_url(it).is_none()
            }
            Dialect::Atif => super::atif::image_path(it).is_none(),
            Dialect::ShareGpt | Dialect::CopilotCli => true,
            _ => false,
        },
        _ => false,
    };
    is_missing.then_some("the format has no place for it")
}

fn lost(message: usize, part: usize, why: &'static str) -> Diagnostic {
    Diagnostic::warning(Code::new("convert::lost-part"), why).at_part(message, part)
}

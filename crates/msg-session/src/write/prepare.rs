//! What of a conversation goes along into another agent (SE-80): context and thoughts that stay behind are
//! reported.

use msg_core::{Code, Diagnostic, Message, Part, Report, Role};

use super::options::{Context, Signatures, WriteOptions};
use crate::Dialect;

pub(super) fn prepare(
    dialect: Dialect,
    messages: &[Message],
    options: &WriteOptions,
    report: &mut Report,
) -> Vec<Message> {
    let mut res = Vec::with_capacity(messages.len());
    for (at, message) in messages.iter().enumerate() {
        if options.context == Context::Drop && is_context(message) && is_agent(dialect) {
            report.push(lost(at, 0, "context that the agent injected stays behind"));
            continue;
        }
        let mut message = message.clone();
        let parts = std::mem::take(&mut message.parts);
        for (n, part) in parts.into_iter().enumerate() {
            match why_lost(dialect, &part, options) {
                Some(why) => report.push(lost(at, n, why)),
                None => message.parts.push(part),
            }
        }
        if !message.parts.is_empty() {
            res.push(message);
        }
    }
    res
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
    )
}

/// System texts, and what an agent says as the user.
fn is_context(message: &Message) -> bool {
    const MARKS: [&str; 6] = [
        "<environment_context>",
        "<user_instructions>",
        "<system-reminder>",
        "<environment_details>",
        "<permissions instructions>",
        "# AGENTS.md instructions",
    ];
    let text = message.text();
    message.role.is_system()
        || message.role == Role::User && MARKS.iter().any(|it| text.trim_start().starts_with(it))
}

/// Why a part stays behind, if it does.
fn why_lost(dialect: Dialect, part: &Part, options: &WriteOptions) -> Option<&'static str> {
    let Part::Reasoning(it) = part else {
        return matches!(part, Part::Other(_)).then_some("a part that only its own format has");
    };
    if options.signatures == Signatures::Keep {
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

pub(super) fn lost(message: usize, part: usize, why: &'static str) -> Diagnostic {
    Diagnostic::warning(Code::new("convert::lost-part"), why).at_part(message, part)
}

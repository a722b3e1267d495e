//! The defects of a chain, and how each is reported: code, severity, sentence, and the edit that mends it.
//!
//! Defects are kept as numbers and become diagnostics once, at the end, in the order of the input.

use std::borrow::Cow;

use msg_core::{Code, Diagnostic, Part, Severity, with_article};
use msg_json::{Edit, Edits};

use super::{Rules, rules::Chain};
use crate::arguments::mended_code;

/// A defect at a message, and at a part of it where it concerns a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defect {
    pub(super) message: u32,
    pub(super) part: Option<u32>,
    pub(super) what: What,
    /// The edit that mends it, if one is made.
    pub(super) fix: Option<&'static str>,
    /// Whether the provider accepts it, so that it is reported and left as it is (CA-70a).
    pub(super) accepted: bool,
}

/// The rules of the chain, each with what its sentence depends on beside the place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    MisspelledRole { meant: &'static str },
    UnknownRole,
    FirstAssistant,
    FirstResult,
    RepeatedSystem,
    MisplacedSystem,
    LaterSystem,
    ConsecutiveUser,
    MissingResult,
    LateResult,
    EarlyResult,
    DuplicateResult { other: u32 },
    OrphanResult,
    EmptyResultId,
    EmptyCallId,
    DuplicateCallId,
    NamelessCall,
    SurplusCall,
    MisplacedPart,
    EmptyToolMessage,
    MissingKind,
    EmptyArguments,
    InvalidArguments,
    MendedArguments { edits: Edits },
    NameMismatch { call: (u32, u32) },
    EmptyMessage,
}

impl Defect {
    /// The diagnostic of the defect. Its texts are static wherever they can be, and a sentence that names the call is
    /// put together when it is read: what a repair says of a call costs one allocation, the id.
    fn diagnostic(&self, chain: Chain<'_>) -> Diagnostic {
        let (code, sentence) = self.what.row();
        let (severity, code) = (self.severity(), Code::new(code));
        let mut it = match sentence {
            "" => Diagnostic::new(severity, code, self.sentence(chain)),
            sentence => Diagnostic::about_call(severity, code, sentence),
        };
        it.at.message = Some(self.message as usize);
        if let Some(part) = self.part {
            it.at.part = Some(part as usize);
            it.at.tool_call_id = self.id(chain).map(str::to_owned);
        }
        if let What::DuplicateResult { other } = self.what {
            it.at.other_message = Some(other as usize);
        }
        if self.accepted {
            it.set_message(format!("{}, which is accepted here", it.message()));
        }
        it.fix = self.fix.map(Cow::Borrowed);
        it
    }

    /// Whether a repair by these rules mends it.
    pub(super) fn is_mended(&self, rules: Rules<'_>) -> bool {
        let is_asked = match self.what {
            What::EmptyArguments | What::InvalidArguments => rules.sanitizes(),
            What::MendedArguments { .. } => true,
            _ => false,
        };
        let is_asked = is_asked || rules.completes_calls();
        self.fix.is_some() && (is_asked || self.severity() == Severity::Error)
    }

    fn severity(&self) -> Severity {
        match self.what {
            _ if self.accepted => Severity::Info,
            What::MendedArguments { edits } if !edits.contains(Edit::Completed) => {
                Severity::Warning
            }
            What::MissingKind
            | What::EmptyArguments
            | What::InvalidArguments
            | What::NameMismatch { .. }
            | What::EmptyMessage => Severity::Warning,
            _ => Severity::Error,
        }
    }

    fn id<'m>(&self, chain: Chain<'m>) -> Option<&'m str> {
        match chain.part(self.message, self.part?)? {
            Part::ToolCall(it) => Some(&it.id),
            Part::ToolResult(it) => Some(&it.call_id),
            _ => None,
        }
    }

    /// What is wrong, where the sentence says more of the messages than the id of the call.
    fn sentence(&self, chain: Chain<'_>) -> String {
        let role = chain.message(self.message).role.as_str();
        match self.what {
            What::MisspelledRole { meant } => format!("role `{role}` should be spelled `{meant}`"),
            What::UnknownRole => format!("unknown role `{role}`"),
            What::DuplicateResult { other } => {
                let id = self.id(chain).unwrap_or_default();
                format!(
                    "duplicate result for tool call `{id}`, the other one is in message {other}"
                )
            }
            What::MisplacedPart => {
                let part = self.part.and_then(|it| chain.part(self.message, it));
                let kind = part.map_or("part", Part::kind);
                format!("{} part in {} message", with_article(kind), with_article(role))
            }
            What::NameMismatch { call } => {
                let result = self.part.and_then(|it| chain.result(self.message, it));
                let result = result.and_then(|it| it.name.as_deref());
                let call = chain.call(call.0, call.1).map_or("", |it| &it.name);
                format!("tool result is named `{}`, its call `{call}`", result.unwrap_or_default())
            }
            What::MendedArguments { edits } => format!("arguments are nearly JSON: {edits}"),
            What::EmptyMessage => format!("{} message without content", with_article(role)),
            _ => format!("{} message after the conversation began", with_article(role)),
        }
    }
}

impl What {
    /// The code, and what is wrong; `{id}` is replaced by the id of the call. Without a sentence where that says more of
    /// the messages.
    fn row(self) -> (&'static str, &'static str) {
        match self {
            What::MisspelledRole { .. } | What::UnknownRole => ("chain::unknown-role", ""),
            What::FirstAssistant => {
                ("chain::unexpected-first-role", "the first message is from the assistant")
            }
            What::FirstResult => {
                ("chain::unexpected-first-role", "the first message is a tool result")
            }
            What::RepeatedSystem => {
                ("chain::repeated-system", "a second system message at the start")
            }
            What::MisplacedSystem => ("chain::misplaced-system", ""),
            What::LaterSystem => ("profile::later-system", ""),
            What::ConsecutiveUser => ("chain::consecutive-user", "two user messages in a row"),
            What::MissingResult => ("chain::missing-tool-result", "tool call `{id}` has no result"),
            What::LateResult => {
                ("chain::late-tool-result", "the result of `{id}` comes after another message")
            }
            What::EarlyResult => {
                ("chain::early-tool-result", "the result of `{id}` comes before its call")
            }
            What::DuplicateResult { .. } => ("chain::duplicate-tool-result", ""),
            What::OrphanResult => {
                ("chain::orphan-tool-result", "tool result `{id}` matches no tool call")
            }
            What::EmptyResultId => {
                ("chain::empty-result-id", "a tool result without a tool call id")
            }
            What::EmptyCallId => ("chain::empty-call-id", "a tool call without an id"),
            What::DuplicateCallId => {
                ("chain::duplicate-call-id", "duplicate tool call id `{id}` in one message")
            }
            What::NamelessCall => ("chain::nameless-call", "a tool call without a name"),
            What::SurplusCall => {
                ("chain::summarization-results", "a summarization pair with more than one call")
            }
            What::MisplacedPart => ("chain::misplaced-part", ""),
            What::EmptyToolMessage => {
                ("chain::empty-tool-message", "a tool message without a result")
            }
            What::MissingKind => ("chain::missing-call-kind", "a tool call without a kind"),
            What::EmptyArguments => ("chain::empty-arguments", "empty argument text"),
            What::InvalidArguments => ("chain::invalid-arguments", "arguments are not JSON"),
            What::MendedArguments { edits } => (mended_code(edits), ""),
            What::NameMismatch { .. } => ("chain::result-name-mismatch", ""),
            What::EmptyMessage => ("chain::empty-message", ""),
        }
    }
}

/// The diagnostics of all defects, in the order of the input: by message, then part; what concerns the whole message
/// comes first.
pub(crate) fn diagnostics(mut defects: Vec<Defect>, chain: Chain<'_>) -> Vec<Diagnostic> {
    // Stable, and linear on what an analysis gives: a few sorted runs.
    defects.sort_by_key(|it| (it.message, it.part));
    defects.iter().map(|it| it.diagnostic(chain)).collect()
}

//! The defects of a chain, and how each is reported: code, severity, sentence, and the edit that mends it.
//!
//! Defects are kept as numbers and become diagnostics once, at the end, in the order of the input.

use std::borrow::Cow;

use msg_core::{Code, Diagnostic, Part, Severity, with_article};

use super::chain::Chain;

/// A defect at a message, and at a part of it where it concerns a part.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defect {
    pub(crate) message: u32,
    pub(crate) part: Option<u32>,
    pub(crate) what: What,
    /// Whether the provider accepts it, so that it is reported and left as it is (CA-70a).
    pub(crate) accepted: bool,
}

/// The rules of the chain, each with what the edit that mends it depends on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum What {
    UnknownRole(RoleEdit),
    FirstAssistant { dropped: bool },
    FirstResult(OrphanEdit),
    RepeatedSystem,
    MisplacedSystem { leads: bool },
    LaterSystem,
    ConsecutiveUser,
    MissingResult,
    LateResult,
    EarlyResult,
    DuplicateResult { other: u32 },
    OrphanResult(OrphanEdit),
    EmptyResultId,
    EmptyCallId,
    DuplicateCallId,
    NamelessCall(NameEdit),
    SurplusCall,
    MisplacedPart(PartEdit),
    EmptyToolMessage { read: bool },
    MissingKind,
    EmptyArguments,
    InvalidArguments { sanitized: bool },
    NameMismatch { call: (u32, u32) },
    EmptyMessage,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RoleEdit {
    Spelled(&'static str),
    Dropped,
    AsUser,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum OrphanEdit {
    Dropped,
    Answers,
    CallAdded,
    OwnPair,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum NameEdit {
    Result,
    Unknown,
    Removed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum PartEdit {
    ResultBefore,
    ResultBehind,
    CallRemoved,
    Joined,
}

impl Defect {
    /// The order of the input: by message, then part; a defect of the whole message comes first.
    pub(crate) fn key(&self) -> (u32, Option<u32>) {
        (self.message, self.part)
    }

    /// The edit that mends it, if one does and it is made.
    pub(crate) fn fix(&self) -> Option<&'static str> {
        self.what.fix().filter(|_| !self.accepted)
    }

    /// The diagnostic of the defect. Its texts are static wherever they can be, and a sentence that names the call is
    /// put together when it is read: what a repair says of a call costs one allocation, the id.
    pub(crate) fn diagnostic(&self, chain: Chain<'_>) -> Diagnostic {
        let (severity, code) = (self.severity(), self.what.code());
        let mut it = match self.what.sentence(self, chain) {
            Cow::Borrowed(sentence) => Diagnostic::about_call(severity, code, sentence),
            sentence => Diagnostic::new(severity, code, sentence),
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
        it.fix = self.fix().map(Cow::Borrowed);
        it
    }

    fn severity(&self) -> Severity {
        if self.accepted { Severity::Info } else { self.what.severity() }
    }

    fn id<'m>(&self, chain: Chain<'m>) -> Option<&'m str> {
        match chain.part(self.message, self.part?)? {
            Part::ToolCall(it) => Some(&it.id),
            Part::ToolResult(it) => Some(&it.call_id),
            _ => None,
        }
    }
}

impl What {
    pub(crate) fn severity(self) -> Severity {
        match self {
            What::MissingKind
            | What::EmptyArguments
            | What::InvalidArguments { .. }
            | What::NameMismatch { .. }
            | What::EmptyMessage => Severity::Warning,
            _ => Severity::Error,
        }
    }

    fn code(self) -> Code {
        Code::new(match self {
            What::UnknownRole(_) => "chain::unknown-role",
            What::FirstAssistant { .. } | What::FirstResult(_) => "chain::unexpected-first-role",
            What::RepeatedSystem => "chain::repeated-system",
            What::MisplacedSystem { .. } => "chain::misplaced-system",
            What::LaterSystem => "profile::later-system",
            What::ConsecutiveUser => "chain::consecutive-user",
            What::MissingResult => "chain::missing-tool-result",
            What::LateResult => "chain::late-tool-result",
            What::EarlyResult => "chain::early-tool-result",
            What::DuplicateResult { .. } => "chain::duplicate-tool-result",
            What::OrphanResult(_) => "chain::orphan-tool-result",
            What::EmptyResultId => "chain::empty-result-id",
            What::EmptyCallId => "chain::empty-call-id",
            What::DuplicateCallId => "chain::duplicate-call-id",
            What::NamelessCall(_) => "chain::nameless-call",
            What::SurplusCall => "chain::summarization-results",
            What::MisplacedPart(_) => "chain::misplaced-part",
            What::EmptyToolMessage { .. } => "chain::empty-tool-message",
            What::MissingKind => "chain::missing-call-kind",
            What::EmptyArguments => "chain::empty-arguments",
            What::InvalidArguments { .. } => "chain::invalid-arguments",
            What::NameMismatch { .. } => "chain::result-name-mismatch",
            What::EmptyMessage => "chain::empty-message",
        })
    }

    /// The edit that mends it, if one does.
    pub(crate) fn fix(self) -> Option<&'static str> {
        Some(match self {
            What::UnknownRole(edit) => match edit {
                RoleEdit::Spelled(_) => "read as the role that it spells",
                RoleEdit::Dropped => "dropped the message",
                RoleEdit::AsUser => "read as user",
            },
            What::FirstAssistant { dropped: true } => "dropped the message",
            What::FirstAssistant { dropped: false } => "inserted a user message before it",
            What::FirstResult(edit) | What::OrphanResult(edit) => edit.text(),
            What::RepeatedSystem => "merged into the first",
            What::MisplacedSystem { leads: true } => "moved to the front",
            What::MisplacedSystem { leads: false } => "merged into the system message at the front",
            What::LaterSystem => "made a user message",
            What::ConsecutiveUser => "merged into the one before",
            What::MissingResult => "inserted a placeholder result",
            What::LateResult | What::EarlyResult => "moved behind its call",
            What::DuplicateResult { .. } => "dropped, the other one stays",
            What::EmptyResultId => "answers a call of its pair",
            What::EmptyCallId | What::DuplicateCallId => "given a fresh id",
            What::NamelessCall(NameEdit::Result) => "named after its result",
            What::NamelessCall(NameEdit::Unknown) => "named unknown_tool",
            What::NamelessCall(NameEdit::Removed) => "removed the call",
            What::SurplusCall => "moved the other calls to a message of their own",
            What::MisplacedPart(edit) => edit.text(),
            What::EmptyToolMessage { read: true } => "read as a result without an id",
            What::EmptyToolMessage { read: false } => "dropped the message",
            What::MissingKind => "set to function",
            What::EmptyArguments => "set to {}",
            What::InvalidArguments { sanitized: true } => "made valid JSON",
            What::InvalidArguments { sanitized: false }
            | What::NameMismatch { .. }
            | What::EmptyMessage => return None,
        })
    }

    /// What is wrong; `{id}` stands for the id of the call.
    fn sentence(self, at: &Defect, chain: Chain<'_>) -> Cow<'static, str> {
        Cow::Borrowed(match self {
            What::FirstAssistant { .. } => "the first message is from the assistant",
            What::FirstResult(_) => "the first message is a tool result",
            What::RepeatedSystem => "a second system message at the start",
            What::ConsecutiveUser => "two user messages in a row",
            What::MissingResult => "tool call `{id}` has no result",
            What::LateResult => "the result of `{id}` comes after another message",
            What::EarlyResult => "the result of `{id}` comes before its call",
            What::OrphanResult(_) => "no call has the id `{id}`",
            What::EmptyResultId => "a tool result without a tool call id",
            What::EmptyCallId => "a tool call without an id",
            What::DuplicateCallId => "the id `{id}` occurs twice in one message",
            What::NamelessCall(_) => "a tool call without a name",
            What::SurplusCall => "a summarization pair with more than one call",
            What::EmptyToolMessage { .. } => "a tool message without a result",
            What::MissingKind => "a tool call without a kind",
            What::EmptyArguments => "empty argument text",
            What::InvalidArguments { .. } => "arguments are not JSON",
            What::UnknownRole(_)
            | What::MisplacedSystem { .. }
            | What::LaterSystem
            | What::DuplicateResult { .. }
            | What::MisplacedPart(_)
            | What::NameMismatch { .. }
            | What::EmptyMessage => return Cow::Owned(self.special_sentence(at, chain)),
        })
    }

    /// What is wrong, where the sentence says more of the messages than the id of the call.
    fn special_sentence(self, at: &Defect, chain: Chain<'_>) -> String {
        let role = chain.message(at.message).role.as_str();
        match self {
            What::UnknownRole(RoleEdit::Spelled(meant)) => {
                format!("role `{role}` is not spelled `{meant}`")
            }
            What::UnknownRole(_) => format!("role `{role}` is not known"),
            What::MisplacedSystem { .. } | What::LaterSystem => {
                format!("{} message after the conversation began", with_article(role))
            }
            What::DuplicateResult { other } => {
                let id = at.id(chain).unwrap_or_default();
                format!("this result and the one in message {other} answer the same call `{id}`")
            }
            What::MisplacedPart(_) => {
                let part = at.part.and_then(|it| chain.part(at.message, it));
                let kind = part.map_or("part", Part::kind);
                format!("{} part in {} message", with_article(kind), with_article(role))
            }
            What::NameMismatch { call } => {
                let result = at.part.and_then(|it| chain.result(at.message, it));
                let result = result.and_then(|it| it.name.as_deref());
                let call = chain.call(call.0, call.1).map_or("", |it| &it.name);
                format!("the result is named `{}`, its call `{call}`", result.unwrap_or_default())
            }
            _ => format!("{} message without content", with_article(role)),
        }
    }
}

impl OrphanEdit {
    fn text(self) -> &'static str {
        match self {
            OrphanEdit::Dropped => "dropped the result",
            OrphanEdit::Answers => "answers the summarization call",
            OrphanEdit::CallAdded => "added a call for it",
            OrphanEdit::OwnPair => "added a call for it in a message of its own",
        }
    }
}

impl PartEdit {
    fn text(self) -> &'static str {
        match self {
            PartEdit::ResultBefore => "moved to a tool message before it",
            PartEdit::ResultBehind => "moved to a tool message behind it",
            PartEdit::CallRemoved => "removed the call",
            PartEdit::Joined => "joined to the content of the result",
        }
    }
}

/// The diagnostics of all defects, in the order of the input.
pub(crate) fn diagnostics(mut defects: Vec<Defect>, chain: Chain<'_>) -> Vec<Diagnostic> {
    // Stable, and linear on what an analysis gives: a few sorted runs.
    defects.sort_by_key(Defect::key);
    defects.iter().map(|it| it.diagnostic(chain)).collect()
}

//! The defects of a chain, with their reports: code, severity, sentence, and the edit that repairs it.
//!
//! Defects are stored as numbers and converted to diagnostics once, at the end, in the order of the
//! input.

use std::{borrow::Cow, sync::LazyLock};

use msg_core::{Code, Diagnostic, Message, Part, Severity, ToolCall, ToolResult, with_article};
use msg_json::{Edits, RelaxedEdit};

use crate::constants::TOOL_CALL_ID_PATTERN;
use crate::ids::{IdPattern, mended_code};
use crate::options::{BadArguments, ChainCheckOptions, ChainRepairOptions, RequestThinking};
use crate::profile::{Acceptance, LaterResults, Profile};

/// A defect of a message, or of one of its parts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Defect {
    pub(super) message: u32,
    pub(super) part: Option<u32>,
    pub(super) what: What,
    /// The edit that repairs it, if there is one.
    pub(super) fix: Option<&'static str>,
    /// Whether the provider accepts it. It is then reported and not repaired (CA-70a).
    pub(super) accepted: bool,
}

/// The rules of the chain, each with the details of its sentence besides the place.
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
    /// The diagnostic of the defect. Its texts are static where possible, and a sentence with the call's id is
    /// composed when it is read. Each diagnostic about a call costs only one allocation, for the id.
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

    /// Whether a repair with these rules repairs it.
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
            What::MendedArguments { edits } if !edits.contains(RelaxedEdit::Completed) => {
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

    /// The sentence, if it contains more of the messages than the id of the call.
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
    /// The code, and the sentence with `{id}` in the place of the call's id. Without a sentence if that contains more
    /// of the messages.
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

/// The diagnostics of all defects in input order: by message, then by part. Those about the whole message come
/// first.
pub(crate) fn diagnostics(mut defects: Vec<Defect>, chain: Chain<'_>) -> Vec<Diagnostic> {
    // Stable, and linear on what an analysis gives: a few sorted runs.
    msg_core::sort_by_rank(&mut defects, |it| (it.message, it.part));
    defects.iter().map(|it| it.diagnostic(chain)).collect()
}

// The rules of an analysis: the options of a repair, and the rules of the strict chain that are enforced. Also its
// messages, as a list or as references into a tree.
//
// A tree is always a strict chain; a list is judged by what its provider refuses (CA-70a). Rules of a provider beyond
// those of the chain are in `conform`.

/// Diagnostics about argument texts. A separate option repairs them.
const ARGUMENTS: [&str; 2] = ["chain::invalid-arguments", "chain::empty-arguments"];

/// The rules of an analysis.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) options: &'a ChainRepairOptions,
    pub(crate) check: ChainCheckOptions,
    pub(crate) profile: Option<&'a Profile>,
    /// Whether findings that are not errors are wanted.
    pub(crate) warnings: bool,
    pub(crate) enforced: Enforced,
    /// Whether a tree is built from the messages.
    pub(crate) is_tree: bool,
}

impl<'a> Rules<'a> {
    /// The strict chain, as required by a tree (CA-10).
    pub(crate) fn strict(options: &'a ChainRepairOptions) -> Self {
        let ChainRepairOptions { check, profile, .. } = options;
        let (check, profile) = (*check, profile.as_deref());
        Rules { options, check, profile, warnings: true, enforced: Enforced::STRICT, is_tree: true }
    }

    /// The rules of the options' profile, else the strict chain.
    pub(crate) fn of_list(options: &'a ChainRepairOptions) -> Self {
        Rules { options, ..Rules::of_check(options.check, options.profile.as_deref()) }
    }

    /// The rules of the profile, else the strict chain.
    pub(crate) fn of_check(check: ChainCheckOptions, profile: Option<&'a Profile>) -> Self {
        let mut enforced = profile.map_or(Enforced::STRICT, Enforced::by);
        enforced.async_calls |= profile.is_none();
        if profile.is_none() && check.several_systems {
            enforced.repeated_system = false;
        }
        if profile.is_none() && check.several_users {
            enforced.consecutive_user = false;
        }
        if check.continued {
            enforced.first_role = false;
            enforced.user_message = false;
            enforced.leading_results =
                profile.is_some_and(|it| it.leading_results == Acceptance::Reject);
        }
        let doubts_signatures = profile.is_some_and(|it| it.doubts("reasoning_require"));
        enforced.call_signatures = !(check.own_format && doubts_signatures);
        enforced.thinking = check.thinking;
        enforced.null_content =
            check.own_format && profile.is_some_and(|it| it.null_content == Acceptance::Reject);
        let options = ChainRepairOptions::standard();
        Rules { options, check, profile, warnings: true, enforced, is_tree: false }
    }

    /// The pattern of fresh ids.
    pub(crate) fn id_pattern(self) -> &'a IdPattern {
        static DEFAULT: LazyLock<IdPattern> = LazyLock::new(|| {
            TOOL_CALL_ID_PATTERN.parse().expect("because the constant is a pattern")
        });
        let of_profile = || self.profile.map(|it| &it.id_pattern);
        self.options.id_pattern.as_ref().or_else(of_profile).unwrap_or(&DEFAULT)
    }

    /// Whether a repair covers the diagnostic: errors, and warnings or arguments if the options include
    /// them.
    pub(crate) fn mends(self, found: &Diagnostic) -> bool {
        let code = found.code.as_str();
        found.is_error()
            || self.options.all
            || self.is_strict() && code.starts_with("chain::")
            || self.sanitizes() && ARGUMENTS.contains(&code)
            || code == "arguments::mended"
    }

    /// Whether to add missing kinds and arguments of calls. An analysis only warns of them.
    pub(crate) fn completes_calls(self) -> bool {
        self.is_strict() || self.options.all
    }

    /// Whether the chain must be strict: for a tree, or without a provider.
    fn is_strict(self) -> bool {
        self.is_tree || self.profile.is_none()
    }

    /// The rules that the steps of a profile need.
    pub(crate) fn scope(self) -> Scope {
        Scope { enforced: self.enforced, all: self.options.all }
    }

    /// Whether argument texts that are not JSON are replaced.
    pub(crate) fn sanitizes(self) -> bool {
        self.options.arguments == BadArguments::Sanitize
    }

    /// The same rules, reporting only errors.
    pub(crate) fn errors_only(self) -> Self {
        Rules { warnings: false, ..self }
    }
}

/// The rules for the steps of a profile, and how much they repair.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) enforced: Enforced,
    /// Whether to repair warnings too.
    pub(crate) all: bool,
}

/// Which rules of the strict chain are enforced; a defect by another one is reported as information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Enforced {
    /// No user message directly after another.
    pub(crate) consecutive_user: bool,
    /// No assistant message first.
    pub(crate) first_role: bool,
    /// A user message where the profile wants one.
    pub(crate) user_message: bool,
    /// No system message after other messages.
    pub(crate) system_place: bool,
    /// No second system message at the start.
    pub(crate) repeated_system: bool,
    /// Which results may come after messages that follow their pair.
    pub(crate) later_results: LaterResults,
    /// Whether a call that the model does not wait for may be without a result, or have a later one (CA-31a). Never
    /// in a tree, whose pairs are cut and moved as a whole.
    pub(crate) async_calls: bool,
    /// No result before the first call.
    pub(crate) leading_results: bool,
    /// Whether a call of the summarization tool must be the only call.
    pub(crate) lone_summary: bool,
    /// Whether a missing signature of a call is certainly refused, and therefore repaired. Otherwise it is
    /// only reported, because some models of the provider require none.
    pub(crate) call_signatures: bool,
    /// Whether the model thinks. Without thinking, it returns none.
    pub(crate) thinking: RequestThinking,
    /// No message without content; in a request of another format an empty text replaces it.
    pub(crate) null_content: bool,
    /// Whether a system message in a wrong place becomes a user message there.
    pub(crate) later_system_as_user: bool,
}

impl Enforced {
    pub(crate) const STRICT: Enforced = Enforced {
        consecutive_user: true,
        first_role: true,
        user_message: true,
        system_place: true,
        repeated_system: true,
        later_results: LaterResults::Reject,
        async_calls: false,
        leading_results: true,
        lone_summary: true,
        call_signatures: true,
        thinking: RequestThinking::Unknown,
        null_content: false,
        later_system_as_user: false,
    };

    /// The rules of a provider. The summarization tool belongs to this crate and is unknown to
    /// providers.
    pub(crate) fn by(profile: &Profile) -> Self {
        let rejects = |it: Acceptance| it == Acceptance::Reject;
        Enforced {
            consecutive_user: rejects(profile.consecutive_user),
            first_role: rejects(profile.first_role),
            system_place: rejects(profile.system_place),
            repeated_system: rejects(profile.repeated_system),
            later_results: profile.interleaved_calls,
            async_calls: profile.interleaved_calls == LaterResults::Accept,
            lone_summary: false,
            later_system_as_user: profile.later_system_as_user,
            ..Enforced::STRICT
        }
    }
}

// The messages that are analyzed: a list of them, or of references into a tree.

/// A borrowed list of messages.
#[derive(Clone, Copy)]
pub(crate) enum Chain<'m> {
    Messages(&'m [Message]),
    References(&'m [&'m Message]),
}

impl<'m> Chain<'m> {
    pub(crate) fn len(self) -> usize {
        match self {
            Chain::Messages(it) => it.len(),
            Chain::References(it) => it.len(),
        }
    }

    /// All messages, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'m Message> + Clone {
        (0..self.len()).map(move |at| self.message(at as u32))
    }

    /// The message at an index that the analysis has met.
    #[inline]
    pub(crate) fn message(self, at: u32) -> &'m Message {
        match self {
            Chain::Messages(it) => &it[at as usize],
            Chain::References(it) => it[at as usize],
        }
    }

    /// A part; `None` for the index that means "no part".
    #[inline]
    pub(crate) fn part(self, message: u32, part: u32) -> Option<&'m Part> {
        self.message(message).parts.get(part as usize)
    }

    #[inline]
    pub(crate) fn call(self, message: u32, part: u32) -> Option<&'m ToolCall> {
        self.part(message, part)?.as_tool_call()
    }

    #[inline]
    pub(crate) fn result(self, message: u32, part: u32) -> Option<&'m ToolResult> {
        self.part(message, part)?.as_tool_result()
    }
}

//! What an analysis judges by: the options of a repair, and which rules of the strict chain are enforced; and the
//! messages it looks at, as a list or as references into a tree.
//!
//! A tree is always a strict chain; a list is judged by what its provider refuses (CA-70a). Rules of a provider beyond
//! those of the chain are in `conform`.

use std::sync::LazyLock;

use msg_core::{Diagnostic, Message, Part, ToolCall, ToolResult};

use crate::{
    constants::TOOL_CALL_ID_PATTERN,
    ids::IdPattern,
    options::{BadArguments, CheckOptions, RepairOptions, Thinking},
    profile::{Acceptance, LaterResults, Profile},
};

/// What is found of argument texts, which an option of their own mends.
const ARGUMENTS: [&str; 2] = ["chain::invalid-arguments", "chain::empty-arguments"];

/// What an analysis judges by.
#[derive(Clone, Copy)]
pub(crate) struct Rules<'a> {
    pub(crate) options: &'a RepairOptions,
    pub(crate) check: CheckOptions,
    pub(crate) profile: Option<&'a Profile>,
    /// Whether findings that are not errors are wanted.
    pub(crate) warnings: bool,
    pub(crate) enforced: Enforced,
    /// Whether a tree is made of the messages.
    pub(crate) is_tree: bool,
}

impl<'a> Rules<'a> {
    /// The strict chain, of which a tree is made (CA-10).
    pub(crate) fn strict(options: &'a RepairOptions) -> Self {
        let RepairOptions { check, profile, .. } = options;
        let (check, profile) = (*check, profile.as_deref());
        Rules { options, check, profile, warnings: true, enforced: Enforced::STRICT, is_tree: true }
    }

    /// What the profile of the options refuses; without one the strict chain.
    pub(crate) fn of_list(options: &'a RepairOptions) -> Self {
        Rules { options, ..Rules::of_check(options.check, options.profile.as_deref()) }
    }

    /// What the profile refuses; without one the strict chain.
    pub(crate) fn of_check(check: CheckOptions, profile: Option<&'a Profile>) -> Self {
        let mut enforced = profile.map_or(Enforced::STRICT, Enforced::by);
        if profile.is_none() && check.several_systems {
            enforced.repeated_system = false;
        }
        if profile.is_none() && check.several_users {
            enforced.consecutive_user = false;
        }
        if check.continued {
            enforced.first_role = false;
            enforced.leading_results =
                profile.is_some_and(|it| it.leading_results == Acceptance::Reject);
        }
        let doubts_signatures = profile.is_some_and(|it| it.doubts("reasoning_require"));
        enforced.call_signatures = !(check.own_format && doubts_signatures);
        enforced.thinking = check.thinking;
        enforced.null_content =
            check.own_format && profile.is_some_and(|it| it.null_content == Acceptance::Reject);
        let options = RepairOptions::standard();
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

    /// Whether a repair mends what is found: errors, and warnings if all is asked for, or the arguments are.
    pub(crate) fn mends(self, found: &Diagnostic) -> bool {
        let code = found.code.as_str();
        found.is_error()
            || self.options.all
            || self.is_strict() && code.starts_with("chain::")
            || self.sanitizes() && ARGUMENTS.contains(&code)
            || code == "arguments::mended"
    }

    /// Whether calls get the kind and the arguments that they lack, of which an analysis only warns.
    pub(crate) fn completes_calls(self) -> bool {
        self.is_strict() || self.options.all
    }

    /// Whether the strict chain is wanted, in a tree or where no provider is asked.
    fn is_strict(self) -> bool {
        self.is_tree || self.profile.is_none()
    }

    /// What a profile's steps are given of these rules.
    pub(crate) fn scope(self) -> Scope {
        Scope { enforced: self.enforced, all: self.options.all }
    }

    /// Whether argument texts that are not JSON are replaced.
    pub(crate) fn sanitizes(self) -> bool {
        self.options.arguments == BadArguments::Sanitize
    }

    /// The same rules, of which only errors are reported.
    pub(crate) fn errors_only(self) -> Self {
        Rules { warnings: false, ..self }
    }
}

/// What the steps of a profile hold to, and how much they mend.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Scope {
    pub(crate) enforced: Enforced,
    /// Whether warnings are mended, too.
    pub(crate) all: bool,
}

/// Which rules of the strict chain are enforced; a defect by another one is reported as information.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Enforced {
    /// No user message directly after another.
    pub(crate) consecutive_user: bool,
    /// No assistant message first.
    pub(crate) first_role: bool,
    /// No system message after other messages.
    pub(crate) system_place: bool,
    /// No second system message at the start.
    pub(crate) repeated_system: bool,
    /// Which results may come after messages that follow their pair.
    pub(crate) later_results: LaterResults,
    /// No result before the first call.
    pub(crate) leading_results: bool,
    /// No second call beside a call of the summarization tool.
    pub(crate) lone_summary: bool,
    /// Whether a call without a signature that is required is refused for sure, and is mended; else it is only
    /// reported, as some models of the provider require none.
    pub(crate) call_signatures: bool,
    /// Whether the model thinks: one that does not gives no reasoning to send back.
    pub(crate) thinking: Thinking,
    /// No message without content; in a request of another format an empty text replaces it.
    pub(crate) null_content: bool,
    /// Whether a system message that may not stay becomes a user message in its place.
    pub(crate) later_system_as_user: bool,
}

impl Enforced {
    pub(crate) const STRICT: Enforced = Enforced {
        consecutive_user: true,
        first_role: true,
        system_place: true,
        repeated_system: true,
        later_results: LaterResults::Reject,
        leading_results: true,
        lone_summary: true,
        call_signatures: true,
        thinking: Thinking::Unknown,
        null_content: false,
        later_system_as_user: false,
    };

    /// What a provider enforces. The summarization tool is a thing of this crate, which none knows.
    pub(crate) fn by(profile: &Profile) -> Self {
        let rejects = |it: Acceptance| it == Acceptance::Reject;
        Enforced {
            consecutive_user: rejects(profile.consecutive_user),
            first_role: rejects(profile.first_role),
            system_place: rejects(profile.system_place),
            repeated_system: rejects(profile.repeated_system),
            later_results: profile.interleaved_calls,
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

    /// A part; none for the index that means "no part".
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

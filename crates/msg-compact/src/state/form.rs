//! The forms of a summary (CP-24): a text, or a call with its result, and what a provider's profile
//! makes of the choice.

use msg_chainast::{Acceptance, BodyPairKind, IdPattern, Profile, ReasoningRequired, constants};
use msg_core::{CountingIds, Message, Part, Reasoning, Role, Severity, ToolCall, ToolResult};

use serde::{Deserialize, Serialize};

use super::{ChainState, Change, PairState};

/// Which form a summary has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// A completion: prefix and answer.
    Text,
    /// The summarization pair: a call, and the answer as its result.
    Call,
    /// Text if all replaced pairs are completions, else call.
    #[default]
    Auto,
}

/// What a profile says about the form of summaries.
#[derive(Debug, Clone)]
pub(crate) struct FormRules {
    /// Two assistant messages in a row are refused.
    pub(crate) alternate: bool,
    /// No user message directly after tool results.
    pub(crate) assistant_after_tool: bool,
    /// Messages with calls must carry reasoning.
    pub(crate) require_reasoning: bool,
    pub(crate) reasoning_fallback: String,
    /// Calls of the current turn must bear a signature.
    pub(crate) require_signature: bool,
    /// A text without content is refused beside other content.
    pub(crate) rejects_empty_text: bool,
    /// A tool result without content is refused.
    pub(crate) rejects_empty_result: bool,
    /// White space is no content.
    pub(crate) blank: bool,
    pub(crate) id_pattern: IdPattern,
}

/// How a summary is written, once it is known what it replaces and where it stands.
#[derive(Debug, Clone)]
pub(crate) struct Shape {
    pub(crate) call: bool,
    pub(crate) signed: bool,
    /// Reasoning parts put in front of the call.
    pub(crate) reasoning: Vec<Reasoning>,
    pub(crate) prefix: Box<str>,
}

impl Default for FormRules {
    /// Without a profile: everything goes.
    fn default() -> Self {
        Self {
            alternate: false,
            assistant_after_tool: false,
            require_reasoning: false,
            reasoning_fallback: String::new(),
            require_signature: false,
            rejects_empty_text: false,
            rejects_empty_result: false,
            blank: false,
            id_pattern: default_pattern(),
        }
    }
}

impl FormRules {
    /// What a provider's profile says.
    pub(crate) fn of(profile: &Profile) -> Self {
        Self {
            alternate: profile.alternate,
            assistant_after_tool: profile.assistant_after_tool,
            require_reasoning: profile.reasoning_require == ReasoningRequired::Calls,
            reasoning_fallback: profile.reasoning_fallback.clone(),
            require_signature: profile.reasoning_require == ReasoningRequired::CallSignature,
            rejects_empty_text: profile.empty_text == Acceptance::Reject,
            rejects_empty_result: profile.empty_result == Acceptance::Reject,
            blank: profile.blank,
            id_pattern: id_pattern(profile),
        }
    }

    /// Whether a tool result may say this (CP-2).
    pub(crate) fn accepts_output(&self, text: &str) -> bool {
        let said = if self.blank { text.trim() } else { text };
        !self.rejects_empty_result || !said.is_empty()
    }

    /// Takes the empty texts out of a message that got other content, where they are refused beside it
    /// (CP-2). A message that says nothing stays.
    pub(crate) fn drop_empty_texts(&self, message: &mut Message) {
        let is_empty = |it: &Part| match it {
            Part::Text(it) if self.blank => it.text.trim().is_empty(),
            Part::Text(it) => it.text.is_empty(),
            _ => false,
        };
        if self.rejects_empty_text && !message.parts.iter().all(is_empty) {
            message.parts.retain(|it| !is_empty(it));
        }
    }
}

/// The pattern of fresh ids: the usual one, or the profile's own where the provider refuses that.
fn id_pattern(profile: &Profile) -> IdPattern {
    let usual: IdPattern = default_pattern();
    let sample = usual.generate(constants::SUMMARIZATION_TOOL_NAME, 0, &mut CountingIds::default());
    let fits = profile.id_class.accepts(&sample)
        && sample.len() >= profile.id_min
        && (profile.id_max == 0 || sample.len() <= profile.id_max);
    let refused = !fits || profile.id_shape;
    if refused && profile.id_severity == Severity::Error {
        profile.id_pattern.clone()
    } else {
        usual
    }
}

/// The pattern of fresh ids without a profile (CA-61).
fn default_pattern() -> IdPattern {
    constants::TOOL_CALL_ID_PATTERN.parse().expect("the default pattern is well formed")
}

impl ChainState<'_> {
    /// The shape of a summary of these pairs. `current`: in the current turn; `followed`: another
    /// pair of the section stands behind it.
    pub(crate) fn shape<'p>(
        &self,
        form: Form,
        prefix: &str,
        replaced: impl Iterator<Item = &'p PairState> + Clone,
        current: bool,
        followed: bool,
    ) -> Shape {
        let all_completions =
            || replaced.clone().all(|it| self.kind(it) == BodyPairKind::Completion);
        let mut call = match form {
            Form::Text => false,
            Form::Call => true,
            Form::Auto => !all_completions(),
        };
        if !call && self.forms.rules.alternate && followed {
            call = true;
        }
        if call && self.forms.rules.assistant_after_tool && !followed {
            call = false;
        }
        let signed = call && current && replaced.clone().any(|it| self.has_call_signature(it));
        let reasoning = if call { self.reasoning_for(replaced, current) } else { Vec::new() };
        Shape { call, signed, reasoning, prefix: prefix.into() }
    }

    /// The first section of the turn whose calls the profile wants signed: a user message without text,
    /// such as an image alone, begins none (CA-58). Behind all sections where the profile wants none.
    pub(crate) fn signed_turn(&self) -> usize {
        if !self.forms.rules.require_signature {
            return usize::MAX;
        }
        let has_text = |it: &Part| matches!(it, Part::Text(it) if !it.text.is_empty());
        let begins = |it: u32| self.message(self.item(it)).parts.iter().any(has_text);
        self.sections.iter().rposition(|it| it.user.is_some_and(begins)).unwrap_or(0)
    }

    fn has_call_signature(&self, pair: &PairState) -> bool {
        self.reasoning_message(pair).is_some_and(|it| {
            it.tool_calls().any(|it| it.signature.as_deref().is_some_and(|it| !it.is_empty()))
        })
    }

    /// The assistant message of a pair if it has reasoning or call signatures.
    fn reasoning_message(&self, pair: &PairState) -> Option<&Message> {
        let assistant = self.assistant(pair);
        let is_gone = matches!(self.change(assistant), Some(Change::NoReasoning));
        (!is_gone && self.facts(assistant).has_reasoning()).then(|| self.unreduced(assistant))
    }

    /// Whether a pair has reasoning that a summary of it may carry.
    pub(crate) fn has_reasoning(&self, pair: &PairState) -> bool {
        self.reasoning_message(pair).is_some_and(|it| it.reasoning().any(|it| !is_empty(it)))
    }

    fn reasoning_for<'p>(
        &self,
        mut replaced: impl Iterator<Item = &'p PairState>,
        current: bool,
    ) -> Vec<Reasoning> {
        if !current && !self.forms.rules.require_reasoning {
            return Vec::new();
        }
        let first = replaced.find_map(|it| {
            self.reasoning_message(it).map(reasoning_of).filter(|it| !it.is_empty())
        });
        match first {
            Some(found) => found,
            None if self.forms.rules.require_reasoning => {
                vec![Reasoning::new(self.forms.rules.reasoning_fallback.clone())]
            }
            None => Vec::new(),
        }
    }

    /// The messages of a summary with this text and, in call form, this id.
    pub(crate) fn summary(&self, shape: &Shape, text: &str, id: &str) -> Vec<Message> {
        if !shape.call {
            let text = format!("{}{text}", shape.prefix);
            return vec![Message::new(Role::Assistant).with_text(text)];
        }
        let signature = shape.signed.then(|| constants::FAKE_SIGNATURE_GEMINI.to_owned());
        let call = ToolCall {
            signature,
            ..ToolCall::new(
                id,
                constants::SUMMARIZATION_TOOL_NAME,
                constants::SUMMARIZATION_TOOL_ARGS,
            )
        };
        let result = ToolResult {
            name: Some(constants::SUMMARIZATION_TOOL_NAME.to_owned()),
            ..ToolResult::new(id, text)
        };
        let mut assistant = Message::new(Role::Assistant);
        assistant.parts = shape.reasoning.iter().cloned().map(Part::Reasoning).collect();
        assistant.parts.push(Part::ToolCall(call));
        vec![assistant, Message::new(Role::Tool).with_part(Part::ToolResult(result))]
    }
}

/// The reasoning parts of a message that are not empty.
fn reasoning_of(message: &Message) -> Vec<Reasoning> {
    message.reasoning().filter(|it| !is_empty(it)).cloned().collect()
}

fn is_empty(reasoning: &Reasoning) -> bool {
    !reasoning.is_signed() && reasoning.display_text().is_empty()
}

//! The forms of a summary (CP-24): a text, or a call with its result, and what a provider's profile
//! makes of the choice.

use msg_chainast::{Acceptance, IdPattern, Profile, ReasoningRequired, constants};
use msg_core::{CountingIds, Message, Part, Reasoning, Role, Severity, ToolCall, ToolResult};

use serde::{Deserialize, Serialize};

use super::{ChainState, Change, PairState, Replaced, SummaryKind};
use crate::token_index::Cost;

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
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) call: bool,
    signed: bool,
    reasoning: Carried,
    prefix: Box<str>,
}

/// What reasoning stands in front of a summary's call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carried {
    None,
    /// That of this item.
    Item(u32),
    /// The profile's, where calls need some and nothing has any.
    Fallback,
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
    /// The shape of a summary of these pairs, the last of which stands in section `last`. `current`: in the
    /// current turn; `followed`: another pair of the section stands behind it.
    pub(crate) fn shape(
        &self,
        kind: SummaryKind<'_>,
        replaced: &Replaced,
        last: usize,
        current: bool,
        followed: bool,
    ) -> Shape {
        let rules = &self.forms.rules;
        let wanted = match kind.form {
            Form::Text => false,
            Form::Call => true,
            Form::Auto => replaced.has_calls,
        };
        let wanted = wanted || rules.alternate && followed;
        let call = wanted && (followed || !rules.assistant_after_tool);
        let signed = call && (current && replaced.is_signed || self.forms.signed_from <= last);
        let reasoning = match replaced.reasoning {
            _ if !call || !current && !rules.require_reasoning => Carried::None,
            Some(item) => Carried::Item(item),
            None if rules.require_reasoning => Carried::Fallback,
            None => Carried::None,
        };
        Shape { call, signed, reasoning, prefix: kind.prefix.into() }
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

    /// The assistant message of a pair if it has reasoning or call signatures.
    pub(crate) fn reasoning_message(&self, pair: &PairState) -> Option<&Message> {
        let assistant = self.assistant(pair);
        let is_gone = matches!(self.change(assistant), Some(Change::NoReasoning));
        (!is_gone && self.facts(assistant).has_reasoning).then(|| self.unreduced(assistant))
    }

    /// What a summary of this shape costs without a text. Shapes are few as a rule, and asked for by every
    /// section of a chain.
    pub(crate) fn summary_cost(&self, shape: &Shape) -> Cost {
        let mut known = self.forms.empty_costs.borrow_mut();
        if let Some(it) = known.iter().find(|it| it.0 == *shape) {
            return it.1;
        }
        let messages = self.summary(shape, "", &self.sample_id());
        let cost = messages.iter().map(|it| self.cost_of(it)).sum();
        if known.len() == KNOWN_SHAPES {
            known.clear();
        }
        known.push((shape.clone(), cost));
        cost
    }

    /// The reasoning parts in front of a summary's call.
    fn carried(&self, reasoning: Carried) -> Vec<Reasoning> {
        match reasoning {
            Carried::None => Vec::new(),
            Carried::Fallback => vec![Reasoning::new(self.forms.rules.reasoning_fallback.clone())],
            Carried::Item(place) => {
                let parts = self.unreduced(self.item(place)).reasoning();
                parts.filter(|it| says_something(it)).cloned().collect()
            }
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
        assistant.parts = self.carried(shape.reasoning).into_iter().map(Part::Reasoning).collect();
        assistant.parts.push(Part::ToolCall(call));
        vec![assistant, Message::new(Role::Tool).with_part(Part::ToolResult(result))]
    }
}

/// As many costs of summaries without a text are kept.
const KNOWN_SHAPES: usize = 4;

/// Whether there is something in reasoning that a summary may carry.
pub(super) fn says_something(reasoning: &Reasoning) -> bool {
    reasoning.is_signed() || !reasoning.display_text().is_empty()
}

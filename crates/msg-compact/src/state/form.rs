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

/// What a profile says about the form of summaries; without one everything goes.
#[derive(Debug, Clone)]
pub(crate) struct FormRules {
    profile: Option<Profile>,
    pub(crate) id_pattern: IdPattern,
}

/// How a summary is written, once it is known what it replaces and where it is.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Shape {
    pub(crate) call: bool,
    signed: bool,
    reasoning: Carried,
    prefix: Box<str>,
}

/// Which reasoning comes before a summary's call.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Carried {
    None,
    /// That of this item.
    Item(u32),
    /// The profile's, where calls need some and nothing has any.
    Fallback,
}

impl FormRules {
    /// What a provider's profile says.
    pub(crate) fn new(profile: Option<&Profile>) -> Self {
        let id_pattern = profile.map_or_else(default_pattern, id_pattern);
        Self { profile: profile.cloned(), id_pattern }
    }

    fn says(&self, rule: impl FnOnce(&Profile) -> bool) -> bool {
        self.profile.as_ref().is_some_and(rule)
    }

    /// Whether calls of the current turn must have a signature.
    pub(crate) fn require_signature(&self) -> bool {
        self.says(|it| it.reasoning_require == ReasoningRequired::CallSignature)
    }

    /// Whether a tool result may say this (CP-2).
    pub(crate) fn accepts_output(&self, text: &str) -> bool {
        !self.says(|it| it.empty_result == Acceptance::Reject && is_empty(it, text))
    }

    /// Takes the empty texts out of a message that got other content, where they are refused beside it
    /// (CP-2). A message that says nothing stays.
    pub(crate) fn drop_empty_texts(&self, message: &mut Message) {
        let Some(profile) = &self.profile else { return };
        let is_empty = |it: &Part| it.as_text().is_some_and(|it| is_empty(profile, it));
        if profile.empty_text == Acceptance::Reject && !message.parts.iter().all(is_empty) {
            message.parts.retain(|it| !is_empty(it));
        }
    }
}

/// Whether a text has no content for a provider: white space may be some.
fn is_empty(profile: &Profile, text: &str) -> bool {
    if profile.blank { text.trim().is_empty() } else { text.is_empty() }
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
    /// The shape of a summary of these pairs, the last of which is in section `last`. `current`: in the
    /// current turn; `followed`: another pair of the section comes after it.
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
        let wanted = wanted || followed && rules.says(|it| it.alternate);
        let call = wanted && (followed || !rules.says(|it| it.assistant_after_tool));
        let signed = call && (current && replaced.is_signed || self.forms.signed_from <= last);
        let required = rules.says(|it| it.reasoning_require == ReasoningRequired::Calls);
        let reasoning = match replaced.reasoning {
            _ if !call || !current && !required => Carried::None,
            Some(item) => Carried::Item(item),
            None if required => Carried::Fallback,
            None => Carried::None,
        };
        Shape { call, signed, reasoning, prefix: kind.prefix.into() }
    }

    /// The first section of the turn whose calls the profile wants signed: a user message without text,
    /// such as an image alone, begins none (CA-58). Behind all sections where the profile wants none.
    pub(crate) fn signed_turn(&self) -> usize {
        if !self.forms.rules.require_signature() {
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
            Carried::Fallback => {
                let profile = self.forms.rules.profile.iter();
                profile.map(|it| Reasoning::new(it.reasoning_fallback.as_str())).collect()
            }
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

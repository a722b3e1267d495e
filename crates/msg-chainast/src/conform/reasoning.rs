//! Steps 7 and 8: reasoning that is not accepted, reasoning that is required, and signed reasoning of another provider
//! (PM-16, PM-52, PM-90).

use msg_core::{Message, Origin, Part, Provenance, Reasoning, Role, Severity};

use super::{Conform, error, is_empty_text, members::has_item_id, mended_if, warning};
use crate::options::RequestThinking;
use crate::profile::{
    Acceptance, Profile, ReasoningBound, ReasoningKept, ReasoningRequired, undated,
};
use crate::repair::Item;
use crate::tree::{has_reasoning, has_tool_calls, remove_twins, twins};

impl Conform<'_, '_> {
    pub(super) fn reasoning_kept(&mut self) {
        let is_judged = |it: &Part| it.as_reasoning().is_some() || is_signed(it);
        let mut parts = self.items.iter().flat_map(|it| &it.message.parts);
        if self.accepts_all_reasoning() || !parts.any(is_judged) {
            return;
        }
        let in_call_turn = self.in_call_turn();
        for (at, in_call_turn) in in_call_turn.into_iter().enumerate() {
            let kept = match self.profile.reasoning_keep {
                ReasoningKept::All => true,
                ReasoningKept::None | ReasoningKept::Parts => false,
                ReasoningKept::CallTurns => {
                    in_call_turn && self.items[at].message.role == Role::Assistant
                }
            };
            let message = &self.items[at].message;
            let fallback = self.is_fallback_place(message);
            let in_content = self.profile.reasoning_keep == ReasoningKept::Parts;
            let stays = |part: &Part| match part {
                Part::Reasoning(it) => {
                    let stored =
                        self.profile.reasoning_stored == Acceptance::Accept && has_item_id(part);
                    fallback && it.text.as_deref() == Some(&self.profile.reasoning_fallback)
                        || in_content && is_content_part(it)
                        || kept && (!self.profile.reasoning_signed || it.is_signed() || stored)
                }
                _ => true,
            };
            let goes: Vec<bool> = message.parts.iter().map(|it| !stays(it)).collect();
            let unsigned = kept && goes.contains(&true);
            let signatures =
                self.drops_signatures() && message.tool_calls().any(|it| it.signature.is_some());
            if !signatures && !goes.contains(&true) {
                continue;
            }
            let sentence = match unsigned {
                true => "reasoning without a sealed payload is not accepted",
                false => "reasoning is not accepted",
            };
            let code = "profile::reasoning-not-accepted";
            let all_go = goes.contains(&true)
                && message.parts.iter().zip(&goes).all(|it| *it.1 || it.0.as_reasoning().is_none());
            let twin = all_go && twins(message).next().is_some();
            let fix = if twin { "removed, with the member that repeats it" } else { "removed" };
            for message in self.sources(at, &goes) {
                let it = match unsigned {
                    true => error(code, sentence, fix),
                    false => warning(code, sentence, fix),
                };
                self.at_input(message, it);
            }
            if !unsigned && !self.all {
                continue;
            }
            self.remove_reasoning(at, |part| goes[part]);
            let item = &mut self.items[at];
            if twin {
                remove_twins(item.message.to_mut());
            }
            if signatures {
                item.message.to_mut().parts.iter_mut().for_each(drop_signature);
            }
        }
    }

    /// The input messages of the removed parts, and those with signed calls.
    pub(super) fn sources(&self, at: usize, goes: &[bool]) -> Vec<usize> {
        let item = &self.items[at];
        let parts = item.message.parts.iter().enumerate();
        let touched = parts.filter(|it| goes[it.0] || self.drops_signatures() && is_signed(it.1));
        let mut sources: Vec<usize> = touched.map(|it| item.place(it.0).0).collect();
        sources.dedup();
        sources
    }

    fn accepts_all_reasoning(&self) -> bool {
        let profile = self.profile;
        profile.reasoning_keep == ReasoningKept::All
            && !profile.reasoning_signed
            && !self.drops_signatures()
    }

    /// Whether signatures are removed. Required signatures are always accepted.
    fn drops_signatures(&self) -> bool {
        self.profile.drops_call_signatures
            && self.profile.reasoning_require != ReasoningRequired::CallSignature
    }

    /// Whether the placeholder for missing reasoning may be in this message.
    fn is_fallback_place(&self, message: &Message) -> bool {
        match self.profile.reasoning_require {
            ReasoningRequired::Calls => has_tool_calls(message),
            ReasoningRequired::Messages => message.role == Role::Assistant,
            _ => false,
        }
    }

    /// Whether each message is in a turn with a tool call.
    fn in_call_turn(&self) -> Vec<bool> {
        let mut calls = false;
        let mut out = vec![false; self.items.len()];
        for (at, item) in self.items.iter().enumerate() {
            calls = if self.will_begin_turn(&item.message) {
                false
            } else {
                calls || has_tool_calls(&item.message)
            };
            out[at] = calls;
        }
        let mut later = false;
        for (at, item) in self.items.iter().enumerate().rev() {
            later |= out[at];
            out[at] = later;
            if self.will_begin_turn(&item.message) {
                later = false;
            }
        }
        out
    }

    pub(super) fn reasoning_required(&mut self) {
        match self.profile.reasoning_require {
            ReasoningRequired::None => {}
            ReasoningRequired::Calls | ReasoningRequired::Messages
                if self.enforced.thinking == RequestThinking::Off => {}
            ReasoningRequired::Calls => {
                for at in 0..self.items.len() {
                    self.require_reasoning(at);
                }
            }
            ReasoningRequired::Messages => {
                for (at, called) in self.in_call_turn().into_iter().enumerate() {
                    let message = &self.items[at].message;
                    if called && message.role == Role::Assistant && !has_reasoning(message) {
                        self.report_missing_reasoning(at);
                    }
                }
            }
            ReasoningRequired::CallSignature => {
                for at in self.current_turn()..self.items.len() {
                    self.require_signature(at);
                }
            }
        }
    }

    fn require_reasoning(&mut self, at: usize) {
        let message = &self.items[at].message;
        if !has_tool_calls(message) || has_reasoning(message) {
            return;
        }
        self.report_missing_reasoning(at);
    }

    fn report_missing_reasoning(&mut self, at: usize) {
        let mended = !self.profile.reasoning_fallback.is_empty();
        let sentence = match self.profile.reasoning_require {
            ReasoningRequired::Messages => {
                "a message of a turn with tool calls must carry its reasoning"
            }
            _ => "a message with tool calls must carry its reasoning",
        };
        // Models that decide themselves whether to think accept missing thinking, unless the request turns thinking on.
        let is_certain = self.enforced.thinking == RequestThinking::On
            || !self.profile.doubts("reasoning_require");
        let mut it = warning("profile::reasoning-missing", sentence, "inserted a placeholder");
        if is_certain {
            it.severity = Severity::Error;
        }
        self.at_message(at, mended_if(mended, it));
        if self.all || is_certain {
            put_fallback(self.profile, &mut self.items[at]);
        }
    }

    fn require_signature(&mut self, at: usize) {
        let Some(part) = self.calls(at).first().copied() else { return };
        if has_signature(&self.items[at].message.parts[part]) {
            return;
        }
        let certain = self.enforced.call_signatures;
        let mended = certain && !self.profile.reasoning_fallback.is_empty();
        let sentence = "the first call of a step in the current turn must carry its signature";
        let fix = "set the placeholder signature";
        let code = "profile::thought-signature-missing";
        let it = match certain {
            true => error(code, sentence, fix),
            false => warning(code, sentence, fix),
        };
        self.at_part(at, part, mended_if(mended, it));
        if mended {
            put_fallback(self.profile, &mut self.items[at]);
        }
    }

    /// The beginning of the current turn (CA-58).
    pub(super) fn current_turn(&self) -> usize {
        self.items.iter().rposition(|it| self.will_begin_turn(&it.message)).unwrap_or(0)
    }

    /// Whether a message will begin a turn once empty messages have a text and empty texts are removed.
    /// Turns are needed before those steps, and must be the same when the chain is judged again.
    fn will_begin_turn(&self, message: &Message) -> bool {
        if message.role != Role::User {
            return false;
        }
        if self.is_filled(message) {
            return true;
        }
        let drops = self.drops_empty_texts(&message.parts);
        message.parts.iter().any(|it| {
            let is_text = matches!(it, Part::Text(it) if !it.text.is_empty());
            is_text && !(drops && is_empty_text(it, self.profile.blank))
        })
    }
}

/// Puts the placeholder for missing reasoning into a message that calls tools.
pub(super) fn put_fallback(profile: &Profile, item: &mut Item<'_>) {
    let fallback = &profile.reasoning_fallback;
    if fallback.is_empty() {
        return;
    }
    match profile.reasoning_require {
        ReasoningRequired::Calls | ReasoningRequired::Messages if !has_reasoning(&item.message) => {
            let thought = Part::Reasoning(Reasoning::new(fallback.as_str()));
            item.prepend(vec![(thought, (item.origin.message, 0))]);
        }
        ReasoningRequired::CallSignature => {
            let mut calls = item.message.to_mut().parts.iter_mut();
            let first = calls.find_map(|it| match it {
                Part::ToolCall(it) => Some(it),
                _ => None,
            });
            if let Some(call) = first
                && call.signature.as_ref().is_none_or(String::is_empty)
            {
                call.signature = Some(fallback.clone());
            }
        }
        _ => {}
    }
}

/// Whether a thought was among the content parts of a chat message. Only there it has a layout of that
/// format; a thought in a member of the message has none.
fn is_content_part(it: &Reasoning) -> bool {
    !it.is_signed() && it.extra.layout(&Origin::OpenAi).is_some()
}

fn has_signature(part: &Part) -> bool {
    matches!(part, Part::ToolCall(it) if it.signature.as_ref().is_some_and(|it| !it.is_empty()))
}

fn is_signed(part: &Part) -> bool {
    part.as_tool_call().is_some_and(|it| it.signature.is_some())
}

pub(super) fn drop_signature(part: &mut Part) {
    if let Part::ToolCall(it) = part {
        it.signature = None;
    }
}

// Signed reasoning of another provider (PM-16, PM-52, PM-90). Signatures are not read: provenance names the maker of a
// message, and a message without provenance is not judged.

impl Conform<'_, '_> {
    /// Removes reasoning and signatures that are bound to another provider, model or account.
    pub(crate) fn foreign_reasoning(&mut self) {
        if self.profile.reasoning_bound == ReasoningBound::None {
            return;
        }
        for at in 0..self.items.len() {
            let message = &self.items[at].message;
            let bound: Vec<bool> = message.parts.iter().map(is_bound).collect();
            let Some(maker) = message.provenance().filter(|_| bound.contains(&true)) else {
                continue;
            };
            let Some(sentence) = other_maker(maker, self.profile) else { continue };
            for message in self.sources(at, &bound) {
                let code = "profile::foreign-reasoning";
                self.at_input(message, error(code, sentence.clone(), "removed"));
            }
            self.items[at].message.to_mut().parts.iter_mut().for_each(drop_signature);
            let parts = &self.items[at].message.parts;
            let goes = |part: usize| bound[part] && parts[part].as_reasoning().is_some();
            let goes: Vec<bool> = (0..parts.len()).map(goes).collect();
            self.remove_reasoning(at, |part| goes[part]);
        }
    }
}

/// Whether a part is sealed reasoning, or a signed call. The call itself stays, without its
/// signature.
fn is_bound(part: &Part) -> bool {
    match part {
        Part::Reasoning(it) => it.is_signed(),
        Part::ToolCall(it) => it.signature.is_some(),
        _ => false,
    }
}

/// The problem of a maker, if it is known to differ from the requested one.
fn other_maker(maker: &Provenance, profile: &Profile) -> Option<String> {
    if let Some(provider) = maker.provider.as_deref().filter(|it| !is_of(it, profile)) {
        return Some(format!("reasoning signed by `{provider}`"));
    }
    let (kind, made, asked) = match profile.reasoning_bound {
        ReasoningBound::Model => ("model", &maker.model, &profile.model),
        ReasoningBound::Account => ("account", &maker.account, &profile.account),
        ReasoningBound::None => return None,
    };
    let is_same = |it: &str| match profile.reasoning_bound {
        ReasoningBound::Model => undated(it) == undated(asked),
        _ => it == asked,
    };
    let made = made.as_deref().filter(|it| !asked.is_empty() && !is_same(it))?;
    Some(format!("reasoning signed by the {kind} `{made}`"))
}

/// Whether a provider is the provider of the profile. `openai` is also the provider of
/// `openai-responses`.
fn is_of(provider: &str, profile: &Profile) -> bool {
    let begins = profile.name.strip_prefix(provider).is_some_and(|it| it.starts_with('-'));
    begins || profile.name == provider || profile.aliases.iter().any(|it| it == provider)
}

//! Signed reasoning of another maker (PM-16, PM-52, PM-90). Signatures are not read: who made a message is
//! what its provenance says, and of one that nobody made known nothing is judged.

use msg_core::{Part, Provenance};

use super::{
    reasoning::drop_signature,
    state::{Conform, error},
};
use crate::profile::{Profile, ReasoningBound, undated};

impl Conform<'_, '_> {
    /// Reasoning and signatures that are bound to another provider, model or account are removed.
    pub(super) fn foreign_reasoning(&mut self) {
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

/// Whether a part is reasoning with a seal, or a signed call, whose signature goes without it.
fn is_bound(part: &Part) -> bool {
    match part {
        Part::Reasoning(it) => it.is_signed(),
        Part::ToolCall(it) => it.signature.is_some(),
        _ => false,
    }
}

/// What is wrong with this maker, if it is known to be another than the one that is asked.
fn other_maker(maker: &Provenance, profile: &Profile) -> Option<String> {
    if let Some(provider) = maker.provider.as_deref().filter(|it| !is_of(it, profile)) {
        return Some(format!("signed reasoning of `{provider}`"));
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
    Some(format!("signed reasoning of the {kind} `{made}`"))
}

/// Whether a provider is that of the profile: `openai` is that of `openai-responses` too.
fn is_of(provider: &str, profile: &Profile) -> bool {
    let begins = profile.name.strip_prefix(provider).is_some_and(|it| it.starts_with('-'));
    begins || profile.name == provider || profile.aliases.iter().any(|it| it == provider)
}

//! Checking: everything that is wrong with a list of messages, without a tree and without a copy.

use msg_core::{Diagnostic, Message, SeededIds};

use crate::{
    ChainAst,
    analyze::{Chain, Rules, analyze, diagnostics},
    conform::unmendable,
    options::CheckOptions,
    pairing,
    profile::Profile,
    repair::{add_answers, add_in_order, mend_for},
    skeleton,
};

/// Everything that is wrong with a list of messages, in the order of the input (CA-11); with a profile
/// also what that provider would refuse (CA-71).
///
/// Diagnostics with a `fix` are those that [`ChainAst::repair`] mends.
///
/// ```
/// use msg_chainast::{CheckOptions, Message, check};
///
/// let messages = [Message::assistant("Hello.")];
/// let found = check(&messages, None, &CheckOptions::new());
/// assert_eq!(found[0].code, "chain::unexpected-first-role");
/// assert_eq!(found[0].at.message, Some(0));
/// ```
pub fn check(
    messages: &[Message],
    profile: Option<&Profile>,
    options: &CheckOptions,
) -> Vec<Diagnostic> {
    check_chain(Chain::Messages(messages), profile, options)
}

impl ChainAst {
    /// What a strict parse of the tree's messages would find (CA-45). Linear.
    pub fn validate(&self) -> Vec<Diagnostic> {
        let messages: Vec<&Message> = self.messages().collect();
        check_chain(Chain::References(&messages), None, &CheckOptions::new())
    }

    /// As [`check`], on the tree's messages.
    pub fn check(&self, profile: &Profile, options: &CheckOptions) -> Vec<Diagnostic> {
        let messages: Vec<&Message> = self.messages().collect();
        check_chain(Chain::References(&messages), Some(profile), options)
    }
}

pub(crate) fn check_chain(
    chain: Chain<'_>,
    profile: Option<&Profile>,
    options: &CheckOptions,
) -> Vec<Diagnostic> {
    let rules = Rules::of_check(*options, profile);
    let stand_ins = pairing::stand_ins_of(chain.iter());
    let chain = stand_ins.as_deref().map_or(chain, Chain::Messages);
    let (_, found) = analyze(chain, rules);
    let mut report = diagnostics(found, chain);
    if stand_ins.is_some() {
        pairing::name_items(&mut report);
    }
    if let Some(profile) = profile {
        check_profile(chain, stand_ins.is_some(), profile, rules, &mut report);
        add_in_order(&mut report, unmendable(chain, profile));
        add_answers(&mut report, profile);
    }
    report
}

/// Profile rules judge the mended chain, so a reduced copy of the chain is mended (CA-71).
fn check_profile(
    chain: Chain<'_>,
    stand_ins: bool,
    profile: &Profile,
    rules: Rules<'_>,
    report: &mut Vec<Diagnostic>,
) {
    let significant = [rules.options.placeholder_text(), &profile.reasoning_fallback];
    let reduced: Vec<Message> = (0..chain.len())
        .map(|at| skeleton::of(chain.message(at as u32), &significant, profile))
        .collect();
    let (mut plan, _) = analyze(Chain::Messages(&reduced), rules);
    plan.stand_ins = stand_ins;
    mend_for(reduced, plan, rules, profile, &mut SeededIds::new(0), report);
}

//! Checking: everything that is wrong with a list of messages, without a tree and without a copy.

use std::{borrow::Cow, collections::HashMap};

use msg_core::{Diagnostic, Message, SeededIds};

use crate::{
    ChainAst,
    analyze::{Chain, Plan, Rules},
    conform::unmendable,
    options::CheckOptions,
    pairing,
    profile::Profile,
    repair::{Item, conformed, judged, structured},
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
    let (plan, mut report) = judged(chain, stand_ins.is_some(), rules);
    if profile.is_some() {
        check_profile(chain, plan, rules, &mut report);
    }
    report
}

/// Profile rules judge the mended chain (CA-71): a valid one as it is, a copy of another.
fn check_profile(chain: Chain<'_>, plan: Plan, rules: Rules<'_>, report: &mut Vec<Diagnostic>) {
    let mut ids = SeededIds::new(0);
    let refused = unmendable(chain, rules.profile);
    let (items, replaced) = if plan.mends || plan.stand_ins {
        let messages = chain.iter().cloned().collect();
        structured(messages, plan, rules, &mut ids, report)
    } else {
        let lent = chain.iter().enumerate().map(|(at, it)| Item::of(Cow::Borrowed(it), at));
        (lent.collect(), HashMap::new())
    };
    conformed(items, &replaced, rules, refused, &mut ids, report);
}

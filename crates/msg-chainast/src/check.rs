//! Checking: everything that is wrong with a list of messages, without a tree and without a copy.

use msg_core::{Diagnostic, Message};

use crate::{
    ChainAst,
    options::{CheckOptions, RepairOptions},
    profile::Profile,
    walk::{Chain, Rules, diagnostics, walk},
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

fn check_chain(
    chain: Chain<'_>,
    _profile: Option<&Profile>,
    options: &CheckOptions,
) -> Vec<Diagnostic> {
    let repair = RepairOptions::new().open(options.is_open());
    let (_, found) = walk(chain, Rules { options: &repair, warnings: true });
    diagnostics(found, chain)
}

//! Checking and strict parsing: all problems of a list of messages, or the tree of a chain without errors (CA-10).
//!
//! Repairs nothing. A refused list is returned unchanged.

use std::{borrow::Cow, fmt};

use msg_core::{Diagnostic, Message, SeededIds};

use crate::{
    ChainAst,
    analyze::{Chain, Plan, Rules},
    conform::unmendable,
    options::{ChainCheckOptions, ChainRepairOptions},
    pairing,
    profile::Profile,
    repair::{conformed, judged, structured},
    tree::is_plainly_valid,
};

/// All problems of a list of messages, in the order of the input (CA-11). With a profile, also what
/// that provider would refuse (CA-71).
///
/// [`ChainAst::repair`] repairs the diagnostics that have a `fix`.
///
/// ```
/// use msg_chainast::{ChainCheckOptions, Message, check};
///
/// let messages = [Message::assistant("Hello.")];
/// let found = check(&messages, None, &ChainCheckOptions::new());
/// assert_eq!(found[0].code, "chain::unexpected-first-role");
/// assert_eq!(found[0].at.message, Some(0));
/// ```
pub fn check(
    messages: &[Message],
    profile: Option<&Profile>,
    options: &ChainCheckOptions,
) -> Vec<Diagnostic> {
    check_chain(Chain::Messages(messages), profile, options)
}

impl ChainAst {
    /// The problems that a strict parse of the tree's messages would find (CA-45). Linear.
    pub fn validate(&self) -> Vec<Diagnostic> {
        let messages: Vec<&Message> = self.messages().collect();
        check_chain(Chain::References(&messages), None, &ChainCheckOptions::new())
    }

    /// As [`check`], on the tree's messages.
    pub fn check(&self, profile: &Profile, options: &ChainCheckOptions) -> Vec<Diagnostic> {
        let messages: Vec<&Message> = self.messages().collect();
        check_chain(Chain::References(&messages), Some(profile), options)
    }
}

pub(crate) fn check_chain(
    chain: Chain<'_>,
    profile: Option<&Profile>,
    options: &ChainCheckOptions,
) -> Vec<Diagnostic> {
    let rules = Rules::of_check(*options, profile);
    let stand_ins = pairing::stand_ins_of(chain.iter());
    let chain = stand_ins.as_deref().map_or(chain, Chain::Messages);
    let (plan, mut report) = judged(chain, stand_ins.is_some(), rules);
    if profile.is_some() {
        check_profile(chain, plan, rules, &mut report);
    }
    report.into_iter().map(Diagnostic::into_advice).collect()
}

/// Applies the rules of the profile to the repaired chain (CA-71). A valid chain is used directly,
/// any other is copied.
fn check_profile(chain: Chain<'_>, plan: Plan, rules: Rules<'_>, report: &mut Vec<Diagnostic>) {
    let mut ids = SeededIds::new(0);
    let refused = unmendable(chain, rules.profile);
    let lent = chain.iter().map(Cow::Borrowed).collect();
    let (items, replaced) = structured(lent, plan, rules, &mut ids, report);
    conformed(items, &replaced, rules, refused, &mut ids, report);
}

// Strict parsing (CA-10).

/// Why a list of messages is not a valid chain, with the messages themselves (CA-13).
#[derive(Debug, Clone, PartialEq)]
pub struct ParseError {
    diagnostics: Vec<Diagnostic>,
    messages: Vec<Message>,
}

impl ParseError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, messages: Vec<Message>) -> Self {
        let diagnostics = diagnostics.into_iter().map(Diagnostic::into_advice).collect();
        ParseError { diagnostics, messages }
    }

    /// All problems, warnings included, in the order of the input.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The messages, unchanged, so they can be repaired without a copy.
    pub fn into_messages(self) -> Vec<Message> {
        self.messages
    }
}

impl fmt::Display for ParseError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let errors = || self.diagnostics.iter().filter(|it| it.is_error());
        let Some(first) = errors().next() else { return f.write_str("invalid chain") };
        match first.at.message {
            Some(at) => write!(f, "message {at}: {}", first.message())?,
            None => f.write_str(&first.message())?,
        }
        match errors().count() - 1 {
            0 => Ok(()),
            1 => f.write_str(", and 1 more error"),
            more => write!(f, ", and {more} more errors"),
        }
    }
}

impl std::error::Error for ParseError {}

impl ChainAst {
    /// The tree of a valid chain, in which every call has its result (CA-10). One pass; messages are
    /// moved.
    ///
    /// # Errors
    /// All problems and the messages, if one of the problems is an error.
    ///
    /// ```
    /// use msg_chainast::{ChainAst, Message};
    ///
    /// let error = ChainAst::parse(vec![Message::user("a"), Message::user("b")]).unwrap_err();
    /// assert_eq!(error.diagnostics()[0].code, "chain::consecutive-user");
    /// assert_eq!(error.into_messages().len(), 2);
    /// ```
    #[doc(alias = "NewChainAST")]
    pub fn parse(messages: Vec<Message>) -> Result<Self, ParseError> {
        parse_with(messages, false)
    }

    /// As [`ChainAst::parse`], but the calls of the last pair may be without results if no message
    /// follows: the chain of an agent that has not run its tools yet (CA-12).
    ///
    /// # Errors
    /// As [`ChainAst::parse`].
    pub fn parse_open(messages: Vec<Message>) -> Result<Self, ParseError> {
        parse_with(messages, true)
    }
}

fn parse_with(mut messages: Vec<Message>, open: bool) -> Result<ChainAst, ParseError> {
    let _span = tracing::debug_span!("chain_parse", messages = messages.len()).entered();
    let found = match is_plainly_valid(&messages, open) {
        true => Vec::new(),
        false => refusals(&mut messages, open),
    };
    if !found.is_empty() {
        tracing::debug!(found = found.len());
        return Err(ParseError::new(found, messages));
    }
    Ok(ChainAst::build(messages))
}

/// The errors of messages that are not a valid chain; empty for a valid one. The messages stay unchanged.
fn refusals(messages: &mut [Message], open: bool) -> Vec<Diagnostic> {
    let rules = Rules::strict(ChainRepairOptions::standard());
    let rules = Rules { check: ChainCheckOptions { open, ..rules.check }, ..rules };
    let paired = pairing::put_into(messages);
    let (_, mut found) = judged(Chain::Messages(messages), paired, rules.errors_only());
    if !found.is_empty() {
        // Analyzed again for its warnings, which are not reported for a valid chain.
        (_, found) = judged(Chain::Messages(messages), paired, rules);
    }
    if paired {
        pairing::restore(messages);
    }
    found
}

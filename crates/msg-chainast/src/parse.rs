//! Strict parsing: a tree of a chain without a defect, or everything that is wrong with it (CA-10).
//!
//! Nothing is mended here; a list that is refused is given back unchanged.

use std::fmt;

use msg_core::{Diagnostic, Message};

use crate::{
    ChainAst,
    analyze::{Chain, Rules},
    options::{CheckOptions, RepairOptions},
    pairing,
    repair::judged,
    tree::is_plainly_valid,
};

/// Why a list of messages is no valid chain, with the messages themselves (CA-13).
#[derive(Debug, Clone)]
pub struct ParseError {
    diagnostics: Vec<Diagnostic>,
    messages: Vec<Message>,
}

impl ParseError {
    pub(crate) fn new(diagnostics: Vec<Diagnostic>, messages: Vec<Message>) -> Self {
        ParseError { diagnostics, messages }
    }

    /// Everything that is wrong, warnings included, in the order of the input.
    pub fn diagnostics(&self) -> &[Diagnostic] {
        &self.diagnostics
    }

    /// The messages, unchanged, to be mended without a copy.
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
    /// The tree of a valid chain, in which every call has its result (CA-10). One pass; the messages
    /// are moved.
    ///
    /// # Errors
    /// All defects at once, with the messages, if there is an error among them.
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

    /// As [`ChainAst::parse`], but the calls of the last pair may be without results, if nothing follows
    /// them: the chain of an agent that has not run its tools yet (CA-12).
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

/// What is wrong with messages that are no valid chain; nothing of others. The messages stay as they are.
fn refusals(messages: &mut [Message], open: bool) -> Vec<Diagnostic> {
    let rules = Rules::strict(RepairOptions::standard());
    let rules = Rules { check: CheckOptions { open, ..rules.check }, ..rules };
    let paired = pairing::put_into(messages);
    let (_, mut found) = judged(Chain::Messages(messages), paired, rules.errors_only());
    if !found.is_empty() {
        // Analyzed again for its warnings, which nobody reads of a valid chain.
        (_, found) = judged(Chain::Messages(messages), paired, rules);
    }
    if paired {
        pairing::restore(messages);
    }
    found
}

//! What is a summary already (CP-21). Who made it does not matter.

use msg_chainast::BodyPairKind;

use super::{ChainState, PairState};
use crate::policy::{PREFIX_CONTENT, PREFIX_GOALS, PREFIX_HISTORY, PREFIX_SUMMARIZED};

/// What the completions begin with that are summaries.
pub(crate) const SUMMARY_PREFIXES: [&str; 4] =
    [PREFIX_CONTENT, PREFIX_SUMMARIZED, PREFIX_GOALS, PREFIX_HISTORY];

/// What a window leaves in place of what it dropped (CP-41).
pub(crate) const WINDOW_NOTE: &str =
    "[Earlier conversation was removed to fit the context window.]";

impl ChainState<'_> {
    /// Whether a pair is a summary.
    pub(crate) fn is_summary(&self, pair: &PairState) -> bool {
        pair.made
            || match self.kind(pair) {
                BodyPairKind::Summarization => true,
                BodyPairKind::RequestResponse => false,
                BodyPairKind::Completion => {
                    let first = self.first_text(pair);
                    let mut heads = SUMMARY_PREFIXES.iter().chain([&WINDOW_NOTE]);
                    heads.any(|it| first.starts_with(it))
                }
            }
    }

    /// The first text of a pair's assistant message.
    pub(crate) fn first_text(&self, pair: &PairState) -> &str {
        let assistant = self.unreduced(self.assistant(pair));
        assistant.parts.iter().find_map(|it| it.as_text()).unwrap_or_default()
    }
}

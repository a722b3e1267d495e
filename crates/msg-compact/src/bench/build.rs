//! From a tree to a workbench: costs from the tally, pins, summaries, cut points. Nothing is counted
//! again and no text is copied.

use msg_chainast::{BodyPair, BodyPairKind, ChainAst, CutPoint, Section};
use msg_core::Message;

use super::{Item, PairState, SectionState};
use crate::{pipeline::Pin, tally::Tally};

/// What the completions begin with that are summaries (CP-21).
pub(crate) const SUMMARY_PREFIXES: [&str; 4] = [
    "**summarized content:**\n",
    "[SUMMARIZED] ",
    "[GOAL BATCH]\n",
    "[Conversation History Summary]\n\n",
];

/// What a window leaves in place of what it dropped (CP-41).
pub(crate) const WINDOW_NOTE: &str =
    "[Earlier conversation was removed to fit the context window.]";

/// The sections of a tree as the workbench has them.
pub(crate) fn sections(
    ast: &ChainAst,
    cuts: impl Iterator<Item = CutPoint>,
    tally: &Tally,
    pins: &[Pin],
) -> Vec<SectionState> {
    let n_sections = ast.sections().len();
    let mut reader = Reader { tally, cuts: cuts.peekable(), next: 0 };
    let mut sections = Vec::with_capacity(n_sections);
    for (number, section) in ast.sections().iter().enumerate() {
        let is_last = number + 1 == n_sections;
        let mut state = reader.section(section, pins);
        if !is_last {
            let user_pinned = section.header().user().is_some_and(|it| is_pinned(it, pins));
            state.pinned = user_pinned || state.pairs.iter().any(|it| it.pinned);
        }
        sections.push(state);
    }
    sections
}

struct Reader<'a, C: Iterator<Item = CutPoint>> {
    tally: &'a Tally,
    /// In the order of the chain, as the tree gives them.
    cuts: std::iter::Peekable<C>,
    next: u32,
}

impl<C: Iterator<Item = CutPoint>> Reader<'_, C> {
    fn section(&mut self, section: &Section, pins: &[Pin]) -> SectionState {
        let cut = self.cut_here();
        let system = section.header().system().map(|_| self.item());
        let user = section.header().user().map(|_| self.item());
        let pairs = section.body().iter().map(|it| self.pair(it, pins)).collect();
        SectionState { system, user, pairs, cut, ..SectionState::default() }
    }

    fn pair(&mut self, pair: &BodyPair, pins: &[Pin]) -> PairState {
        let cut = self.cut_here();
        let items = pair.messages().map(|_| self.item()).collect();
        let kind = pair.kind();
        PairState {
            items,
            kind,
            summary: is_summary(kind, pair.assistant()),
            pinned: !pins.is_empty() && pair.messages().any(|it| is_pinned(it, pins)),
            cut,
            calls: u32::try_from(pair.assistant().tool_calls().count()).unwrap_or(u32::MAX),
        }
    }

    /// Whether the tree allows a cut before the next message.
    fn cut_here(&mut self) -> bool {
        let at = self.next as usize;
        while self.cuts.next_if(|it| it.message_index() < at).is_some() {}
        self.cuts.peek().is_some_and(|it| it.message_index() == at)
    }

    fn item(&mut self) -> Item {
        let input = self.next;
        self.next += 1;
        let cost = self.tally.message(input as usize).unwrap_or_default();
        Item { input, cost, made: None }
    }
}

fn is_summary(kind: BodyPairKind, assistant: &Message) -> bool {
    match kind {
        BodyPairKind::Summarization => true,
        BodyPairKind::Completion => {
            let first = assistant.parts.iter().find_map(|it| it.as_text()).unwrap_or_default();
            first.starts_with(WINDOW_NOTE)
                || SUMMARY_PREFIXES.iter().any(|it| first.starts_with(it))
        }
        BodyPairKind::RequestResponse => false,
    }
}

fn is_pinned(message: &Message, pins: &[Pin]) -> bool {
    pins.iter().any(|it| it.holds(message))
}

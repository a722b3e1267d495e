//! What a policy of somebody else's may change (CP-2, CP-3): each call checks that the unit is not
//! locked and the place one where the chain stays valid, and refuses otherwise. What a step has asked
//! about stays as it is until the answers are in: once it has asked, it changes nothing directly.

use std::ops::Range;

use super::{ChainState, Form, Merge, SummaryKind, Target, ToolOutput, window::Kept};
use crate::outcome::EditKind;

impl ChainState<'_> {
    /// Whether the chain may be cut before a pair; for pair 0, before its section.
    pub fn is_cut(&self, section: usize, pair: usize) -> bool {
        match (self.sections.get(section), pair) {
            (Some(it), 0) => section > 0 && it.cut,
            (Some(_), _) => self.pair(section, pair).is_some_and(|it| it.cut),
            (None, _) => false,
        }
    }

    /// Asks for one summary of the pairs of a range that are not pinned. Requests of one step are made
    /// in the order of the chain, apart from each other; the step then gives
    /// [`Progress::Requested`](crate::Progress::Requested).
    ///
    /// Refused (false) where the range is empty or holds the chain's last pair, for a part of an
    /// earlier section that holds its last pair, in a pinned section, and where no answer could be
    /// smaller than what is there.
    pub fn request_pairs(&mut self, section: usize, pairs: Range<usize>, form: Form) -> bool {
        let n_pairs = self.pairs(section);
        let is_last_section = section + 1 == self.sections.len();
        let ends_whole = pairs.end < n_pairs || !is_last_section && pairs.start == 0;
        let fits = pairs.start < pairs.end && pairs.end <= n_pairs && ends_whole;
        if !fits || self.sections[section].pinned || !self.is_behind_asks(section, pairs.start) {
            return false;
        }
        let kind = SummaryKind::content("compact::pairs-summarized", form);
        self.open_pairs(kind, section, pairs, is_last_section)
    }

    /// Asks for one summary that makes one section of those in a range that are not pinned. As
    /// [`ChainState::request_pairs`] else; the last section is never part of it.
    pub fn request_sections(&mut self, sections: Range<usize>, merge: Merge, form: Form) -> bool {
        let fits = sections.start < sections.end && sections.end < self.sections.len();
        if !fits || !self.is_behind_asks(sections.start, 0) {
            return false;
        }
        let kind = SummaryKind::content("compact::sections-merged", form);
        self.open_sections(kind, sections, merge)
    }

    /// Sets the content of a tool result to another text. Refused (false) for a locked pair, where that
    /// would not lower the cost, and once the step has asked for a summary.
    pub fn set_output(&mut self, at: &ToolOutput, text: &str) -> bool {
        if !self.requests.open.is_empty() || self.output(at).is_none() {
            return false;
        }
        let new = self.replacement(text);
        let placeholder = new.text.clone();
        let done = self.set_outputs(at, &[(at.part, &new)], false);
        if done {
            let code = "compact::tool-output-pruned";
            self.note(self.input_of(at), EditKind::Replaced { code, placeholder });
        }
        done
    }

    /// Takes reasoning and call signatures out of a pair's assistant message. Refused (false) in the
    /// last section and the rest of the current turn, where providers check signatures, for a locked pair, where that would not lower the
    /// cost, and once the step has asked for a summary.
    pub fn drop_reasoning(&mut self, section: usize, pair: usize) -> bool {
        let Some(state) = self.pair(section, pair) else { return false };
        let old = *self.assistant(state);
        let is_earlier = section + 1 < self.sections.len() && section < self.forms.signed_from;
        let is_free = is_earlier && !self.locked(section, pair) && self.requests.open.is_empty();
        let new = self.cost_without_reasoning(section, pair).filter(|_| is_free);
        let Some(cost) =
            new.filter(|it| self.measure.unit.of(*it) < self.measure.unit.of(old.cost))
        else {
            return false;
        };
        self.replace_without_reasoning(section, pair, cost);
        self.note(old.input, EditKind::ReasoningDropped);
        true
    }

    /// Drops what stands before a section (pair 0), or before a pair of the last section with all
    /// sections before it; pinned units stay, and so does the first user message with a note, if it
    /// is pinned. Refused (false) where the chain may not be cut, where that would not lower the cost,
    /// and once the step has asked for a summary.
    pub fn drop_before(&mut self, section: usize, pair: usize) -> bool {
        let is_inside = section + 1 == self.sections.len();
        let may_cut = self.is_cut(section, pair) && (pair == 0 || is_inside);
        if !may_cut || !self.requests.open.is_empty() {
            return false;
        }
        let kept = Kept { first_pair: pair, first_section: section };
        if self.cost_of_kept(&kept) >= self.total() {
            return false;
        }
        self.drop_all_but(&kept);
        true
    }

    /// Whether a place stands behind all that was asked about in this step.
    fn is_behind_asks(&self, section: usize, pair: usize) -> bool {
        match self.requests.open.last().map(|it| &it.target) {
            None => true,
            Some(Target::Pairs { section: last, pairs, .. }) => {
                section > *last || section == *last && pair >= pairs.end
            }
            Some(Target::Sections { sections, .. }) => section >= sections.end,
            Some(Target::Users { .. }) => false,
        }
    }
}

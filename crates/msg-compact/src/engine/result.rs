//! What came of a compaction: the outcome, its totals, its edits in the order of the input.

use msg_core::Diagnostic;

use super::compactor::Compactor;
use crate::{
    Unit, codes,
    outcome::{CannotFit, Compaction, Edit, FloorPart, Outcome, Place, Unchanged},
    state,
    totals::Totals,
};

impl Compactor<'_> {
    pub(super) fn outcome(&self) -> Outcome {
        let total = self.chain.total();
        let usable = self.chain.measure.limits.map(|it| it.usable);
        // An empty chain fits: there is nothing to do, whatever the tools cost (CP-1).
        let is_empty = self.before.messages == 0 && self.before.bytes == 0;
        let fits = is_empty || usable.is_none_or(|it| total <= it);
        let changed = self.chain.log.n_changes > 0;
        match (fits, changed) {
            (true, true) => Outcome::Compacted(self.compaction()),
            (true, false) => Outcome::NotNeeded(Unchanged {
                totals: self.before,
                edits: self.edits(),
                requests: self.chain.requests.made,
            }),
            (false, _) => Outcome::CannotFit(self.cannot_fit(usable.unwrap_or_default(), changed)),
        }
    }

    fn cannot_fit(&self, usable: u64, changed: bool) -> CannotFit {
        let floor = self.floor.total();
        CannotFit {
            floor,
            usable,
            why: if floor <= usable { FloorPart::Policies } else { self.floor.largest() },
            best: changed.then(|| Box::new(self.compaction())),
            edits: self.edits(),
            totals: self.before,
            reached: self.chain.total(),
            requests: self.chain.requests.made,
        }
    }

    fn compaction(&self) -> Compaction {
        let chain = &self.chain;
        let place = |it: &state::Item| Place { input: it.input, change: it.change };
        let places: Vec<Place> = chain.items().map(place).collect();
        Compaction {
            edits: self.edits(),
            records: self.records.clone(),
            before: self.before,
            after: Totals {
                messages: places.len(),
                bytes: chain.sum.bytes + chain.measure.base.bytes,
                tokens: chain.sum.tokens + chain.measure.base.tokens,
            },
            first_changed: self.first_changed(),
            requests: chain.requests.made,
            places,
            changes: chain.changes.clone(),
        }
    }

    /// The first place at which output and input differ: what a prompt cache loses.
    fn first_changed(&self) -> usize {
        let chain = &self.chain;
        let same = |(place, item): &(usize, &state::Item)| {
            let stays = item.change.is_none() && item.input as usize == *place;
            let input = chain.input.messages.get(*place);
            stays || input.is_some_and(|it| *chain.message(item) == **it)
        };
        chain.items().enumerate().take_while(same).count()
    }

    /// The edits in the order of the input; those of one message in the order in which they were
    /// made.
    pub(super) fn edits(&self) -> Vec<Edit> {
        let mut edits = self.chain.log.edits.clone();
        if let Some(origins) = self.chain.input.origins {
            edits = edits.into_iter().map(|it| it.at_origins(origins)).collect();
        }
        edits.sort_by_key(Edit::message);
        edits
    }
}

impl CannotFit {
    /// The finding as a diagnostic.
    pub fn diagnostic(&self, unit: Unit) -> Diagnostic {
        let message = self.sentence(&format!(" {}", unit.as_str()));
        Diagnostic::error(codes::of("compact::cannot-fit"), message)
    }

    /// What it says, with a unit behind a number.
    fn sentence(&self, unit: &str) -> String {
        let Self { floor, usable, why, reached, .. } = self;
        match why {
            FloorPart::Policies => format!(
                "the history could be brought to {reached}{unit}, {usable} are allowed; the policies \
                 in use reach no less, although {floor} would be possible"
            ),
            other => format!(
                "the history cannot have less than {floor}{unit}, {usable} are allowed; the largest \
                 part of that is {}",
                other.in_words()
            ),
        }
    }
}

/// The sentence without the unit, which the budget has. The result is an error where a history has to fit.
///
/// ```
/// use msg_chainast::{ChainAst, SeededIds};
/// use msg_compact::{Budget, Outcome, Preset, TokenIndex, compact_with, count, digest};
/// use msg_core::Message;
///
/// let chain = ChainAst::parse(vec![Message::user("a question"), Message::assistant("an answer")])?;
/// let index = TokenIndex::of(&chain, Box::new(count::Script::new()), &[]);
/// let (budget, pipeline) = (Budget::tokens(1), Preset::Window.pipeline());
/// let outcome = compact_with(&chain, &index, Some(&budget), &pipeline, &mut SeededIds::new(1), |it| Ok(digest(it)))?;
/// let Outcome::CannotFit(reason) = outcome else { panic!("nothing fits one token") };
/// assert!(reason.to_string().starts_with("the history cannot have less than "));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
impl std::fmt::Display for CannotFit {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.sentence(""))
    }
}

impl std::error::Error for CannotFit {}

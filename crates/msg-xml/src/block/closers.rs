//! Close tags by what they can end: each ends what begins from some place on, which is for most the open tag that it
//! matches. What the tags mean is the business of the index that fills it.

use crate::ladder::Ladder;

/// Close tags, the last one first, where they begin and end; their rank is the place before which nothing is ended by
/// them.
#[derive(Debug, Default)]
pub(super) struct Closers(Ladder<(usize, usize)>);

impl Closers {
    /// Adds the close tag before those that are there; it ends what begins from `since` on.
    pub(super) fn push(&mut self, tag: (usize, usize), since: usize) {
        let next = self.0.len().checked_sub(1);
        self.0.push(tag, since, next);
    }

    /// The first one that ends what begins at `from`.
    pub(super) fn first(&self, from: usize) -> Option<(usize, usize)> {
        let behind = self.0.partition_point(|(at, _)| at >= from).checked_sub(1);
        self.0.first(behind, from)
    }

    /// The last one in a range, whatever it ends.
    pub(super) fn last(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let it = self.0.get(self.0.partition_point(|(at, _)| at >= to));
        it.filter(|&(at, _)| at >= from)
    }
}

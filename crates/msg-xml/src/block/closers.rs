//! Close tags by what they can end: each ends what begins from some place on, which is for most the open tag that it
//! matches. The first one that ends what begins at a place is found in logarithmic time, however the tags nest.
//! What the tags mean is the business of the index that fills it.

/// A close tag.
#[derive(Clone, Copy, Debug)]
struct Closer {
    at: usize,
    end: usize,
    /// What begins before is not ended by it.
    since: usize,
    /// The next one that ends something earlier.
    up: Option<usize>,
    /// One further up; itself if there is none.
    jump: usize,
    /// So many are above it.
    height: usize,
}

/// Close tags, the last one first.
#[derive(Debug, Default)]
pub(super) struct Closers(Vec<Closer>);

impl Closers {
    /// Adds the close tag before those that are there; it ends what begins from `since` on.
    pub(super) fn push(&mut self, (at, end): (usize, usize), since: usize) {
        let own = self.0.len();
        let next = own.checked_sub(1);
        let up = since.checked_sub(1).and_then(|earlier| self.reach(next, earlier));
        let (jump, height) = up.map_or((own, 0), |up| (self.jump(up), self.0[up].height + 1));
        self.0.push(Closer { at, end, since, up, jump, height });
    }

    /// The first one that ends what begins at `from`.
    pub(super) fn first(&self, from: usize) -> Option<(usize, usize)> {
        let behind = self.0.partition_point(|it| it.at >= from).checked_sub(1);
        self.reach(behind, from).map(|i| (self.0[i].at, self.0[i].end))
    }

    /// The last one in a range, whatever it ends.
    pub(super) fn last(&self, from: usize, to: usize) -> Option<(usize, usize)> {
        let it = self.0.get(self.0.partition_point(|it| it.at >= to))?;
        (it.at >= from).then_some((it.at, it.end))
    }

    /// Where one right below `up` jumps to: two jumps of the same length make one.
    fn jump(&self, up: usize) -> usize {
        let (first, second) = (self.0[up].jump, self.0[self.0[up].jump].jump);
        let height = |i: usize| self.0[i].height;
        if height(up) - height(first) == height(first) - height(second) { second } else { up }
    }

    /// From `next` on, the first one that ends what begins at `from`.
    fn reach(&self, next: Option<usize>, from: usize) -> Option<usize> {
        let mut at = next?;
        while self.0[at].since > from {
            let Closer { up, jump, .. } = self.0[at];
            at = if self.0[jump].since > from && jump != at { jump } else { up? };
        }
        Some(at)
    }
}

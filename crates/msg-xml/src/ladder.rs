//! Members in a row, each with a rank: from any of them on, the first of a low enough rank is found in logarithmic
//! time, however the ranks go up and down. What members and ranks stand for is the business of who fills it.

/// The last member comes first, for each is added before those that are there.
#[derive(Debug)]
pub(crate) struct Ladder<T>(Vec<Rung<T>>);

#[derive(Clone, Copy, Debug)]
struct Rung<T> {
    member: T,
    rank: usize,
    /// The next one of a lower rank.
    up: Option<usize>,
    /// One further up; itself if there is none.
    jump: usize,
    /// So many are above it.
    height: usize,
}

impl<T> Default for Ladder<T> {
    fn default() -> Self {
        Ladder(Vec::new())
    }
}

impl<T: Copy> Ladder<T> {
    /// Adds a member before `next`; the result is its number.
    pub(crate) fn push(&mut self, member: T, rank: usize, next: Option<usize>) -> usize {
        let own = self.0.len();
        let up = rank.checked_sub(1).and_then(|lower| self.find(next, lower));
        let (jump, height) = up.map_or((own, 0), |up| (self.jump(up), self.0[up].height + 1));
        self.0.push(Rung { member, rank, up, jump, height });
        own
    }

    /// From `next` on, the first member of at most this rank.
    pub(crate) fn first(&self, next: Option<usize>, rank: usize) -> Option<T> {
        self.find(next, rank).map(|i| self.0[i].member)
    }

    fn find(&self, next: Option<usize>, rank: usize) -> Option<usize> {
        let mut at = next?;
        while self.0[at].rank > rank {
            let Rung { up, jump, .. } = self.0[at];
            at = if self.0[jump].rank > rank && jump != at { jump } else { up? };
        }
        Some(at)
    }

    /// Where one right below `up` jumps to: two jumps of the same length make one.
    fn jump(&self, up: usize) -> usize {
        let (first, second) = (self.0[up].jump, self.0[self.0[up].jump].jump);
        let height = |i: usize| self.0[i].height;
        if height(up) - height(first) == height(first) - height(second) { second } else { up }
    }
}

#[cfg(test)]
mod tests {
    use super::Ladder;

    #[test]
    fn the_first_of_a_rank_is_the_first_in_the_row() {
        let mut state = 1_u32;
        let mut random = |below: u32| {
            state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            ((state >> 16) % below) as usize
        };
        let ranks: Vec<usize> = (0..300).map(|i| if i % 3 == 0 { i } else { random(40) }).collect();
        let mut ladder = Ladder::default();
        for (i, &rank) in ranks.iter().enumerate() {
            assert_eq!(ladder.push(i, rank, i.checked_sub(1)), i);
        }
        for next in 0..ranks.len() {
            for rank in 0..60 {
                let plain = (0..=next).rev().find(|&i| ranks[i] <= rank);
                assert_eq!(ladder.first(Some(next), rank), plain, "{rank} from {next}");
            }
        }
    }
}

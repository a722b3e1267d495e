//! What lookahead remembers of a text, so that a question from inside of what was read answers itself: the places of
//! a fixed text, and where a chain of steps leads. Each forgets what lies before the window; neither knows any rule.

use std::collections::{HashMap, VecDeque};

use crate::window::Win;

/// The places of a fixed text, which does not overlap itself, in one stretch. The stretch grows, at both ends and
/// without gaps, to what is asked for: no byte is searched twice, in whatever order the questions come.
#[derive(Debug, Default)]
pub(super) struct Places {
    from: usize,
    to: usize,
    found: VecDeque<usize>,
}

impl Places {
    /// The first place at or after `pos`.
    pub(super) fn first(&mut self, w: &Win<'_>, needle: &[u8], pos: usize) -> Option<usize> {
        self.forget(w.base);
        if self.to == 0 {
            (self.from, self.to) = (pos, pos);
        }
        if pos < self.from && w.end() < self.from + needle.len() {
            // A view that ends before the stretch would leave a gap.
            return memchr::memmem::find(w.from(pos), needle).map(|i| pos + i);
        }
        if pos < self.from {
            let before = w.from(pos);
            let before = &before[..before.len().min(self.from - pos + needle.len() - 1)];
            for i in memchr::memmem::rfind_iter(before, needle) {
                self.found.push_front(pos + i);
            }
            self.from = pos;
        }
        loop {
            if let Some(&at) = self.found.get(self.found.partition_point(|&at| at < pos)) {
                return Some(at);
            }
            let Some(i) = memchr::memmem::find(w.from(self.to), needle) else {
                self.to = self.to.max((w.end() + 1).saturating_sub(needle.len()));
                return None;
            };
            self.found.push_back(self.to + i);
            self.to += i + needle.len();
        }
    }

    fn forget(&mut self, base: usize) {
        while self.found.front().is_some_and(|&at| at < base) {
            self.found.pop_front();
        }
        if self.to < base {
            (self.from, self.to) = (0, 0);
        }
    }
}

/// Steps from place to place, always forward.
#[derive(Debug, Default)]
pub(super) struct Steps {
    to: HashMap<usize, usize>,
    /// With so many it is worth while to forget some.
    many: usize,
}

impl Steps {
    /// Adds a step.
    pub(super) fn add(&mut self, w: &Win<'_>, from: usize, to: usize) {
        if self.to.len() >= self.many {
            self.to.retain(|&at, _| at >= w.base);
            self.many = 2 * self.to.len() + 32;
        }
        self.to.insert(from, to);
    }

    /// The step from `at`.
    pub(super) fn step(&self, at: usize) -> Option<usize> {
        self.to.get(&at).copied()
    }

    /// Where all steps from `pos` on lead; next time that is one step, for those on the way too.
    pub(super) fn last(&mut self, pos: usize) -> usize {
        let mut last = pos;
        while let Some(to) = self.step(last) {
            last = to;
        }
        let mut at = pos;
        while at != last {
            let Some(to) = self.to.insert(at, last) else { break };
            at = to;
        }
        last
    }
}

#[cfg(test)]
mod tests {
    use super::{Places, Steps};
    use crate::window::Win;

    #[test]
    fn places_are_found_in_any_order_of_questions() {
        let text = "--> a --> b -->--> c --> d";
        let w = Win { text, base: 0, eof: true };
        let first = |pos: usize| text[pos..].find("-->").map(|i| pos + i);
        for a in 0..text.len() {
            for b in 0..text.len() {
                let mut places = Places::default();
                for pos in [a, b, a.min(b), text.len(), 0] {
                    let view = if pos == b { w.upto(a) } else { w };
                    let expected = first(pos).filter(|at| at + 3 <= view.end() || pos != b);
                    let found = places.first(&view, b"-->", pos);
                    assert!(found == expected || found == first(pos), "{a} {b} {pos}: {found:?}");
                }
            }
        }
    }

    #[test]
    fn steps_lead_to_the_last_place_and_are_forgotten_before_the_window() {
        let mut steps = Steps::default();
        let mut w = Win { text: "", base: 0, eof: false };
        for at in 0..1000 {
            w.base = at;
            steps.add(&w, at, at + 1);
            assert_eq!(steps.last(at), at + 1);
        }
        assert!(steps.to.len() < 100, "{}", steps.to.len());
        w.base = 0;
        for at in (0..1000).rev() {
            steps.add(&w, at, at + 1);
        }
        assert_eq!(steps.last(0), 1000);
        assert_eq!(steps.step(0), Some(1000));
    }
}

//! Where the excerpt leaves text out: from its offsets to those of the clean text.

use std::ops::Range;

/// The holes of an excerpt, in order; 24 bytes each.
#[derive(Debug, Clone, Default)]
pub(super) struct Holes {
    list: Vec<Hole>,
    /// The number that the next one gets.
    next: usize,
}

/// A hole: what stands in the excerpt for a piece of the clean text.
#[derive(Debug, Clone, Copy)]
struct Hole {
    /// By which a mark names it.
    number: usize,
    /// Offset behind it in the clean text.
    clean_end: u64,
    /// Offset behind it in the excerpt, times 256, and how long it is there.
    end_and_len: u64,
}

impl Hole {
    fn end(self) -> u64 {
        self.end_and_len >> 8
    }

    fn start(self) -> u64 {
        self.end() - (self.end_and_len & 255)
    }
}

impl Holes {
    /// How many there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// The number of the next one.
    pub(super) fn next(&self) -> usize {
        self.next
    }

    /// Adds one behind the last: `len` bytes that end at `end` in the excerpt stand for what ends at
    /// `clean_end`.
    pub(super) fn push(&mut self, end: usize, len: u8, clean_end: u64) {
        let end_and_len = (end as u64) << 8 | u64::from(len);
        self.list.push(Hole { number: self.next, clean_end, end_and_len });
        self.next += 1;
    }

    /// Takes back the holes from this one on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// Makes one hole of all that stands in `text` of the excerpt, behind which `clean_end` stands. `holes`
    /// are those inside. Linear in what is behind.
    pub(super) fn join(&mut self, text: Range<usize>, holes: Range<usize>, clean_end: u64) {
        let gone = (text.end - text.start) as u64;
        // Numbers rise; nobody names this one, so that it may have that of one that is gone, or before it.
        let number = self.list[..holes.end].get(holes.start.min(holes.end.saturating_sub(1)));
        let number = number.map_or(0, |it| it.number);
        let hole = Hole { number, clean_end, end_and_len: (text.start as u64) << 8 };
        for it in &mut self.list[holes.end..] {
            it.end_and_len -= gone << 8;
        }
        self.list.splice(holes, [hole]);
    }

    /// The offset in the clean text of one of the excerpt that is not inside a hole. Where nothing
    /// stands for what is left out, it is the offset behind.
    pub(super) fn clean(&self, at: usize) -> u64 {
        let at = at as u64;
        let next = self.list.partition_point(|it| it.end() <= at);
        self.behind(next, at)
    }

    /// As [`Holes::clean`], but before what is left out there.
    pub(super) fn clean_end(&self, at: usize) -> u64 {
        let at = at as u64;
        let next =
            self.list.partition_point(|it| it.end() < at || it.end() == at && it.start() < at);
        self.behind(next, at)
    }

    /// What a hole stands for.
    pub(super) fn clean_span(&self, number: usize) -> Range<u64> {
        let at = self.list.partition_point(|it| it.number < number);
        match self.list.get(at).map(|it| (at, it)) {
            Some((at, it)) => self.behind(at, it.start())..it.clean_end,
            None => 0..0,
        }
    }

    /// The clean offset of one that stands behind the first `count` holes.
    fn behind(&self, count: usize, at: u64) -> u64 {
        match count.checked_sub(1).and_then(|it| self.list.get(it)) {
            Some(it) => it.clean_end + at.saturating_sub(it.end()),
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Holes;

    #[test]
    fn offsets_before_between_and_behind_holes() {
        // clean  {"a":1,"b":"long","c":2}
        // marked {"b":"#","c":2}
        let mut holes = Holes::default();
        holes.push(1, 0, 7);
        holes.push(8, 3, 17);
        assert_eq!(holes.clean(0), 0);
        assert_eq!((holes.clean(1), holes.clean_end(1)), (7, 1));
        assert_eq!(holes.clean(5), 11);
        assert_eq!(holes.clean(8), 17);
        assert_eq!(holes.clean(9), 18);
        assert_eq!(holes.clean_span(1), 11..17);
    }
}

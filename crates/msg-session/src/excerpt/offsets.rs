//! From offsets of the excerpt to those of the clean text, by what the excerpt leaves out.

/// What the excerpt leaves out, in order; 16 bytes each.
#[derive(Debug, Clone, Default)]
pub(super) struct Offsets {
    list: Vec<Omission>,
}

/// A piece of the clean text for which something shorter is in the excerpt, or nothing.
#[derive(Debug, Clone, Copy)]
struct Omission {
    /// Offset after it in the clean text.
    clean_end: u64,
    /// Offset after what represents it in the excerpt, times 256, and how long that is.
    end_and_len: u64,
}

impl Omission {
    fn end(self) -> u64 {
        self.end_and_len >> 8
    }

    fn start(self) -> u64 {
        self.end() - (self.end_and_len & 255)
    }
}

impl Offsets {
    /// How many omissions there are.
    pub(super) fn len(&self) -> usize {
        self.list.len()
    }

    /// Adds an omission after the last: `len` bytes that end at `end` in the excerpt represent what ends at
    /// `clean_end`.
    pub(super) fn push(&mut self, end: usize, len: u8, clean_end: u64) {
        let end_and_len = (end as u64) << 8 | u64::from(len);
        self.list.push(Omission { clean_end, end_and_len });
    }

    /// Takes back the omissions from this one on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.list.truncate(len);
    }

    /// The offset in the clean text of one of the excerpt that is not inside an omission. Where nothing represents
    /// what is left out, it is the offset after it.
    pub(super) fn clean(&self, at: usize) -> u64 {
        let at = at as u64;
        let next = self.list.partition_point(|it| it.end() <= at);
        self.after(next, at)
    }

    /// As [`Offsets::clean`], but before what is left out there.
    pub(super) fn clean_end(&self, at: usize) -> u64 {
        let at = at as u64;
        let next =
            self.list.partition_point(|it| it.end() < at || it.end() == at && it.start() < at);
        self.after(next, at)
    }

    /// The clean offset of one that follows the first `count` omissions.
    fn after(&self, count: usize, at: u64) -> u64 {
        match count.checked_sub(1).and_then(|it| self.list.get(it)) {
            Some(it) => it.clean_end + at.saturating_sub(it.end()),
            None => at,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Offsets;

    #[test]
    fn offsets_before_between_and_after_omissions() {
        // clean    {"a":1,"b":"long","c":2}
        // excerpt  {"b":"#","c":2}
        let mut offsets = Offsets::default();
        offsets.push(1, 0, 7);
        offsets.push(8, 3, 17);
        assert_eq!(offsets.clean(0), 0);
        assert_eq!((offsets.clean(1), offsets.clean_end(1)), (7, 1));
        assert_eq!(offsets.clean(5), 11);
        assert_eq!(offsets.clean(8), 17);
        assert_eq!(offsets.clean(9), 18);
    }
}

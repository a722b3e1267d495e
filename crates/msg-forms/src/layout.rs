//! The layout that a reader leaves for the writer of the same form: the order of members, and one
//! flag (MS-6). Canonical documents leave none.
//!
//! The bytes are private to a form; when their meaning changes, the version of [`msg_core::Layouts`] does.

use msg_core::{Extra, Origin};

/// The place of a member that the form does not know.
const UNKNOWN: u8 = u8::MAX;

/// The order in which the members of an object stood: a known one by its canonical number, an
/// unknown one by its place among the unknown.
#[derive(Debug, Default)]
pub(crate) struct Order {
    seen: Vec<u8>,
    flag: bool,
}

impl Order {
    /// A known member; where it stands twice, the first place counts.
    pub(crate) fn known(&mut self, number: u8) {
        if !self.seen.contains(&number) {
            self.seen.push(number);
        }
    }

    /// A member that goes to `extra` next, if it is not there.
    pub(crate) fn unknown(&mut self, extra: &Extra, origin: &Origin, name: &str) {
        if extra.get(origin, name).is_none() {
            self.seen.push(UNKNOWN);
        }
    }

    /// Something else that the form wants to keep.
    pub(crate) fn flag(&mut self, flag: bool) {
        self.flag = flag;
    }

    /// Leaves the layout, if it is not the canonical one: known members by number, unknown last.
    pub(crate) fn leave(self, origin: Origin, extra: &mut Extra) {
        if !self.flag && self.seen.is_sorted() {
            return;
        }
        let mut bytes = self.seen;
        bytes.push(u8::from(self.flag));
        extra.set_layout(origin, bytes);
    }

    /// What a reader of this form left, or the canonical order of this many known members.
    pub(crate) fn of(extra: &Extra, origin: &Origin, n_known: u8) -> Self {
        match extra.layout(origin).and_then(|it| it.split_last()) {
            Some((flag, seen)) => Self { seen: seen.to_vec(), flag: *flag != 0 },
            None => Self { seen: (0..n_known).collect(), flag: false },
        }
    }

    /// The flag that was left.
    pub(crate) fn is_flagged(&self) -> bool {
        self.flag
    }

    /// Walks the members in the order that was left: `known` writes the known one of a number,
    /// `unknown` the one at a place among the unknown. Members that the layout does not know of
    /// come behind.
    pub(crate) fn walk(&self, n_known: u8, n_unknown: usize, mut step: impl FnMut(Step)) {
        let mut next = 0;
        for number in &self.seen {
            if *number != UNKNOWN {
                step(Step::Known(*number));
            } else if next < n_unknown {
                step(Step::Unknown(next));
                next += 1;
            }
        }
        (0..n_known).filter(|it| !self.seen.contains(it)).for_each(|it| step(Step::Known(it)));
        (next..n_unknown).for_each(|it| step(Step::Unknown(it)));
    }
}

/// One member to be written.
pub(crate) enum Step {
    /// The known one of this number.
    Known(u8),
    /// The unknown one at this place.
    Unknown(usize),
}

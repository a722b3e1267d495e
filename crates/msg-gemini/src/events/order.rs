//! The parts of one choice in the order in which they began: what is after a call waits for it, as calls
//! go out whole.
//!
//! ```text
//! text "a"      -> out
//! call 0 begins    [call 0]
//! text "b"         [call 0, text "b"]
//! call 0 ends   -> call 0, text "b"
//! ```

use std::collections::{BTreeMap, VecDeque};

use msg_core::Part;

/// What waits, in order.
#[derive(Debug, Default)]
pub(super) struct Order {
    /// None for a call that has not ended.
    waiting: VecDeque<Option<Part>>,
    /// How many have gone.
    gone: u64,
    /// The places of the calls that have begun, counted from the first that ever waited.
    calls: BTreeMap<u32, u64>,
}

impl Order {
    /// A call begins.
    pub(super) fn begin(&mut self, index: u32) {
        self.calls.entry(index).or_insert_with(|| {
            self.waiting.push_back(None);
            self.gone + self.waiting.len() as u64 - 1
        });
    }

    /// A call is whole, in its place if it had begun.
    pub(super) fn end(&mut self, index: u32, part: Part) {
        let place = self.calls.remove(&index).and_then(|it| it.checked_sub(self.gone));
        let place = place.and_then(|it| usize::try_from(it).ok());
        match place.and_then(|it| self.waiting.get_mut(it)) {
            Some(place) => *place = Some(part),
            None => self.push(part),
        }
    }

    /// A call is left out.
    pub(super) fn drop(&mut self, index: u32) {
        let place = self.calls.remove(&index).and_then(|it| it.checked_sub(self.gone));
        if let Some(place) = place.and_then(|it| usize::try_from(it).ok()) {
            self.waiting.remove(place);
            self.calls
                .values_mut()
                .filter(|it| **it > self.gone + place as u64)
                .for_each(|it| *it -= 1);
        }
    }

    /// A part that is whole.
    pub(super) fn push(&mut self, part: Part) {
        self.waiting.push_back(Some(part));
    }

    /// The next part that waits for nothing.
    pub(super) fn next(&mut self) -> Option<Part> {
        let part = self.waiting.front_mut()?.take()?;
        self.waiting.pop_front();
        self.gone += 1;
        Some(part)
    }

    /// All that is left; none for a call that never ended.
    pub(super) fn rest(&mut self) -> VecDeque<Option<Part>> {
        std::mem::take(&mut self.waiting)
    }
}

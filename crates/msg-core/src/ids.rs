//! Where fresh ids come from (MS-25): a source of numbers that the caller gives. Nothing here draws
//! a random number or reads a clock.

use std::collections::{HashMap, HashSet};

use crate::{Message, Part};

/// A source of numbers from which ids are made. The same source gives the same ids.
pub trait IdSource {
    /// The next number; all 64 bits are used.
    fn next_u64(&mut self) -> u64;
}

impl<T: IdSource + ?Sized> IdSource for &mut T {
    fn next_u64(&mut self) -> u64 {
        (**self).next_u64()
    }
}

/// Well-spread numbers from a seed (SplitMix64): seed it with entropy for ids that cannot be guessed,
/// with a constant for ids that repeat.
///
/// ```
/// use msg_core::{IdSource, SeededIds};
///
/// assert_eq!(SeededIds::new(7).next_u64(), SeededIds::new(7).next_u64());
/// assert_ne!(SeededIds::new(7).next_u64(), SeededIds::new(8).next_u64());
/// ```
#[derive(Debug, Clone)]
pub struct SeededIds {
    state: u64,
}

impl SeededIds {
    /// A source with this seed.
    pub fn new(seed: u64) -> Self {
        Self { state: seed }
    }
}

impl IdSource for SeededIds {
    fn next_u64(&mut self) -> u64 {
        self.state = self.state.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.state;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }
}

/// 0, 1, 2 …: for tests and for ids that people read.
#[derive(Debug, Clone, Default)]
pub struct CountingIds {
    next: u64,
}

impl IdSource for CountingIds {
    fn next_u64(&mut self) -> u64 {
        let it = self.next;
        self.next = self.next.wrapping_add(1);
        it
    }
}

/// The ids of calls and results that are in use, and fresh ones beside them (CA-26, CA-52).
///
/// ```
/// use msg_core::{Message, UsedIds};
///
/// let mut used = UsedIds::of(&[Message::tool_result("call_0", "42")]);
/// assert_eq!(used.fresh(9, |n| format!("call_{n}")), ("call_1".to_owned(), true));
/// assert_eq!(used.fresh(1, |_| "call_0".to_owned()), ("call_0_2".to_owned(), false));
/// ```
#[derive(Debug, Clone, Default)]
pub struct UsedIds {
    used: HashSet<String>,
    /// The number that was last appended to an id which was drawn again and again.
    appended: HashMap<String, u64>,
}

impl UsedIds {
    /// Those of these messages. Linear.
    pub fn of<'m>(messages: impl IntoIterator<Item = &'m Message>) -> Self {
        let ids = messages.into_iter().flat_map(|it| &it.parts).filter_map(|it| match it {
            Part::ToolCall(it) => Some(it.id.clone()),
            Part::ToolResult(it) => Some(it.call_id.clone()),
            _ => None,
        });
        Self { used: ids.collect(), appended: HashMap::new() }
    }

    /// Whether this one is in use.
    pub fn contains(&self, id: &str) -> bool {
        self.used.contains(id)
    }

    /// A fresh id, which is in use from now on: the first of so many draws that is not empty and not in use,
    /// else (false) the last one with a number after it.
    pub fn fresh(&mut self, draws: u64, mut draw: impl FnMut(u64) -> String) -> (String, bool) {
        let mut id = String::new();
        for number in 0..draws {
            id = draw(number);
            if !id.is_empty() && self.used.insert(id.clone()) {
                return (id, true);
            }
        }
        (self.with_number(id), false)
    }

    fn with_number(&mut self, base: String) -> String {
        let number = self.appended.entry(base.clone()).or_insert(1);
        loop {
            *number += 1;
            let id = format!("{base}_{number}");
            if self.used.insert(id.clone()) {
                return id;
            }
        }
    }
}

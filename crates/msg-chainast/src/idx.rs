//! An index into a list of one type of thing, so that a call cannot be taken for a result.
//!
//! ```text
//! calls: [ToolCall, ToolCall]   Idx<ToolCall>(1) ── calls[it] ──▶ the second
//! ```
//!
//! It takes four bytes, also where there may be none (`Option<Idx<T>>`), and lists stay below 2³² elements: a
//! message takes more than a byte.

use std::{
    fmt,
    marker::PhantomData,
    num::NonZeroU32,
    ops::{Index, IndexMut},
};

/// The place of a `T` in its list.
pub(crate) struct Idx<T> {
    /// The index and one, so that none takes no room.
    behind: NonZeroU32,
    of: PhantomData<fn() -> T>,
}

impl<T> Idx<T> {
    /// The place at an index.
    #[inline]
    pub(crate) fn at(index: usize) -> Self {
        let behind = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Idx {
            behind: behind.expect("because a list has fewer than 2³² elements"), of: PhantomData
        }
    }

    /// The place behind the last element of a list.
    #[inline]
    pub(crate) fn next_of(list: &[T]) -> Self {
        Self::at(list.len())
    }

    /// The index.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.behind.get() as usize - 1
    }
}

impl<T> Index<Idx<T>> for Vec<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: Idx<T>) -> &T {
        &self[at.index()]
    }
}

impl<T> IndexMut<Idx<T>> for Vec<T> {
    #[inline]
    fn index_mut(&mut self, at: Idx<T>) -> &mut T {
        &mut self[at.index()]
    }
}

// Derived impls would ask the same of `T`.
impl<T> Clone for Idx<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Idx<T> {}

impl<T> PartialEq for Idx<T> {
    fn eq(&self, other: &Self) -> bool {
        self.behind == other.behind
    }
}

impl<T> Eq for Idx<T> {}

impl<T> std::hash::Hash for Idx<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.behind.hash(state);
    }
}

impl<T> fmt::Debug for Idx<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index().fmt(f)
    }
}

//! A typed index into a list, so that a call cannot be taken for a result, and a table from ids to such indices.
//!
//! ```text
//! calls: [ToolCall, ToolCall]   Idx<ToolCall>(1) ── calls[it] ──▶ the second
//! ```
//!
//! An index takes four bytes, as does `Option<Idx<T>>`. Lists stay below 2³² elements, because a message takes more
//! than a byte.

use std::collections::HashMap;
use std::collections::hash_map::RandomState;
use std::fmt;
use std::hash::{BuildHasher, BuildHasherDefault, Hasher};
use std::marker::PhantomData;
use std::num::NonZeroU32;
use std::ops::{Index, IndexMut};

/// The place of a `T` in its list.
pub(crate) struct Idx<T> {
    /// The index plus one, so `Option` takes no additional space.
    after: NonZeroU32,
    of: PhantomData<fn() -> T>,
}

impl<T> Idx<T> {
    /// The place at an index.
    #[inline]
    pub(crate) fn at(index: usize) -> Self {
        let after = u32::try_from(index + 1).ok().and_then(NonZeroU32::new);
        Idx { after: after.expect("because a list has fewer than 2³² elements"), of: PhantomData }
    }

    /// The place after the last element of a list.
    #[inline]
    pub(crate) fn next_of(list: &[T]) -> Self {
        Self::at(list.len())
    }

    /// The index.
    #[inline]
    pub(crate) fn index(self) -> usize {
        self.after.get() as usize - 1
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
        self.after == other.after
    }
}

impl<T> Eq for Idx<T> {}

impl<T> std::hash::Hash for Idx<T> {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.after.hash(state);
    }
}

impl<T> fmt::Debug for Idx<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.index().fmt(f)
    }
}

// A table from the hash of an id to indices. It owns no ids: a lookup compares with the id of the candidate. Nothing is
// removed.

/// A table by hashes of ids. Nothing depends on its order, and its hashes are seeded because ids come from
/// outside.
#[derive(Debug)]
pub(crate) struct ById<T> {
    hashes: RandomState,
    /// The newest thing of each hash. It grows without a look at the ids, which lie all over the memory.
    newest: HashMap<IdHash, Idx<T>, BuildHasherDefault<Taken>>,
    things: Vec<Hashed<T>>,
}

/// A thing, and the next older one of the same hash.
#[derive(Debug)]
struct Hashed<T> {
    thing: T,
    older: Option<Idx<T>>,
}

/// The hash of an id, for one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct IdHash(u64);

impl<T> ById<T> {
    /// Reserves room for this many more items.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.newest.reserve(n);
        self.things.reserve(n);
    }

    pub(crate) fn hash(&self, id: &str) -> IdHash {
        IdHash(self.hashes.hash_one(id))
    }

    /// The thing that has the id of this hash.
    #[inline]
    pub(crate) fn find(&self, hash: IdHash, is_same: impl Fn(&T) -> bool) -> Option<Idx<T>> {
        let mut at = self.newest.get(&hash).copied();
        while let Some(it) = at.filter(|it| !is_same(&self[*it])) {
            at = self.things[it.index()].older;
        }
        at
    }

    /// Adds a thing whose id is of this hash.
    pub(crate) fn add(&mut self, hash: IdHash, thing: T) -> Idx<T> {
        let at = Idx::at(self.things.len());
        let older = self.newest.insert(hash, at);
        self.things.push(Hashed { thing, older });
        at
    }
}

// A derived impl would ask the same of `T`.
impl<T> Default for ById<T> {
    fn default() -> Self {
        ById { hashes: RandomState::default(), newest: HashMap::default(), things: Vec::new() }
    }
}

impl<T> Index<Idx<T>> for ById<T> {
    type Output = T;

    #[inline]
    fn index(&self, at: Idx<T>) -> &T {
        &self.things[at.index()].thing
    }
}

impl<T> IndexMut<Idx<T>> for ById<T> {
    #[inline]
    fn index_mut(&mut self, at: Idx<T>) -> &mut T {
        &mut self.things[at.index()].thing
    }
}

/// Gives back the hash that was taken already.
#[derive(Debug, Default)]
struct Taken(u64);

impl Hasher for Taken {
    fn write(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.0 = self.0.rotate_left(8) ^ u64::from(*byte);
        }
    }

    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

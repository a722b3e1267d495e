//! Things by id, found by the hash of the id, which is taken once for all lookups of it.
//!
//! It owns no id and knows none: who looks something up says which of the things of a hash bears the id. It
//! removes nothing.
//!
//! ```text
//! hash of "call_1" ─▶ thing 7 ─ same hash ─▶ thing 3
//! ```

use std::{
    collections::{HashMap, hash_map::RandomState},
    hash::{BuildHasher, BuildHasherDefault, Hasher},
    ops::{Index, IndexMut},
};

use crate::idx::Idx;

/// Things by the hashes of their ids. Nothing depends on the order of the table, and its hashes are seeded, since
/// ids come from outside.
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
    /// Takes room for so many more things.
    pub(crate) fn reserve(&mut self, n: usize) {
        self.newest.reserve(n);
        self.things.reserve(n);
    }

    pub(crate) fn hash(&self, id: &str) -> IdHash {
        IdHash(self.hashes.hash_one(id))
    }

    /// The thing that bears the id of this hash.
    #[inline]
    pub(crate) fn find(&self, hash: IdHash, bears: impl Fn(&T) -> bool) -> Option<Idx<T>> {
        let mut at = self.newest.get(&hash).copied();
        while let Some(it) = at.filter(|it| !bears(&self[*it])) {
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

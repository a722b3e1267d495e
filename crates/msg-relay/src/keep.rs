//! Where seals are kept that are too long to travel in an id (RE-30).

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::Mutex;

/// A store of what a provider sealed, by the id of the call that it belongs to.
///
/// A gateway of several machines gives one that they share; without it the next request of a conversation has to
/// come to the same machine.
pub trait Keep: fmt::Debug + Send + Sync {
    /// Keeps a value.
    fn put(&self, id: &str, seal: &[u8]);

    /// The value that was kept last under this id, if it is still there.
    fn get(&self, id: &str) -> Option<Vec<u8>>;
}

/// Keeps seals in memory, up to a number of bytes; the one that was used least recently goes first.
///
/// ```
/// use msg_relay::{Keep, MemoryKeep};
///
/// let keep = MemoryKeep::new(16);
/// keep.put("a", b"1234567");
/// keep.put("b", b"1234567");
/// keep.get("a");
/// keep.put("c", b"1");
/// assert!(keep.get("a").is_some() && keep.get("b").is_none());
/// ```
#[derive(Debug)]
pub struct MemoryKeep {
    max_bytes: usize,
    kept: Mutex<Kept>,
}

#[derive(Debug, Default)]
struct Kept {
    /// Each value with the time of its last use.
    values: HashMap<String, (u64, Vec<u8>)>,
    /// The ids by the time of their last use.
    uses: BTreeMap<u64, String>,
    bytes: usize,
    now: u64,
}

impl MemoryKeep {
    /// An empty store of at most so many bytes of ids and values.
    #[must_use]
    pub fn new(max_bytes: usize) -> Self {
        MemoryKeep { max_bytes, kept: Mutex::default() }
    }

    /// A panic of another thread leaves whole values: each change is one step for those who wait.
    fn kept(&self) -> std::sync::MutexGuard<'_, Kept> {
        self.kept.lock().unwrap_or_else(std::sync::PoisonError::into_inner)
    }
}

impl Kept {
    fn remove(&mut self, id: &str) {
        if let Some((used, value)) = self.values.remove(id) {
            self.uses.remove(&used);
            self.bytes -= id.len() + value.len();
        }
    }

    fn insert(&mut self, id: &str, value: Vec<u8>) {
        self.now += 1;
        self.bytes += id.len() + value.len();
        self.uses.insert(self.now, id.to_owned());
        self.values.insert(id.to_owned(), (self.now, value));
    }
}

impl Keep for MemoryKeep {
    fn put(&self, id: &str, seal: &[u8]) {
        let mut kept = self.kept();
        kept.remove(id);
        if id.len() + seal.len() > self.max_bytes {
            return;
        }
        kept.insert(id, seal.to_vec());
        while kept.bytes > self.max_bytes {
            let Some((_, oldest)) = kept.uses.pop_first() else { break };
            kept.remove(&oldest);
        }
    }

    fn get(&self, id: &str) -> Option<Vec<u8>> {
        let mut kept = self.kept();
        let value = kept.values.get(id)?.1.clone();
        kept.remove(id);
        kept.insert(id, value.clone());
        Some(value)
    }
}

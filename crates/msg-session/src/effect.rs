//! How much a mend changes, in lines and bytes.
//!
//! ```text
//! old  {"a":1}\n{"b":2}\n        new  {"a":1}\n        written 0, removed 1, bytes -8
//! ```

use std::collections::HashSet;

use crate::Blob;

/// How much a mend changes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Effect {
    /// Lines that are written, those that only change included.
    pub written: u64,
    /// Lines that are removed, those that only change included.
    pub removed: u64,
    /// How many bytes the session has more.
    pub bytes: i64,
}

impl Effect {
    /// How much of a session that is held is changed, from its old files to its new ones. Linear.
    ///
    /// ```
    /// use msg_session::{Blob, Effect};
    ///
    /// let (old, new) = ([Blob::new("s.jsonl", "{}\n[]\n")], [Blob::new("s.jsonl", "{}\n")]);
    /// assert_eq!(Effect::between(&old, &new), Effect { written: 0, removed: 1, bytes: -3 });
    /// ```
    pub fn between(old: &[Blob], new: &[Blob]) -> Self {
        let (had, has) = (lines(old), lines(new));
        let size = |it: &[Blob]| it.iter().map(|it| it.bytes.len() as i64).sum::<i64>();
        Effect {
            written: without(&has, &had),
            removed: without(&had, &has),
            bytes: size(new) - size(old),
        }
    }
}

fn lines(blobs: &[Blob]) -> Vec<&[u8]> {
    blobs.iter().flat_map(|it| it.bytes.split(|it| *it == b'\n')).collect()
}

/// How many of these lines are none of the others.
fn without(lines: &[&[u8]], others: &[&[u8]]) -> u64 {
    let others: HashSet<_> = others.iter().collect();
    lines.iter().filter(|it| !others.contains(it)).count() as u64
}

//! The paths that a message uses again and again: most calls of a tool have the same parameters, so that a path is
//! built once and shared. Bounded; what it does not hold is built anew.

use crate::event::{ArgPath, PathItem};

/// How many are kept.
const KEPT: usize = 16;
/// Paths with more steps above their last are not kept, so that looking stays cheap.
const STEPS_MAX: usize = 3;

/// The paths that were built last.
#[derive(Debug, Default)]
pub(crate) struct Paths {
    known: Vec<ArgPath>,
    /// The one that makes room next.
    oldest: usize,
}

impl Paths {
    /// The path of the `nth` value (from 0) of `key` below `parent`.
    pub(crate) fn child(&mut self, parent: &ArgPath, key: &str, nth: usize) -> ArgPath {
        let above = parent.items();
        if above.len() > STEPS_MAX {
            return parent.child(key, nth);
        }
        if let Some(known) = self.known.iter().find(|it| is_child(it.items(), above, key, nth)) {
            return known.clone();
        }
        let path = parent.child(key, nth);
        if self.known.len() < KEPT {
            self.known.push(path.clone());
        } else {
            self.known[self.oldest] = path.clone();
            self.oldest = (self.oldest + 1) % KEPT;
        }
        path
    }
}

fn is_child(items: &[PathItem], above: &[PathItem], key: &str, nth: usize) -> bool {
    let Some((PathItem::Key(last), rest)) =
        items.get(above.len()..).and_then(|it| it.split_first())
    else {
        return false;
    };
    let same_nth = match rest {
        [] => nth == 0,
        [PathItem::Index(n)] => *n == nth,
        _ => false,
    };
    same_nth && **last == *key && items[..above.len()] == *above
}

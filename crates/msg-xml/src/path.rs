//! Where in the arguments a value stands, and the paths that a message uses again and again: most calls of a tool have
//! the same parameters, so that a path is built once and shared. Bounded; what is not kept is built anew.
//!
//! ```text
//! <edits><search>a</search></edits><edits><search>b</search></edits>   edits.search, edits[1].search
//! ```

use std::fmt;
use std::sync::Arc;

/// One step of a key path into arguments.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathItem {
    /// A parameter or member.
    Key(Arc<str>),
    /// n ≥ 1 after a key: its (n+1)-th sibling.
    Index(usize),
}

/// Where in the arguments a piece belongs; cheap to clone.
///
/// ```
/// use msg_xml::ArgPath;
/// assert_eq!(ArgPath::from_iter(["edits", "search"]).to_string(), "edits.search");
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Hash, Default)]
pub struct ArgPath(Option<Arc<[PathItem]>>);

impl ArgPath {
    /// The arguments themselves.
    pub fn root() -> Self {
        ArgPath(None)
    }

    /// The steps.
    pub fn items(&self) -> &[PathItem] {
        self.0.as_deref().unwrap_or_default()
    }

    /// Whether this path is `prefix` or lies below it.
    pub fn starts_with(&self, prefix: &ArgPath) -> bool {
        self.items().starts_with(prefix.items())
    }

    /// The keys only.
    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.items().iter().filter_map(|item| match item {
            PathItem::Key(key) => Some(&**key),
            PathItem::Index(_) => None,
        })
    }

    /// The path of the `nth` value (from 0) of `key` below this one.
    pub(crate) fn child(&self, key: &str, nth: usize) -> Self {
        let mut items = self.items().to_vec();
        items.push(PathItem::Key(key.into()));
        if nth > 0 {
            items.push(PathItem::Index(nth));
        }
        ArgPath(Some(items.into()))
    }
}

impl<'a> FromIterator<&'a str> for ArgPath {
    fn from_iter<T: IntoIterator<Item = &'a str>>(keys: T) -> Self {
        let items: Vec<PathItem> = keys.into_iter().map(|k| PathItem::Key(k.into())).collect();
        ArgPath(Some(items.into()))
    }
}

impl fmt::Display for ArgPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, item) in self.items().iter().enumerate() {
            match item {
                PathItem::Key(key) if i == 0 => f.write_str(key)?,
                PathItem::Key(key) => write!(f, ".{key}")?,
                PathItem::Index(n) => write!(f, "[{n}]")?,
            }
        }
        Ok(())
    }
}

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

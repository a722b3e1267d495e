//! Where in the arguments a value stands.
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
        let last = [PathItem::Key(key.into())];
        let index = (nth > 0).then_some(PathItem::Index(nth));
        ArgPath(Some(self.items().iter().cloned().chain(last).chain(index).collect()))
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

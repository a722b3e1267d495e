//! How an append works. Where it writes is the store's business, see [`store::Options`](crate::store::Options).

use crate::to_cells::ToCells;
use serde::Deserialize;

/// How [`append`](crate::append()) and [`write`](crate::write()) work.
///
/// ```
/// use msg_file::{AppendOptions, Force};
/// let options = AppendOptions::default().with_force(Force::Yes);
/// assert_eq!(options.messages.agent, None);
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AppendOptions {
    /// Whether what is refused is done all the same.
    pub force: Force,
    /// How messages become cells.
    pub messages: ToCells,
}

impl AppendOptions {
    /// Whether what is refused is done all the same.
    #[must_use]
    pub fn with_force(mut self, force: Force) -> Self {
        self.force = force;
        self
    }

    /// Messages become cells so.
    #[must_use]
    pub fn with_messages(mut self, messages: ToCells) -> Self {
        self.messages = messages;
        self
    }
}

/// Whether somebody insists on what is refused otherwise: switching a Markdown file on, writing to a newer
/// format, taking an id that is there, writing in place to a file with several names.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(from = "bool")]
pub enum Force {
    /// It is refused.
    #[default]
    No,
    /// It is done.
    Yes,
}

impl From<bool> for Force {
    fn from(it: bool) -> Self {
        if it { Self::Yes } else { Self::No }
    }
}

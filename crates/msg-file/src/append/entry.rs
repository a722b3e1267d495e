//! What may be appended. What a message becomes is decided in `to_cells`.

use crate::render::NewCell;
use msg_core::Message;

/// What may be appended: a cell, or a message that becomes some.
#[derive(Debug, Clone, PartialEq)]
pub enum Entry {
    /// A cell as it is.
    Cell(NewCell),
    /// A message, as [`cells_of`](crate::cells_of) makes cells of it.
    Message(Message),
}

impl From<NewCell> for Entry {
    fn from(it: NewCell) -> Self {
        Self::Cell(it)
    }
}

impl From<Message> for Entry {
    fn from(it: Message) -> Self {
        Self::Message(it)
    }
}

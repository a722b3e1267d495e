//! The messages that are analyzed: a list of them, or of references into a tree.

use msg_core::{Message, Part, ToolCall, ToolResult};

/// A borrowed list of messages.
#[derive(Clone, Copy)]
pub(crate) enum Chain<'m> {
    Messages(&'m [Message]),
    References(&'m [&'m Message]),
}

impl<'m> Chain<'m> {
    pub(crate) fn len(self) -> usize {
        match self {
            Chain::Messages(it) => it.len(),
            Chain::References(it) => it.len(),
        }
    }

    /// All messages, in order.
    pub(crate) fn iter(self) -> impl Iterator<Item = &'m Message> + Clone {
        (0..self.len()).map(move |at| self.message(at as u32))
    }

    /// The message at an index that the analysis has met.
    #[inline]
    pub(crate) fn message(self, at: u32) -> &'m Message {
        match self {
            Chain::Messages(it) => &it[at as usize],
            Chain::References(it) => it[at as usize],
        }
    }

    /// A part; none for the index that stands for no part.
    #[inline]
    pub(crate) fn part(self, message: u32, part: u32) -> Option<&'m Part> {
        self.message(message).parts.get(part as usize)
    }

    #[inline]
    pub(crate) fn call(self, message: u32, part: u32) -> Option<&'m ToolCall> {
        self.part(message, part)?.as_tool_call()
    }

    #[inline]
    pub(crate) fn result(self, message: u32, part: u32) -> Option<&'m ToolResult> {
        self.part(message, part)?.as_tool_result()
    }
}

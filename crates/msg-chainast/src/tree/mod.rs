//! The tree: sections of a header and body pairs, each level with its size (CA-1).
//!
//! Messages are moved in and out and never copied; fields are private, so that sizes and the index by
//! id are always right.
//!
//! ```text
//! system, user        header ┐
//! assistant(call a)   pair 0 │ section 0        ChainAst: sections, and the size of all
//! tool(a)             pair 0 │
//! assistant           pair 1 ┘ a completion
//! user                header of section 1
//! ```

mod build;
mod calls;
mod collect;
mod header;
mod messages;
mod pair;
mod plain;
mod section;
pub(crate) mod sizes;
mod view;

use msg_core::Message;

pub(crate) use calls::Links;
pub use calls::{CallRef, ToolCallsInfo};
pub use header::Header;
pub use messages::Messages;
pub use pair::{BodyPair, BodyPairKind};
pub(crate) use plain::is_plainly_valid;
pub use section::Section;
pub use view::TreeView;

use crate::edit::EditIndex;
use sizes::Sizes;

/// A chain of messages as a tree (CA-1).
///
/// ```
/// use msg_chainast::{ChainAst, Message};
///
/// let chain = ChainAst::parse(vec![
///     Message::system("Be brief."),
///     Message::user("Hello"),
///     Message::assistant("Hi."),
/// ])?;
/// assert_eq!(chain.sections().len(), 1);
/// assert_eq!(chain.size(), 17);
/// assert_eq!(chain.messages().len(), 3);
/// # Ok::<(), msg_chainast::ParseError>(())
/// ```
#[derive(Debug, Clone, Default)]
#[doc(alias = "ChainAST")]
pub struct ChainAst {
    pub(crate) sections: Vec<Section>,
    pub(crate) sizes: Sizes,
    pub(crate) index: EditIndex,
}

impl ChainAst {
    /// A chain without messages.
    pub fn new() -> Self {
        Self::default()
    }

    /// The sections, in order.
    #[doc(alias = "Sections")]
    pub fn sections(&self) -> &[Section] {
        &self.sections
    }

    /// All messages, borrowed, in order (CA-40).
    #[doc(alias = "Messages")]
    pub fn messages(&self) -> Messages<'_> {
        Messages::of_sections(&self.sections, self.sizes.messages)
    }

    /// All messages, moved out, in order (CA-40).
    pub fn into_messages(self) -> Vec<Message> {
        let mut out = Vec::with_capacity(self.sizes.messages);
        self.sections.into_iter().for_each(|it| out.extend(it.into_messages()));
        out
    }

    /// Size in bytes of what the model reads (CA-20). O(1).
    #[doc(alias = "Size")]
    pub fn size(&self) -> usize {
        self.sizes.bytes
    }

    /// Size in bytes of reasoning and signatures (CA-21). O(1).
    pub fn reasoning_size(&self) -> usize {
        self.sizes.reasoning
    }

    /// All calls without a result, in order. Linear in the chain.
    pub fn pending_calls(&self) -> impl Iterator<Item = CallRef<'_>> {
        let pairs = self.sections.iter().flat_map(|it| &it.body);
        pairs.flat_map(|it| it.tool_calls_info().pending)
    }

    /// The tree without the texts, as `msg ast` shows it.
    pub fn view(&self) -> TreeView<'_> {
        TreeView::of(self)
    }
}

/// The index by id takes no part: it follows from the messages.
impl PartialEq for ChainAst {
    fn eq(&self, other: &Self) -> bool {
        self.sections == other.sections
    }
}

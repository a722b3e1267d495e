//! A section: a header and the body pairs up to the next user message (CA-1, CA-3).

use msg_core::{Message, Part};

use super::{Messages, header::Header, pair::BodyPair, sizes::Sizes};

/// One turn of the conversation.
///
/// ```
/// use msg_chainast::{BodyPair, Header, Message, Section};
///
/// let header = Header::new(None, Some(Message::user("Hello")));
/// let mut section = Section::new(header, vec![]);
/// section.add_body_pair(BodyPair::completion("Hi there."));
/// assert_eq!(section.size(), 14);
/// ```
#[derive(Debug, Clone, PartialEq, Default)]
#[doc(alias = "ChainSection")]
pub struct Section {
    pub(crate) header: Header,
    pub(crate) body: Vec<BodyPair>,
    pub(crate) sizes: Sizes,
}

impl Section {
    /// A section of these; nothing is checked (CA-60).
    #[doc(alias = "NewChainSection")]
    pub fn new(header: Header, body: Vec<BodyPair>) -> Self {
        let mut section = Section { header, body, sizes: Sizes::default() };
        section.sum();
        section
    }

    /// What opens the section.
    pub fn header(&self) -> &Header {
        &self.header
    }

    /// The body pairs, in order.
    pub fn body(&self) -> &[BodyPair] {
        &self.body
    }

    /// Size in bytes (CA-20).
    pub fn size(&self) -> usize {
        self.sizes.bytes
    }

    /// The header's messages, then those of each pair.
    pub fn messages(&self) -> Messages<'_> {
        Messages::of_section(self)
    }

    /// Adds a pair at the end; nothing is checked.
    pub fn add_body_pair(&mut self, pair: BodyPair) {
        self.sizes += pair.sizes;
        // Most sections have one pair: room for the four that a vector begins with would be wasted.
        self.body.reserve_exact(usize::from(self.body.is_empty()));
        self.body.push(pair);
    }

    /// Puts another header in the place of this section's, and gives that back.
    pub fn set_header(&mut self, header: Header) -> Header {
        let old = std::mem::replace(&mut self.header, header);
        self.sizes -= old.sizes;
        self.sizes += self.header.sizes;
        old
    }

    /// Puts a user message into a header that has none.
    pub(crate) fn put_user(&mut self, user: Message) {
        let sizes = Sizes::of(&user);
        self.header.user = Some(user);
        self.header.sizes += sizes;
        self.sizes += sizes;
    }

    /// Adds a part to the user message, if there is one.
    pub(crate) fn add_user_part(&mut self, part: Part) {
        let Some(user) = &mut self.header.user else { return };
        let sizes = Sizes::of_part(&part);
        user.parts.push(part);
        self.header.sizes += sizes;
        self.sizes += sizes;
    }

    /// Changes a pair, which keeps its own sizes; those of the section follow.
    pub(crate) fn in_pair<T>(&mut self, at: usize, change: impl FnOnce(&mut BodyPair) -> T) -> T {
        let pair = &mut self.body[at];
        self.sizes -= pair.sizes;
        let res = change(pair);
        self.sizes += pair.sizes;
        res
    }

    pub(crate) fn into_messages(self) -> impl Iterator<Item = Message> {
        let body = self.body.into_iter().flat_map(BodyPair::into_messages);
        self.header.into_messages().chain(body)
    }

    /// Counts the section again from the sizes of its header and pairs.
    pub(crate) fn sum(&mut self) {
        self.sizes = self.header.sizes;
        self.body.iter().for_each(|it| self.sizes += it.sizes);
    }
}
